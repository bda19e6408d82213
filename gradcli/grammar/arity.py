"""Whether the arguments of a call fit what is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradcli.grammar import ast
from gradcli.grammar.faults import Fault
from gradcli.grammar.suggest import nearest
from gradcli.ir import Signature
from gradcli.record import Record


class Callee(Record):
    """How something may be called: by place and name, those of them that must be given, by name
    only, and whether further arguments by place are taken. `aliases` are other keyword names.
    """

    __slots__ = ("name", "positional", "required", "keywords", "variadic", "aliases")
    name: str
    positional: tuple[str, ...]
    required: tuple[str, ...]
    keywords: tuple[str, ...]
    variadic: bool
    aliases: Mapping[str, str]


def of_builtin(signature: Signature) -> Callee:
    """How a built-in may be called."""
    positional = signature.positional
    return Callee(
        signature.name,
        positional,
        positional[: signature.required],
        signature.keywords,
        signature.variadic,
        signature.aliases,
    )


def of_function(function: ast.Def) -> Callee:
    """How a function of the program may be called."""
    names = tuple(param.name for param in function.params)
    required = tuple(param.name for param in function.params if param.default is None)
    return Callee(function.name, names, required, (), False, {})


def arity_faults(call: ast.Call, callee: Callee, *, method: bool = False) -> Iterator[Fault]:
    """What is wrong with the arguments. A method's first argument stands before the dot; how many
    others it takes by place may differ from the function's, so only keywords are held to it.
    """
    given: dict[str, ast.Keyword] = {}
    for keyword in call.keywords:
        name = callee.aliases.get(keyword.name, keyword.name)
        if name in given:
            message = f"the argument `{keyword.name}` is given twice"
            yield Fault("duplicate-name", message, *keyword.span)
        elif name not in callee.positional and name not in callee.keywords:
            yield _unknown(keyword, callee)
        given[name] = keyword
    if method:
        return
    count = len(call.args)
    for name in callee.positional[:count]:
        if name in given:
            message = f"`{callee.name}` gets its argument `{name}` by place and by name"
            yield Fault("duplicate-name", message, *given[name].span)
    if count > len(callee.positional) and not callee.variadic:
        extra = call.args[len(callee.positional)].span
        message = f"`{callee.name}` takes {_takes(callee)}, got {count}"
        yield Fault("wrong-arity", message, extra.start, call.args[-1].span.end)
    missing = [name for name in callee.required if name not in callee.positional[:count]]
    missing = [name for name in missing if name not in given]
    if missing:
        named = ", ".join(f"`{name}`" for name in missing)
        noun = "argument" if len(missing) == 1 else "arguments"
        message = f"`{callee.name}` lacks its {noun} {named}"
        yield Fault("wrong-arity", message, *call.span)


def _unknown(keyword: ast.Keyword, callee: Callee) -> Fault:
    known = (*callee.positional, *callee.keywords)
    start = keyword.span.start
    message = f"`{callee.name}` takes no argument `{keyword.name}`"
    help = nearest(keyword.name, (*known, *callee.aliases))
    notes: tuple[str, ...] = ()
    if known and help is None:
        notes = (f"it takes {', '.join(f'`{name}`' for name in known)}",)
    end = start + len(keyword.name)
    return Fault("wrong-arity", message, start, end, notes=notes, help=help)


def _takes(callee: Callee) -> str:
    most, least = len(callee.positional), len(callee.required)
    number = str(most) if least == most else f"{least} to {most}"
    return f"{number} argument{'' if most == 1 else 's'}"
