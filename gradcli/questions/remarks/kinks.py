"""The operations that a run has evaluated at a corner, jump or tie; the run is done again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradcli.engine.autodiff.paths import reachable
from gradcli.engine.report import kinks as engine
from gradcli.engine.run.execution.observe import Moment, Moments, Recorded
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.data import Quiet
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.results import Kinked


def kinks(
    loaded: Loaded,
    request: Request,
    done: Done,
    watch: Watch,
    nodes: Callable[[Done], Iterable[Node]],
    pulled: Callable[[Done], Mapping[Node, Any]],
) -> tuple[Kinked, ...]:
    """The kinks at nodes of the graph.

    Args:
        loaded: The program.
        request: The question.
        done: Its finished run.
        watch: The names to differentiate by.
        nodes: Those that matter, of the run when it is done again.
        pulled: The cotangents of its nodes, none for a question without a pass back.
    """
    silent = done.silent(request.options.limits)
    recorded = Recorded()
    again = loaded.execute(request.inputs, silent, watch.keeping(), recorded)
    with Quiet():
        found = list(engine.kinks(nodes(again), pulled(again)))
    events = {id(kink.node): recorded.of(kink.node) for kink in found}
    moments = Moments({*events.values()} - {0}, loaded.source)
    if found:
        loaded.execute(request.inputs, silent, watch.keeping(), moments)
    return tuple(_told(loaded, k, moments.found.get(events[id(k.node)])) for k in found)


def below(values: Iterable[Any]) -> set[Node]:
    """The nodes from which values were made."""
    found = (node_of(x) for x in values if isinstance(x, Tensor))
    return reachable(node for node in found if node is not None)


def _told(loaded: Loaded, kink: engine.Kink, moment: Moment | None) -> Kinked:
    """A kink as plain data, named as the program says the operation."""
    source, site = loaded.source, kink.node.site
    span = moment.span if moment is not None else None if site is None else site.span
    line, column = (0, 0) if span is None else source.told(span.start)
    return Kinked(
        kink.node.op_name if moment is None else moment.name(source),
        line,
        column,
        kink.argument,
        kink.index,
        kink.at,
        kink.left,
        kink.right,
        kink.chosen,
        kink.jump,
        () if moment is None else moment.turns,
        kink.pytorch_nan,
    )
