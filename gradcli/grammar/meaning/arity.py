"""Check that the arguments of a call fit the signature of the callee."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from gradcli.errors import Label, nearest
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault
from gradcli.ir.signature import Signature
from gradcli.record import Record
from gradcli.source import Span

T = TypeVar("T")


class Callee(Record):
    """The signature of a function or method that is called.

    Fields:
        name: Its name.
        positional: Parameters that may be given by position or name.
        required: Parameters without a default.
        keywords: Parameters that are given by name only.
        variadic: True if it takes further positional arguments.
        any_name: True if it takes arguments of any name.
        aliases: Other names of parameters.
        place: The place of its parameters in the program; None for a built-in.
    """

    __slots__ = (
        "name",
        "positional",
        "required",
        "keywords",
        "variadic",
        "any_name",
        "aliases",
        "place",
    )
    name: str
    positional: tuple[str, ...]
    required: tuple[str, ...]
    keywords: tuple[str, ...]
    variadic: bool
    any_name: bool
    aliases: Mapping[str, str]
    place: Span | None

    @property
    def labels(self) -> tuple[Label, ...]:
        """The label that points at its parameters in a message."""
        return () if self.place is None else (Label(self.place, "its parameters"),)


def of_builtin(signature: Signature) -> Callee:
    """The signature of a built-in."""
    positional = signature.positional
    return Callee(
        signature.name,
        positional,
        positional[: signature.required],
        signature.keywords,
        signature.variadic,
        signature.any_name,
        signature.aliases,
        None,
    )


def parted(call: ast.Call, signature: Signature) -> tuple[ast.Call, ast.Expr | None]:
    """A built-in's call without `out=TENSOR`, and that tensor: every operation takes one."""
    out = next((k for k in call.keywords if k.name == "out"), None)
    if out is None or not signature.method or "out" in signature.keywords:
        return call, None
    keywords = tuple(k for k in call.keywords if k is not out)
    return ast.Call(call.span, call.function, call.args, keywords), out.value


def of_function(function: ast.Def) -> Callee:
    """The signature of a function of the program."""
    kinds = {param.kind for param in function.params}
    names = tuple(param.name for param in function.params if not param.kind)
    named = tuple(param.name for param in function.params if param.kind == "named")
    taken = (*names, *named)
    required = tuple(p.name for p in function.params if p.default is None and p.name in taken)
    spans = [param.span for param in function.params]
    place = Span(spans[0].start, spans[-1].end) if spans else None
    return Callee(function.name, names, required, named, "*" in kinds, "**" in kinds, {}, place)


class Bound(Record, Generic[T]):
    """Arguments bound to parameters.

    Fields:
        named: the arguments by parameter, in the order in which they are written.
        extra: positional arguments without a parameter.
        unknown: keyword arguments without a parameter, by their written names.
        twice: keyword arguments whose parameter an earlier keyword names, by their written names.
        both: keyword arguments whose parameter has a positional argument.
        missing: required parameters without an argument.
    """

    __slots__ = ("named", "extra", "unknown", "twice", "both", "missing")
    named: dict[str, T]
    extra: tuple[T, ...]
    unknown: tuple[tuple[str, T], ...]
    twice: tuple[tuple[str, T], ...]
    both: tuple[tuple[str, T], ...]
    missing: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """True if the arguments fit the signature."""
        return not (self.extra or self.unknown or self.twice or self.both or self.missing)


def bind(
    callee: Callee,
    args: Sequence[T],
    keywords: Sequence[tuple[str, T]],
    receiver: Sequence[T] = (),
) -> Bound[T]:
    """Bind positional and keyword arguments to parameters; `receiver` holds a method's object."""
    places = callee.positional
    first = callee.aliases.get("self", places[0] if places else "")
    if receiver:
        places = tuple(name for name in places if name != first)
    by_place = dict(zip((first, *places) if receiver else places, (*receiver, *args), strict=False))
    by_name: dict[str, T] = {}
    unknown, twice = [], []
    for written, value in keywords:
        name = callee.aliases.get(written, written)
        if name in by_name:
            twice.append((written, value))
        elif name not in (*callee.positional, *callee.keywords) and not callee.any_name:
            unknown.append((written, value))
        by_name[name] = value
    named = {**by_place, **by_name}
    return Bound(
        named=named,
        extra=tuple(args[len(places) :]),
        unknown=tuple(unknown),
        twice=tuple(twice),
        both=tuple((name, by_name[name]) for name in by_place if name in by_name),
        missing=tuple(name for name in callee.required if name not in named),
    )


def fits_by_place(call: ast.Call, signature: Signature) -> bool:
    """True if a call gives each argument by its place, and a built-in takes as many."""
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    return signature.required <= len(call.args) <= len(signature.positional)


def arity_faults(call: ast.Call, callee: Callee, *, method: bool = False) -> Iterator[Fault]:
    """Faults of a call's arguments. Of a method's only the keywords are checked: the number of its
    positional arguments may differ from the function's. `*` may hold any number of arguments.
    """
    args: Sequence[ast.Node] = call.args
    bound = bind(
        callee, args, [(keyword.name, keyword) for keyword in call.keywords if keyword.name]
    )
    for written, keyword in bound.twice:
        yield Fault("duplicate-name", f"the argument `{written}` is given twice", *keyword.span)
    for written, keyword in bound.unknown:
        yield _unknown(written, keyword.span.start, callee)
    if method or is_spread(call):
        return
    for name, keyword in bound.both if not callee.variadic else ():
        message = f"`{callee.name}` gets its argument `{name}` by position and by name"
        yield Fault("duplicate-name", message, *keyword.span, labels=callee.labels)
    if bound.extra and not callee.variadic:
        message = f"`{callee.name}` takes {_takes(callee)}, got {len(args)}"
        start, end = bound.extra[0].span.start, args[-1].span.end
        yield Fault("wrong-arity", message, start, end, labels=callee.labels)
    if bound.missing and not bound.unknown:
        named = ", ".join(f"`{name}`" for name in bound.missing)
        noun = "argument" if len(bound.missing) == 1 else "arguments"
        message = f"`{callee.name}` lacks its {noun} {named}"
        yield Fault("wrong-arity", message, *call.span, labels=callee.labels)


def is_spread(call: ast.Call) -> bool:
    """True if a call has `*` or `**` among its arguments."""
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    return starred or not all(keyword.name for keyword in call.keywords)


def _unknown(written: str, start: int, callee: Callee) -> Fault:
    known = (*callee.positional, *callee.keywords)
    message = f"`{callee.name}` takes no argument `{written}`"
    help = nearest(written, (*known, *callee.aliases))
    notes: tuple[str, ...] = ()
    if known and help is None and not callee.labels:
        notes = (f"it takes {', '.join(f'`{name}`' for name in known)}",)
    end = start + len(written)
    return Fault("wrong-arity", message, start, end, labels=callee.labels, notes=notes, help=help)


def _takes(callee: Callee) -> str:
    most, least = len(callee.positional), len(callee.required)
    number = str(most) if least == most else f"{least} to {most}"
    return f"{number} argument{'' if most == 1 else 's'}"
