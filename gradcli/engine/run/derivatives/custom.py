"""Functions that a program gives rules for derivatives as JAX and autograd have it: `custom_vjp`,
`custom_jvp` and `primitive`.

A call of one is a call of an own function with the values in its arguments, which may be lists,
tuples and dictionaries. To differentiate its rules, they run again, so that they hold at every
order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.linearize import zeros
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.functions import (
    PARAMETERS,
    called,
    misfit,
    parameters,
    wrong_function,
)
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives import transforms
from gradcli.engine.run.derivatives.own import Context, OwnFunction
from gradcli.engine.run.derivatives.transforms import Tree, mapped, values_in
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import like_of
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.sizes import whole
from gradcli.errors import RunError, run_error


class Custom:
    """A function with rules of the program's own.

    Fields:
        function: The function itself.
        still: The numbers of arguments that it is not differentiated by.
        pull: Its rule of reverse mode, once there is one: `(args, out, g)` to a cotangent of each
            argument, the still ones left out.
        push: That of forward mode: `(args, out, dots)` to the tangent of the result.
        makers: Autograd's rules of reverse mode by the number of the argument.
    """

    said = "a function with own derivatives"
    _members: tuple[dict[str, Any], dict[str, Any]]

    def __init__(self, session: Session, function: Any, still: Sequence[int], by: str) -> None:
        self.session = session
        self.function = function
        self.still = frozenset(still)
        self.by = by
        self.pull: Callable[..., Sequence[Any]] | None = None
        self.push: Callable[..., Any] | None = None
        self.makers: dict[int, Any] = {}
        self.__name__ = getattr(function, "__name__", by)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if keywords or self.by != "primitive":
            args = self._by_place(args, keywords)
        if self.by != "primitive" and self.pull is None and self.push is None:
            rule = f"def{self.by[-3:]}"
            message = f"`{self.__name__}` has no rule"
            help = f"`{self.__name__}.{rule}(...)` gives it one"
            raise run_error("wrong-rule", message, help=help, raises=AttributeError)
        if self.pull is None and self.push is None and not self._lacks_rules(args):
            return called(self.function, args, self.by)
        moving = [a for i, a in enumerate(args) if i not in self.still]
        kept = {i: a for i, a in enumerate(args) if i in self.still}
        return _Call(self, moving, kept).done()

    def _by_place(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """All arguments by place: those given by name, and defaults."""
        wrong = misfit(self.function, len(args), keywords)
        if wrong is not None:
            raise wrong_function(self.function, "wrong-arity", wrong, label=PARAMETERS)
        names = parameters(self.function)
        if names is None:
            if keywords:
                message = f"`{self.__name__}` takes no arguments by name here"
                raise run_error("wrong-arity", message)
            return (*args,)
        defaults = dict(
            zip(reversed(names), reversed(self.function.__defaults__ or ()), strict=False)
        )
        rest = [{**defaults, **keywords}[name] for name in names[len(args) :]]
        return (*args, *rest)

    def _lacks_rules(self, args: Sequence[Any]) -> bool:
        """True of a primitive whose derivative may be asked for: nothing looks into it."""
        recorded = (v.recorded for v in values_in([*args]) if isinstance(v, Tensor))
        return self.by == "primitive" and self.session.recording and any(recorded)

    def no_rule(self, mode: str) -> RunError:
        """What a pass meets that needs a rule of this mode."""
        return run_error(
            "not-differentiable",
            f"`{self.__name__}` is a primitive without a rule for {mode} mode",
            help="give it one: `defvjp(f, rule)` for reverse mode, `defjvp(f, rule)` for forward",
            raises=NotImplementedError,
        )

    def whole(self, moving: Sequence[Any], kept: Mapping[int, Any]) -> list[Any]:
        """All arguments, from the differentiated and the other ones."""
        rest = iter(moving)
        count = len(moving) + len(kept)
        return [kept[i] if i in kept else next(rest) for i in range(count)]


class _Call:
    """One call: the values in its arguments, and the form of arguments and result."""

    def __init__(self, custom: Custom, moving: Sequence[Any], kept: Mapping[int, Any]) -> None:
        self.custom = custom
        self.moving = moving
        self.kept = kept
        self.form: Tree = None
        self.several = False

    def done(self) -> Any:
        session = self.custom.session
        methods: dict[str, Any] = {"forward": self._forward, "backward": self._backward}
        if self.custom.push is not None or self.custom.by == "primitive":
            methods["jvp"] = self._jvp
        own = OwnFunction(self.custom.__name__, methods, session)
        values = [session.tensor(v) for v in self._values(self.moving)]
        found = own.apply(values, None)
        return self._formed(self.form, found if isinstance(found, tuple) else (found,))

    def _values(self, trees: Any) -> Iterator[Any]:
        """The numbers and tensors in the arguments, a list of numbers as the tensor that it is."""
        for value in values_in([*trees]):
            if isinstance(value, Tensor) or type(value) in NUMBERS:
                yield value

    def _formed(self, form: Tree, values: Sequence[Any]) -> Tree:
        """Values in place of the numbers and tensors of a tree."""
        rest = iter(values)
        numeric = (Tensor, *NUMBERS)
        return mapped(lambda old: next(rest) if isinstance(old, numeric) else old, form)

    def _args(self, values: Sequence[Any]) -> list[Any]:
        return self.custom.whole(self._formed([*self.moving], values), self.kept)

    def _forward(self, context: Context, *values: Any) -> Any:
        args = self._args(values)
        context.fields["values"] = values
        out = called(self.custom.function, args, self.custom.by)
        if type(out) is list:
            out = self.custom.session.tensor(out)
        self.form = out
        found = tuple(self._values([out]))
        if not found:
            message = f"the function must return a number or tensor, it returned {kind_of(out)}"
            raise wrong_function(self.custom.function, "not-differentiable", message)
        context.fields["out"] = out
        return found if isinstance(out, (tuple, dict)) else found[0]

    def _backward(self, context: Context, *gs: Any) -> Any:
        custom, values = self.custom, context.fields["values"]
        args = self._args(values)
        g = self._formed(self.form, gs)
        if custom.pull is None and custom.push is None:
            raise custom.no_rule("reverse")
        if custom.pull is not None:
            given = custom.pull(args, self._again(context, args), g)
        else:
            given = self._transposed(args, g)
        if len(given) != len(self.moving):
            message = f"a rule of `{custom.__name__}` gives {len(given)} cotangents for "
            raise run_error("wrong-rule", f"{message}{len(self.moving)} arguments")
        found: list[Any] = []
        for argument, c in zip(self.moving, given, strict=True):
            count = sum(1 for _ in self._values([argument]))
            found += [None] * count if c is None else [c for _, c in self._beside(argument, c)]
        return tuple(found)

    def _beside(self, argument: Tree, c: Tree) -> Iterator[tuple[Any, Any]]:
        numeric = (Tensor, *NUMBERS)
        for value, part in transforms.paired(argument, c):
            if isinstance(value, numeric):
                yield value, part

    def _again(self, context: Context, args: Sequence[Any]) -> Any:
        """The result, recorded where the rule is differentiated itself."""
        return self.custom(*args) if self.custom.session.recording else context.fields["out"]

    def _transposed(self, args: Sequence[Any], g: Any) -> Sequence[Any]:
        """Cotangents by a rule of tangents, which is linear in them."""
        custom = self.custom
        assert custom.push is not None

        def along(*dots: Any) -> Any:
            assert custom.push is not None
            return custom.push(args, None, list(dots))

        zeros = [mapped(_nought, argument) for argument in self.moving]
        _, pull = transforms.vjp(custom.session, along, zeros)
        found: Sequence[Any] = pull(g)
        return found

    def _jvp(self, context: Context, *dots: Any) -> Any:
        custom = self.custom
        if custom.push is None:
            raise custom.no_rule("forward")
        args = self._args(context.fields["values"])
        given = [0.0 if dot is None else dot for dot in dots]
        found = custom.push(args, self._again(context, args), self._formed([*self.moving], given))
        parts = tuple(self._values([found]))
        return parts if isinstance(self.form, (tuple, dict)) else parts[0]


def _nought(value: Any) -> Any:
    """Zeros in the form of a value."""
    return Tensor(zeros(like_of(value))) if isinstance(value, Tensor) else 0.0


# the rules of JAX -------------------------------------------------------------------------------


def _defvjp(
    session: Evaluator, site: Site | None, custom: Custom, *rules: Any, **options: Any
) -> Any:
    """`f.defvjp(fwd, bwd)`: `fwd(*args)` gives the result and what `bwd(res, g)` needs. Of a
    primitive it is autograd's older `f.defvjp(rule, argnum)`.
    """
    if custom.by == "primitive":
        return _older_vjp(custom, *rules, **options)
    if len(rules) != 2:
        raise run_error("wrong-arity", f"`defvjp` takes 2 functions, got {len(rules)}")
    forward, backward = rules

    def pull(args: Sequence[Any], out: Any, g: Any) -> Sequence[Any]:
        pair = called(forward, args, "defvjp")
        if not isinstance(pair, tuple) or len(pair) != 2:
            message = "the first function of `defvjp` returns the result and what the second needs"
            raise wrong_function(forward, "wrong-rule", message)
        still = [args[i] for i in sorted(custom.still)]
        given = called(backward, [*still, pair[1], g], "defvjp")
        return given if isinstance(given, (tuple, list)) else [given]

    custom.pull = pull
    return None


def _defjvp(
    session: Evaluator, site: Site | None, custom: Custom, rule: Any, **options: Any
) -> Any:
    """`f.defjvp(rule)`: `rule(primals, tangents)` gives the result and its tangent."""

    def push(args: Sequence[Any], out: Any, dots: Sequence[Any]) -> Any:
        still = [args[i] for i in sorted(custom.still)]
        moving = tuple(a for i, a in enumerate(args) if i not in custom.still)
        pair = called(rule, [*still, moving, tuple(dots)], "defjvp")
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise wrong_function(rule, "wrong-rule", "a rule returns the result and its tangent")
        return pair[1]

    custom.push = push
    return rule


def _defjvps(
    session: Evaluator, site: Site | None, custom: Custom, *rules: Any, **options: Any
) -> None:
    """`f.defjvps(*rules)`: for each argument `rule(dot, out, *args)`, or None."""
    custom.push = _by_argument(session, custom, rules, "defjvps")


def _by_argument(session: Evaluator, custom: Custom, rules: Sequence[Any], by: str) -> Any:
    def push(args: Sequence[Any], out: Any, dots: Sequence[Any]) -> Any:
        if out is None:
            out = custom(*args)
        parts = [
            called(rule, [dot, out, *args], by)
            for rule, dot in zip(rules, dots, strict=False)
            if rule is not None
        ]
        total = parts[0] if parts else 0.0
        for part in parts[1:]:
            total = session.do(ops.add, [total, part], {"alpha": 1})
        return total

    return push


# the rules of autograd --------------------------------------------------------------------------


def give_vjps(session: Evaluator, custom: Any, makers: Sequence[Any], numbers: Any) -> None:
    """Autograd's `defvjp(f, *makers)`: `maker(ans, *args)` gives the function of the cotangent."""
    _check(custom, "defvjp")
    at = range(len(makers)) if numbers is None else numbers
    _pull_by(custom, dict(zip(at, makers, strict=False)))


def _pull_by(custom: Custom, makers: dict[int, Any]) -> None:
    """Give a function autograd's rules of reverse mode, by the number of the argument."""

    def pull(args: Sequence[Any], out: Any, g: Any) -> Sequence[Any]:
        return [
            None
            if makers.get(i) is None
            else called(called(makers[i], [out, *args], "defvjp"), [g], "defvjp")
            for i in range(len(args))
        ]

    custom.makers = makers
    custom.pull = pull


def _older_vjp(custom: Custom, rule: Any, argnum: Any = 0, **options: Any) -> None:
    """`f.defvjp(rule, argnum)`: `rule(g, ans, vs, gvs, *args)` gives the cotangent of one argument.
    Its vector spaces `vs` and `gvs` are None here.
    """

    def maker(ans: Any, *args: Any) -> Any:
        return lambda g: called(rule, [g, ans, None, None, *args], "defvjp")

    _pull_by(custom, {**custom.makers, whole(argnum, "argnum"): maker})


def _defgrad(
    session: Evaluator, site: Site | None, custom: Custom, maker: Any, argnum: Any = 0
) -> None:
    """`f.defgrad(maker, argnum)`: `maker(ans, *args)` gives the function of the cotangent."""
    _pull_by(custom, {**custom.makers, whole(argnum, "argnum"): maker})


def _defvjp_is_zero(
    session: Evaluator, site: Site | None, custom: Custom, argnums: Any = (0,)
) -> None:
    """`f.defvjp_is_zero(argnums)`: the derivative by these arguments is zero."""
    still = {whole(i, "argnums"): None for i in session.items(argnums)}
    _pull_by(custom, {**custom.makers, **still})


def give_jvps(session: Evaluator, custom: Any, rules: Sequence[Any], numbers: Any) -> None:
    """Autograd's `defjvp(f, *rules)`: `rule(g, ans, *args)` gives the tangent by an argument."""
    _check(custom, "defjvp")
    at = range(len(rules)) if numbers is None else numbers
    by = dict(zip(at, rules, strict=False))
    count = max(at, default=-1) + 1
    custom.push = _by_argument(session, custom, [by.get(i) for i in range(count)], "defjvp")


def _check(custom: Any, by: str) -> None:
    if not isinstance(custom, Custom):
        message = f"`{by}` takes a function made by `primitive`, got {kind_of(custom)}"
        raise run_error("wrong-type", message)


def _bound(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method without parentheses, as after `@`."""

    def bound(session: Evaluator, custom: Custom) -> Callable[..., Any]:
        return lambda *rules, **options: method(session, None, custom, *rules, **options)

    return bound


_METHODS: dict[str, Callable[..., Any]] = {
    "defvjp": _defvjp,
    "defjvp": _defjvp,
    "defjvps": _defjvps,
    "defgrad": _defgrad,
    "defvjp_is_zero": _defvjp_is_zero,
}
Custom._members = ({name: _bound(method) for name, method in _METHODS.items()}, _METHODS)
