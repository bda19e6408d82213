"""A request: values for inputs, names to differentiate by, outputs, seeds, and how to run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

from gradcli.engine.run.execution.inputs import Given
from gradcli.errors import Diagnostic, GradError
from gradcli.limits import DEFAULT, Limits
from gradcli.record import Record
from gradcli.source import Source, Span


def unheard(*said: Any) -> None:
    """Take what nobody hears. A function with a name, so that options can be sent to workers."""


class Options:
    """Options of a run.

    Fields:
        seed: Makes random numbers repeatable.
        echo: Receives each text that the program prints, line ends included.
        check_nan: True if nan or infinity in a result is an error instead of a warning.
        graph: True if the result has the recorded graph.
        progress: Receives how much of long work is done, and of how much.
        grad_fn: True if the `grad_fn` of values is shown.
        stream: Which of the seed's streams of random numbers; each of many rows has its own.
        explain: True if a warning about nan or infinity says where it began, by further runs.
        limits: Limits on steps, time, memory and depth.
        stuck: Receives the error of a limit in a call that cannot be stopped; does not return.
        verbose: True if an error at a limit has the last values of variables.
        kinks: True if the result lists operations that were evaluated at a kink.
        compile: When the program is compiled: "auto", "always" or "never".
        remark: Receives notes about compiling.
        plots: Draws the program's plots, in `run` alone.
        patience: Gives, wherever steps begin, how many further ones are interpreted.
    """

    def __init__(
        self,
        seed: int | None = None,
        echo: Callable[[str], None] = unheard,
        check_nan: bool = False,
        graph: bool = False,
        progress: Callable[[int, int | None], None] = unheard,
        grad_fn: bool = True,
        stream: int = 0,
        explain: bool = True,
        limits: Limits = DEFAULT,
        stuck: Callable[[GradError], None] | None = None,
        verbose: bool = False,
        kinks: bool = False,
        compile: str = "auto",
        remark: Callable[[Diagnostic], None] = unheard,
        plots: Any = None,
        patience: Callable[[], int] | None = None,
    ) -> None:
        self.seed = seed
        self.echo = echo
        self.check_nan = check_nan
        self.graph = graph
        self.progress = progress
        self.grad_fn = grad_fn
        self.stream = stream
        self.explain = explain
        self.limits = limits
        self.stuck = stuck
        self.verbose = verbose
        self.kinks = kinks
        self.compile = compile
        self.remark = remark
        self.plots = plots
        self.patience = patience

    def changed(self, **fields: Any) -> Options:
        """A copy with some fields replaced."""
        made = object.__new__(Options)
        made.__dict__.update(self.__dict__, **fields)
        return made


class Request(Record):
    """Everything that an answer depends on beside the program.

    Fields:
        inputs: Values by name.
        options: How to run.
        wrt: Names to differentiate with respect to; None: those that `names.candidates` gives.
        of: Top-level name to differentiate; None: the program's result.
        cotangent: Weight of each element of a result that is not scalar.
        tangents: A direction by name.
        mode: "forward", "reverse", or "auto" for the one that costs less.
        known: Names of int inputs whose values code is made for.
        question: What `propagate` is asked of a row; None for other questions.
    """

    __slots__ = (
        *("inputs", "options", "wrt", "of", "cotangent", "tangents", "mode", "known", "question"),
    )
    _defaults: ClassVar[dict[str, Any]] = {
        "wrt": None,
        "of": None,
        "cotangent": None,
        "tangents": {},
        "mode": "auto",
        "known": (),
        "question": None,
    }
    inputs: Mapping[str, Given]
    options: Options
    wrt: str | Sequence[str] | None
    of: str | None
    cotangent: Any
    tangents: Mapping[str, Any]
    mode: str
    known: Collection[str]
    question: Any

    @property
    def shapes(self) -> dict[str, tuple[int, ...] | int]:
        """The shape of each value that is given; the value itself if it is known."""
        return {
            name: given.value if name in self.known else _shape(given.value)
            for name, given in self.inputs.items()
        }

    def changed(self, **fields: Any) -> Request:
        """A copy with some fields replaced."""
        return Request(**{name: getattr(self, name) for name in self._fields} | fields)


def _shape(value: Any) -> tuple[int, ...]:
    if type(value) is list or type(value) is tuple:
        return (len(value), *(_shape(value[0]) if value else ()))
    found: tuple[int, ...] = tuple(getattr(value, "shape", ()))
    return found


def request(
    inputs: Mapping[str, Any] | None,
    named: Mapping[str, Any],
    options: Options | None = None,
    **fields: Any,
) -> Request:
    """A request of the Python API.

    Args:
        inputs: Values by name.
        named: More values by name, which win.
        options: How to run.
        **fields: Other fields of the request.
    """
    return Request(given_values(inputs, named), options or Options(), **fields)


def given_values(inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Given]:
    """Values by name from a mapping and from keywords, which win."""
    values = {**(inputs or {}), **named}
    return {
        name: value if isinstance(value, Given) else Given(value, _Keyword(name, value))
        for name, value in values.items()
    }


class _Keyword(Record):
    """The origin `x=2` of a keyword argument; its text is made only when a message shows it."""

    __slots__ = ("name", "value")
    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}"


def not_compiled(
    reason: str, help: str | None, source: Source | None = None, span: Span | None = None
) -> Diagnostic:
    """The error of a request that cannot be compiled."""
    return Diagnostic("not-compilable", f"not compiled: {reason}", source, span, help=help)
