"""Functions that equations define: roots, fixed points, least points, solutions, integrals.

They are written in the language, in `gradcli/equations`; these entries find them there, for the
interpreter and for compiled code alike, and give their failed assertions the codes of errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.cpython import LIBRARY
from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.run.code.functions import misfit, wrong_function
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.execution.execute import imported
from gradcli.engine.run.language.casts import cast
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, shape_of
from gradcli.engine.values.refusals import not_callable
from gradcli.engine.values.sizes import number
from gradcli.errors import AssertionFailed, RunError, run_error

FAMILY = 345, "Functions defined by equations"


def _failure(code: str, said: str) -> RunError | None:
    """The error of a failed assertion of `gradcli/equations`."""
    if code == "no-solution":
        return run_error("no-solution", said)
    if code == "singular-derivative":
        return run_error("singular-derivative", said)
    return run_error("shape-mismatch", said) if code == "shape-mismatch" else None


def solved(session: Any, name: str, given: Sequence[Any], named: Mapping[str, Any] = {}) -> Any:
    """The value of a function of `gradcli/equations`.

    Raises:
        RunError: If it fails: the code and the message stand in its assertion.
    """
    try:
        return imported(session, f"equations.{name}")(*given, **named)
    except AssertionFailed as error:
        code, _, said = error.diagnostics[0].message.partition(": ")
        failure = _failure(code, said) if _is_of_library(error) else None
        raise failure or error from None


def _is_of_library(error: AssertionFailed) -> bool:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == LIBRARY


def check_function(function: Any, count: int, by: str) -> None:
    """Refuse what is no function of so many arguments."""
    if not callable(function):
        raise not_callable(kind_of(function))
    wrong = misfit(function, count)
    if wrong is not None:
        message = f"{wrong}, and `{by}` calls it with {count}"
        raise wrong_function(function, "wrong-arity", message, label="its parameters")


def point(session: Any, x0: Any, by: str) -> Any:
    """A start as a number or a tensor of float64, in which all equations are solved."""
    x0 = session.tensor(x0)
    if type(x0) in NUMBERS:
        return float(x0)
    if not isinstance(x0, Tensor):
        raise run_error("wrong-type", f"`{by}` starts at a number or a tensor, got {kind_of(x0)}")
    return x0 if x0.dtype == "float64" else cast(session, x0, "float64")


def _traced_point(code: Tracing, x0: Any) -> Any:
    """The same while code is made. A `ValueError` leaves it to the interpreter."""
    if type(x0) is list:
        x0 = code.cell([float(x) if type(x) is int else x for x in x0], None, False)
    x0 = float(x0) if type(x0) is int else x0
    like = code.like(x0)
    if like.dtype != "float64" if isinstance(like, Tensor) else type(like) not in NUMBERS:
        raise ValueError
    return x0


def _traced_tensor(code: Tracing, x: Any) -> Any:
    """A start, or times, by which derivatives are taken: a list is stacked. Errors as of
    `_traced_point`.
    """
    if type(x) is not list or all(type(item) in NUMBERS for item in x):
        return _traced_point(code, x)
    if any(shape_of(code.like(item)) for item in x):
        raise ValueError
    return _traced_point(code, code.call(code.library("equations.stacked"), [x], {}))


_ORDERS = 6
_BY_TIME = 5  # up to which the steps of `odeint` do


def _orders(session: Any) -> int:
    """Up to which order the derivatives of a solution are exact: the transforms that run its call
    may each take one, and a command two more. So many steps are made for that. A program that
    takes more by `torch.autograd.grad`, whose number nobody knows before, is refused.
    """
    around: int = session.passes.transforms
    return max(_ORDERS, around + 2)


def _orders_by_time(session: Any) -> int:
    """The same by the times of `odeint`: up to order 5 the steps of the method itself do."""
    orders = _orders(session)
    return _BY_TIME if orders == _ORDERS else orders


def _of_shape(name: str, x0: Any) -> str:
    return f"{name}_of_tensor" if shape_of(x0) else f"{name}_of_number"


def _at_start(name: str, doc: str, source: str) -> Op:
    """A function `name(f, x0, *args)`."""

    def call(session: Any, f: Any, x0: Any, *args: Any) -> Any:
        check_function(f, 1 + len(args), name)
        x0 = point(session, x0, name)
        return solved(session, _of_shape(name, x0), [f, x0, _orders(session), *args])

    def traced(code: Tracing, f: Any, x0: Any, *args: Any) -> Any:
        x0 = _traced_point(code, x0)
        function = code.library(f"equations.{_of_shape(name, code.like(x0))}")
        return code.call(function, [f, x0, _ORDERS, *args], {})

    return host(
        name,
        call,
        args=("f", "x0", "*args=None"),
        traced=traced,
        keeps=True,
        doc=doc,
        source=source,
    )


root: Op = _at_start(
    "root",
    "The x, found by Newton's method from x0 on, at which `f(x, *args)` is zero: a number, or a "
    "tensor with as many equations as elements. Its derivatives are those of the equation.",
    "implicit function theorem",
)
fixed_point: Op = _at_start(
    "fixed_point",
    "The x that `f(x, *args)` leaves as it is, found by iteration from x0 on and Newton's method. "
    "Its derivatives are those of the equation x = f(x).",
    "implicit function theorem",
)
minimize: Op = _at_start(
    "minimize",
    "The x at which the number `f(x, *args)` has the local minimum that Newton's method reaches "
    "from x0. Its derivatives are those of the equation grad f = 0.",
    "implicit function theorem",
)


def _moves(session: Any, x: Any) -> bool:
    """True if a derivative by a value may be wanted."""
    return session.recording and isinstance(x, Tensor) and node_of(x) is not None


def integral(session: Any, f: Any, a: Any, b: Any, *args: Any) -> Any:
    """`quad`."""
    check_function(f, 1 + len(args), "quad")
    a, b = (_limit(session, x) for x in (a, b))
    moves = _moves(session, a), _moves(session, b)
    return solved(session, "quad", [f, a, b, *moves, _orders(session), *args])


def _limit(session: Any, x: Any) -> Any:
    x = point(session, x, "quad")
    if shape_of(x):
        raise run_error("wrong-type", "the limits of `quad` are numbers, got a tensor")
    return x


def _traced_integral(code: Tracing, f: Any, a: Any, b: Any, *args: Any) -> Any:
    a, b = (_traced_point(code, x) for x in (a, b))
    given = [f, a, b, code.moves(a), code.moves(b), _ORDERS, *args]
    return code.call(code.library("equations.quad"), given, {})


quad: Op = host(
    "quad",
    integral,
    args=("f", "a", "b", "*args=None"),
    traced=_traced_integral,
    keeps=True,
    doc="The integral of `f(x, *args)` from a to b, which may be infinite, by the adaptive rule of "
    "Gauss and Kronrod. By the limits its derivatives are f(b) and -f(a).",
    source="Piessens and others, QUADPACK (1983)",
)

_TOLERANCES = {"rtol": 1e-7, "atol": 1e-9}


def solution(
    session: Any,
    f: Any,
    y0: Any,
    t: Any,
    *args: Any,
    method: Any,
    steps: Any,
    rtol: Any = 1e-7,
    atol: Any = 1e-9,
) -> Any:
    """`odeint`."""
    check_function(f, 2 + len(args), "odeint")
    y0, t = point(session, y0, "odeint"), point(session, t, "odeint")
    if len(shape_of(t)) != 1 or not shape_of(t)[0]:
        raise run_error(
            "wrong-type", "the times of `odeint` are a list or a tensor of one dimension"
        )
    name, how = _method(method, steps, rtol, atol)
    name, how = _on_steps(session, name, t, how)
    f = _of_one_shape(session, f, shape_of(y0))
    return solved(session, name, [f, y0, shape_of(y0), t, *how, *args])


def _on_steps(session: Any, name: str, t: Any, how: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The function and its numbers: where the steps are asked for, those of a run at another point
    if they are known, else they are recorded.
    """
    moves, orders = _moves(session, t), _orders_by_time(session)
    if session.steps is None:
        heard = imported(session, _UNHEARD) if name == "odeint" else t
        return name, [moves, orders, heard, *how]
    times = data_of(t).tolist()
    steps, known = session.steps.of(times)
    if known:
        moves = moves or times != list(steps.times)
    if name != "odeint":
        return name, [moves, orders, steps.times, *how]
    if known:
        return "odeint_again", [moves, orders, steps.times, steps.lengths]
    return name, [moves, orders, lambda i, by: steps.take(i, data_of(by)), *how]


_UNHEARD = "equations.unheard"


def _of_one_shape(session: Any, f: Any, shape: tuple[int, ...]) -> Any:
    """The function of an equation, whose values must have the shape of the solution."""

    def slope(*args: Any) -> Any:
        found = session.tensor(f(*args))
        if not isinstance(found, Tensor) and type(found) not in NUMBERS:
            message = f"the function of `odeint` gives {kind_of(found)}, not numbers"
            raise wrong_function(f, "wrong-type", message)
        if shape_of(found) != shape:
            got = f"{list(shape_of(found))} for a solution of shape {list(shape)}"
            raise run_error("shape-mismatch", f"the function of `odeint` has shape {got}")
        return found

    return slope


def _method(method: Any, steps: Any, rtol: Any, atol: Any) -> tuple[str, Sequence[Any]]:
    """The function of `gradcli/equations` for a method, and its numbers."""
    if method == "rk4":
        if type(steps) is not int or steps < 1:
            help = "write `steps=100` for 100 steps from each time to the next"
            raise run_error("bad-argument", "method 'rk4' needs its number of steps", help=help)
        return "odeint_by_rk4", [steps]
    if method != "dopri5":
        raise run_error(
            "bad-argument", f"a method of `odeint` is 'dopri5' or 'rk4', got {method!r}"
        )
    if steps is not None:
        raise run_error("bad-argument", "`steps` are those of method 'rk4'")
    return "odeint", [float(number(rtol, "rtol")), float(number(atol, "atol"))]


def _traced_solution(code: Tracing, f: Any, y0: Any, t: Any, *args: Any, **params: Any) -> Any:
    y0, t = (_traced_tensor(code, x) for x in (y0, t))
    moves = code.moves(t)
    name, how = _method(**params)
    beside = code.library(_UNHEARD) if name == "odeint" else t
    given = [f, y0, shape_of(code.like(y0)), t, moves, _BY_TIME, beside, *how, *args]
    return code.call(code.library(f"equations.{name}"), given, {})


odeint: Op = host(
    "odeint",
    solution,
    args=("f", "y0", "t", "*args=None"),
    params={"method": "dopri5", "steps": None, **_TOLERANCES},
    traced=_traced_solution,
    keeps=True,
    doc="The solution of dy/dt = `f(t, y, *args)` at the times t, from y0 at the first of them: by "
    "the method of Dormand and Prince with steps chosen so that the error stays within rtol and "
    "atol, or by 'rk4' with so many `steps` from each time to the next. Its derivatives are exact "
    "for the steps taken.",
    source="Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993)",
)
