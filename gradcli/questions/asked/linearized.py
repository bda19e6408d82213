"""A finished run and its derivatives, on which all questions about derivatives depend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.report.values import plain_value
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor
from gradcli.errors import RunError
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.asked.seeds import cotangent_of, tangent_of
from gradcli.record import Record

Result = TypeVar("Result")


class LinearizedRun(Record):
    """A finished run with one of its results and the names to differentiate it by.

    Fields:
        loaded: The program.
        request: The request that the run answers.
        done: The finished run.
        watch: The names that it watched.
        name: The name of the result.
        output: Its value.
        names: The names to differentiate by.
        linearized: The derivatives of the result by them.
    """

    __slots__ = ("loaded", "request", "done", "watch", "name", "output", "names", "linearized")
    loaded: Loaded
    request: Request
    done: Done
    watch: Watch
    name: str
    output: Any
    names: list[str]
    linearized: Linearized

    @property
    def unused(self) -> list[str]:
        """The names that the result does not depend on."""
        unused = self.linearized.unused
        return [name for name in self.names if self.node(name) in unused]

    def node(self, name: str) -> Node:
        """The node of a name's value."""
        return self.done.session.watched.nodes[name]

    def by_name(self, derivatives: Mapping[Node, Any]) -> dict[str, Any]:
        """Derivatives by the names, as results hold them, from those by their nodes."""
        return {name: plain_value(Tensor(derivatives[self.node(name)])) for name in self.names}

    def cotangent(self) -> Any:
        """Plain data of the result's cotangent.

        Raises:
            RunError: If the request has none, and the result has more than one element.
        """
        try:
            return cotangent_of(self.output, self.request.cotangent)
        except RunError as error:
            first = error.diagnostics[0]
            first.source, first.span = self.loaded.place(self.request.of)
            raise

    def tangents(self) -> dict[Node, Any]:
        """Plain data of the request's tangents by the nodes of their names."""
        points = self.done.session.watched.points
        return {
            self.node(name): tangent_of(name, points[name], given)
            for name, given in self.request.tangents.items()
        }

    def result(self, kind: Callable[..., Result], **fields: Any) -> Result:
        """A result of a kind: these fields, and those that every kind has."""
        value, printed = plain_value(self.output), self.done.lines
        return kind(output=self.name, value=value, printed=printed, **fields)


def linearize(loaded: Loaded, request: Request, watch: Watch | None = None) -> LinearizedRun:
    """Run the program and linearize its result by the names of the request, or of `watch`."""
    watch = loaded.watch(request) if watch is None else watch
    done = loaded.execute(request.inputs, request.options, watch)
    name, output = loaded.float_output(done, request.of)
    names = loaded.differentiated(request, done, watch)
    return linearized_run(loaded, request, done, watch, name, output, names)


def linearized_run(
    loaded: Loaded,
    request: Request,
    done: Done,
    watch: Watch,
    name: str,
    output: Any,
    names: list[str],
) -> LinearizedRun:
    """A finished run with a result, linearized by some of the names that it watched."""
    watched = done.session.watched
    points = {watched.nodes[n]: watched.points[n] for n in names}
    linearized = Linearized([output], points)
    return LinearizedRun(loaded, request, done, watch, name, output, names, linearized)
