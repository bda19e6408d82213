"""`gradcheck` inside programs: derivatives of a function compared with differences of values."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos
from typing import Any

from gradcli.engine.builtins.trees import from_vector, leaves_of, vector
from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.functions import called, wrong_function
from gradcli.engine.run.derivatives import transforms
from gradcli.engine.run.derivatives.transforms import Function, Traced, several, values_in
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor, leaf
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import dtype_of, np, shape_of
from gradcli.engine.values.sizes import flag, number, whole
from gradcli.errors import RunError, run_error

FAMILY = 342, "Checks of derivatives"

_OPTIONS: dict[str, Any] = {
    "eps": 1e-6,
    "atol": 1e-5,
    "rtol": 1e-3,
    "raise_exception": True,
    "nondet_tol": 0.0,
    "check_undefined_grad": True,
    "check_grad_dtypes": False,
    "check_batched_grad": False,
    "check_batched_forward_grad": False,
    "check_forward_ad": False,
    "check_backward_ad": True,
    "fast_mode": False,
    "masked": None,
}


class _Check:
    """The function that is checked, its inputs and the tolerances; `eps` is the step of the
    differences.
    """

    def __init__(self, session: Session, function: Any, inputs: Any, by: str, options: Any) -> None:
        self.session = session
        self.function = function
        self.given = several(tuple(inputs) if isinstance(inputs, list) else inputs)
        self.by = by
        self.eps = number(options["eps"], "eps")
        self.atol = number(options["atol"], "atol")
        self.rtol = number(options["rtol"], "rtol")
        self.nondet_tol = number(options["nondet_tol"], "nondet_tol")
        self._likes: list[Any] | None = None  # of the results, which must not depend on values
        modes = (("reverse", "check_backward_ad"), ("forward", "check_forward_ad"))
        self.modes = [mode for mode, name in modes if flag(options[name], name)]
        self.numbers = [
            i for i, x in enumerate(self.given) if isinstance(x, Tensor) and x.requires_grad
        ]
        if not self.modes:
            message = f"`{by}` needs `check_forward_ad` or `check_backward_ad` to be true"
            raise run_error("bad-argument", message, raises=AssertionError)
        if not self.numbers:
            raise run_error(
                "bad-argument",
                f"`{by}` needs an input that requires grad",
                help="make it with `tensor(..., requires_grad=True)`",
            )

    def differences(self) -> list[list[Any]]:
        """The Jacobian of each output by each input, from differences of values."""
        found = []
        for i in self.numbers:
            point = np.array(self.given[i].data, dtype=float)
            columns = []
            for place in np.ndindex(point.shape):
                above, below = (self._values(i, point, place, step) for step in (1, -1))
                columns.append(
                    [(a - b) / (2 * self.eps) for a, b in zip(above, below, strict=True)]
                )
            if columns:
                found.append([np.array(part) for part in zip(*columns, strict=True)])
            else:  # an input without elements moves nothing
                found.append([np.zeros((0, v.size)) for v in self._values(i, point, (), 0)])
        return [list(by_input) for by_input in zip(*found, strict=True)]

    def _values(self, i: int, point: Any, place: tuple[int, ...], step: int) -> list[Any]:
        moved = point.copy()
        moved[place] += step * self.eps
        args = [
            x if not isinstance(x, Tensor) else self._like(x, moved if k == i else x.data)
            for k, x in enumerate(self.given)
        ]
        out = called(self.function, args, self.by)
        found = [data_of(v) for v in values_in(out)]
        likes = [(shape_of(v), dtype_of(v)) for v in found]
        if self._likes is not None and self._likes != likes:
            raise wrong_function(
                self.function,
                "assertion-failed",
                f"`{self.by}` needs a function whose results keep shape and dtype when inputs move",
            )
        self._likes = likes
        return [np.array(v, dtype=float).ravel() for v in found]

    def _like(self, x: Tensor, data: Any) -> Tensor:
        """A tensor with this data, which requires grad if x does: functions may ask."""
        return leaf(np.array(data)) if x.requires_grad else Tensor(np.array(data))

    def derivatives(self, mode: str) -> list[list[Any]]:
        """The Jacobian of each output by each input, from the derivative rules."""
        traced = Traced(self.session, self.function, self.given, self.numbers, self.by)
        blocks = [*values_in(transforms.matrix(traced, mode, True))]
        outs = [*values_in(traced.out)]
        count = len(self.numbers)
        return [
            [
                np.array(data_of(block))
                .reshape(np.size(data_of(out)), np.size(self.given[i].data))
                .T
                for i, block in zip(self.numbers, blocks[k * count :], strict=False)
            ]
            for k, out in enumerate(outs)
        ]

    def ask(self) -> None:
        """Compare them.

        Raises:
            RunError: If one differs.
        """
        slopes = self.differences()
        if "reverse" in self.modes:
            self._ask_again()
        for mode in self.modes:
            for k, (rules, found) in enumerate(zip(self.derivatives(mode), slopes, strict=True)):
                for i, rule, part in zip(self.numbers, rules, found, strict=True):
                    slope = part.reshape(rule.shape)
                    if not np.allclose(rule, slope, self.rtol, self.atol, equal_nan=True):
                        raise self._differs(k, i, mode, rule, slope)

    def _ask_again(self) -> None:
        """Compare the gradients of two passes."""
        first, second = self.derivatives("reverse"), self.derivatives("reverse")
        for rules, again in zip(first, second, strict=True):
            for rule, other in zip(rules, again, strict=True):
                if not np.allclose(rule, other, 0, self.nondet_tol, equal_nan=True):
                    message = (
                        "two passes give two derivatives: they differ by more than `nondet_tol`"
                    )
                    raise wrong_function(self.function, "wrong-derivative", message)

    def _differs(self, k: int, i: int, mode: str, rule: Any, slope: Any) -> RunError:
        worst = np.unravel_index(np.argmax(np.abs(rule - slope)), rule.shape)
        return wrong_function(
            self.function,
            "wrong-derivative",
            f"{mode} mode gives {rule[worst]:.6g} as the derivative of output {k} by input {i} at "
            f"element {int(worst[0])}, differences give {slope[worst]:.6g}",
        )


def _checked(check: _Check, options: Any) -> bool:
    try:
        check.ask()
    except RunError as error:
        wrong = error.diagnostics[0].code == "wrong-derivative"
        if wrong and not flag(options["raise_exception"], "raise_exception"):
            return False
        raise
    return True


gradcheck: Op = host(
    "gradcheck",
    lambda session, function, inputs, **options: _checked(
        _Check(session, function, inputs, "gradcheck", options), options
    ),
    args=("func", "inputs"),
    params=_OPTIONS,
    infer=lambda known, *args, **options: known.number("bool"),
    doc="True if the derivatives of a function by those of its inputs that require grad are the "
    "slopes that central differences find, by `atol` and `rtol`; else an error, or False with "
    "`raise_exception=False`. `check_forward_ad=True` compares forward mode, too.",
    source="PyTorch: autograd.gradcheck",
    keeps=True,
)


def _pulled(session: Session, check: _Check) -> Function:
    """The function of the inputs and of cotangents that gives the gradients."""

    def gradients(*args: Any) -> Any:
        count = len(check.given)
        fixed, weights = list(args[:count]), args[count:]

        def function(*points: Any) -> Any:
            for i, point in zip(check.numbers, points, strict=True):
                fixed[i] = point
            return called(check.function, fixed, check.by)

        points = [fixed[i] for i in check.numbers]
        out, pull = transforms.vjp(session, function, points)
        return pull(tuple(weights) if isinstance(out, tuple) else weights[0])

    return gradients


def _weights(session: Evaluator, check: _Check, given: Any) -> Sequence[Any]:
    """The cotangents that are given, else some numbers."""
    if given is not None:
        return several(tuple(given) if isinstance(given, list) else given)
    out = called(check.function, check.given, check.by)
    shapes = [shape_of(session.tensor(v)) for v in values_in(out)]
    sizes = [int(np.prod(shape)) for shape in shapes]
    return [
        Tensor(np.array([cos(i + 1.0) for i in range(size)]).reshape(shape))
        for size, shape in zip(sizes, shapes, strict=True)
    ]


def _gradgradcheck(
    session: Any, function: Any, inputs: Any, grad_outputs: Any, **options: Any
) -> bool:
    first = _Check(session, function, inputs, "gradgradcheck", options)
    return _checked(_second(session, first, grad_outputs, options), options)


def _second(session: Any, first: _Check, grad_outputs: Any, options: Any) -> _Check:
    """The check of the gradients by the inputs and by the cotangents."""
    weights = _weights(session, first, grad_outputs)
    second = _Check(session, _pulled(session, first), first.given, first.by, options)
    second.given = (*second.given, *weights)
    second.numbers = [*second.numbers, *range(len(first.given), len(second.given))]
    return second


gradgradcheck: Op = host(
    "gradgradcheck",
    _gradgradcheck,
    args=("func", "inputs", "grad_outputs=None"),
    params={
        **_OPTIONS,
        "gen_non_contig_grad_outputs": False,
        "check_fwd_over_rev": False,
        "check_rev_over_rev": True,
    },
    infer=lambda known, *args, **options: known.number("bool"),
    doc="`gradcheck` of the second derivatives: those of the gradients by the inputs and by the "
    "cotangents, `grad_outputs` or some numbers.",
    source="PyTorch: autograd.gradgradcheck",
    keeps=True,
)


def _compared(
    session: Session,
    function: Any,
    given: Any,
    modes: Any,
    order: int,
    options: Any,
    numbers: Any = None,
) -> None:
    """Compares the derivatives of a function by its floats in these modes: those of all arguments,
    or of the ones with these numbers. Of order 2, the derivatives of the gradients as well.
    """
    moving = range(len(given)) if numbers is None else numbers
    rows = [vector(session, given[i]) if _is_tree(given[i]) else given[i] for i in moving]
    inputs = tuple(
        leaf(np.array(data_of(x), dtype=float) if shape_of(x) else float(data_of(x)))
        if _is_float(x)
        else x
        for x in rows
    )
    of_rows = _of_rows(session, function, given, moving)
    name = getattr(function, "__name__", "the function")
    for mode in modes:
        if mode not in _KINDS:
            raise run_error("bad-argument", "a mode is 'fwd' or 'rev'", raises=ValueError)
        by_mode = {"check_backward_ad": mode == "rev", "check_forward_ad": mode == "fwd"}
        first = _Check(session, of_rows, inputs, "check_grads", {**options, **by_mode})
        _agreed(first, f"({_KINDS[mode]}) check of {name} failed")
    if order > 1 and "rev" in modes:
        first = _Check(session, of_rows, inputs, "check_grads", options)
        second = _second(session, first, None, options)
        _agreed(second, f"({_KINDS['rev']}) check of vjp_{name} failed")


_KINDS = {"rev": "VJP", "fwd": "JVP"}
"""What the modes compare, by their names in `check_grads`."""


def _agreed(check: _Check, failure: str) -> None:
    """Compare, with autograd's words and exception in front of what differs."""
    try:
        check.ask()
    except RunError as error:
        (found, *_) = error.diagnostics
        if found.code == "wrong-derivative":
            found.message = f"{failure}: {found.message}"
            error.raises = AssertionError
        elif found.code == "leaf-in-place":
            error.raises = TypeError  # autograd's arrays take no new items
        raise


_TREES = (dict, list, tuple)


def _of_rows(session: Session, function: Any, given: Any, moving: Sequence[int]) -> Function:
    """The function of some of its arguments, whose results are the values of what it returns.
    Dictionaries, lists and tuples are given as rows of their values.
    """

    def of_rows(*rows: Any) -> Any:
        args = [*given]
        for i, row in zip(moving, rows, strict=True):
            args[i] = from_vector(session, args[i], row) if _is_tree(args[i]) else row
        out = called(function, args, "check_grads")
        return tuple(leaves_of(out)) if _is_tree(out) else out

    return of_rows


def _is_float(value: Any) -> bool:
    """True of a float or a tensor of some floats."""
    if not isinstance(value, (float, Tensor)) or not np.size(data_of(value)):
        return False
    return dtype_of(value).startswith("float")


def _is_tree(value: Any) -> bool:
    return isinstance(value, _TREES)


def _modes(session: Evaluator, modes: Any) -> list[Any]:
    """The modes, which are both if none are given."""
    given: list[Any] = ["fwd", "rev"] if modes is None else session.items(modes)
    return given


def _numbers(session: Evaluator, argnum: Any) -> list[int] | None:
    """The numbers of the arguments; None of all of them."""
    if argnum is None:
        return None
    given = [argnum] if type(argnum) is int else session.items(argnum)
    return [whole(i, "argnum") for i in given]


_CLOSE = {**_OPTIONS, "atol": 1e-6, "rtol": 2e-6}
"""The tolerances of autograd's `check_grads`."""


def _checker(session: Any, f: Any, argnum: Any, modes: Any, order: Any) -> Function:
    wanted, numbers = _modes(session, modes), _numbers(session, argnum)
    orders = whole(order, "order")

    def checked(*args: Any, **keywords: Any) -> None:
        def fixed(*given: Any) -> Any:
            return called(f, given, "check_grads", keywords)

        function = fixed if keywords else f
        _compared(session, function, args, wanted, orders, _CLOSE, numbers)

    return checked


check_grads: Op = host(
    "check_grads",
    _checker,
    args=("f",),
    params={"argnum": None, "modes": None, "order": 2},
    doc="autograd's `check_grads(f, argnum, modes)(*args)`: fails if the derivatives of f differ "
    "from central differences, those by all arguments or by the ones with these numbers.",
    source="autograd: test_util.check_grads",
    keeps=True,
)

jax_check_grads: Op = host(
    "jax_check_grads",
    lambda session, f, args, order, modes, **options: _compared(
        session, f, session.items(args), _modes(session, modes), 1, _OPTIONS
    ),
    args=("f", "args"),
    params={"order": 1, "modes": None, "atol": None, "rtol": None, "eps": None},
    infer=lambda known, *args, **options: known.constant(None),
    doc="`jax.test_util.check_grads(f, args, order, modes)`: fails if the derivatives of f differ "
    "from central differences.",
    source="JAX: test_util.check_grads",
    keeps=True,
    pure=False,
)
