"""One question about several results of a program, which runs once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.errors import ProgramError
from gradcli.questions.asked.loaded import Done, Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Options, Request, not_compiled
from gradcli.results import Derivative, Several

if TYPE_CHECKING:
    from gradcli.engine.run.execution.observe import Observer


def several(
    question: Callable[[Loaded, Request], Derivative], of: Sequence[str]
) -> Callable[[Loaded, Request], Several]:
    """The question that asks another one about each of these names."""

    def asked(loaded: Loaded, request: Request) -> Several:
        if request.options.compile == "always":
            raise ProgramError(
                not_compiled("several results are asked for", "ask for one with --of")
            )
        once = _RunOnce(loaded)
        return Several(tuple(question(once, request.changed(of=name)) for name in of))

    return asked


class _RunOnce(Loaded):
    """A program whose unobserved run is done once and shared by all who ask for it."""

    def __init__(self, loaded: Loaded) -> None:
        self.__dict__.update(loaded.__dict__)
        self._done: Done | None = None

    def execute(
        self,
        inputs: Mapping[str, Given],
        options: Options,
        watch: Watch,
        observer: Observer | None = None,
        **more: Any,
    ) -> Done:
        if observer is not None:
            return super().execute(inputs, options, watch, observer, **more)
        if self._done is None:
            self._done = super().execute(inputs, options, watch, **more)
        return self._done
