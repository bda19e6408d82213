"""A finished run and what is differentiated in it, which all questions about derivatives share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.report.values import plain_value
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np
from gradcli.errors import GradError, InputError, RunError
from gradcli.questions.asked import seeds
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch, differentiated
from gradcli.questions.asked.request import Request
from gradcli.record import Record


class LinearizedRun(Record):
    """A finished run and what is differentiated in it: a result and the names."""

    __slots__ = ("loaded", "request", "done", "watch", "name", "output", "names", "line")
    loaded: Loaded
    request: Request
    done: Done
    watch: Watch
    name: str
    output: Any
    names: list[str]
    line: Linearized

    @property
    def session(self) -> Session:
        return self.done.session

    @property
    def unused(self) -> list[str]:
        """The names that the result does not depend on."""
        unused = self.line.unused
        return [name for name in self.names if self.node(name) in unused]

    def node(self, name: str) -> Node:
        """The node of a name's value."""
        return self.done.session.watchpoints[name][0]

    def by_name(self, found: Mapping[Node, Any]) -> dict[str, Any]:
        """What was found of each name's node, as results hold it."""
        points = self.done.session.watchpoints
        return {name: plain_value(Tensor(found[points[name][0]])) for name in self.names}

    def weight(self) -> Any:
        """Plain data of the cotangent: the weight of each of the result's elements."""
        try:
            return weights(self.session, self.output, self.request.cotangent)
        except RunError as error:
            error.diagnostics[0].source, error.diagnostics[0].span = self.loaded.place(
                self.request.of
            )
            raise

    def direction(self) -> dict[Node, Any]:
        """Plain data of the direction by node."""
        points = self.session.points
        return {
            self.node(name): _from_outside(
                self.session, given, partial(seeds.direction, points[name], name=name)
            )
            for name, given in self.request.tangents.items()
        }


def ask(loaded: Loaded, request: Request, watch: Watch | None = None) -> LinearizedRun:
    """Run the program to differentiate its result, by the names of the request or of `watch`."""
    watch = loaded.watch(request.wrt) if watch is None else watch
    done = loaded.execute(request.given, request.options, watch)
    name, output = loaded.float_output(done, request.of)
    names = differentiated(loaded.program, done.session, watch, done.values)
    session = done.session
    points = {session.watchpoints[n][0]: session.points[n] for n in names}
    line = Linearized([output], points)
    return LinearizedRun(loaded, request, done, watch, name, output, names, line)


def weights(session: Session, output: Any, cotangent: Any) -> Any:
    """Plain data of the weights of an output's elements: those given, or 1 for a single one.

    Raises:
        RunError: If none are given and the output has more elements.
        InputError: If those given do not fit; it says how they were given.
    """
    return _from_outside(session, cotangent, partial(seeds.starting_cotangent, output))


def _from_outside(session: Session, given: Any, fit: Callable[[Any], Any]) -> Any:
    """What a value from outside is fitted to; what is wrong with it says how it was given."""
    if not isinstance(given, Given):
        return fit(_value(session, given))
    try:
        return fit(_value(session, given.value))
    except GradError as error:
        for diagnostic in error.diagnostics:
            diagnostic.notes = (*diagnostic.notes, f"given as {given.origin}")
        raise InputError(*error.diagnostics) from None


def _value(session: Session, given: Any) -> Any:
    """A value from outside as the program would have it, or an array of numbers as a tensor."""
    if isinstance(given, Tensor) or not hasattr(given, "tolist"):
        return session.tensor(given)
    array = np.asarray(given)
    if array.dtype.kind in "bif" and array.ndim:
        return Tensor(array)
    return session.tensor(array.tolist())
