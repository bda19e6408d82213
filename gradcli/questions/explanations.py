"""The questions about how a result came about: graph, trace, plot, checks, stages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.errors import Diagnostic, GradError
from gradcli.questions.asked.request import Options, given_values, request
from gradcli.questions.asking import Asking
from gradcli.results import CheckResult, GradcheckResult, Graph, GraphResult

if TYPE_CHECKING:
    from gradcli.views import KnownValue, PlotResult, TraceResult


class Explanations(Asking):
    """A program that is asked how it runs, and whether its derivatives are right."""

    def graph(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        detailed: Callable[[Graph], Mapping[int, Collection[int]]] = lambda graph: {},
        options: Options | None = None,
        **named: Any,
    ) -> GraphResult:
        """The graph that the run recorded, with values and derivatives. Arguments as of `grad`.
        Without a result, it is the graph of the tensor that `backward` was called on last.
        `detailed` returns the nodes of a graph that need details, each with the nodes of its step.
        """
        from gradcli.questions.answers.graph import graph

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._shown(self.limited.ask(graph, asked, detailed), asked.inputs)

    def trace(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        tangents: Mapping[str, Any] | None = None,
        mode: str = "auto",
        every: bool = True,
        options: Options | None = None,
        **named: Any,
    ) -> TraceResult:
        """The elementary operations of the run with values, local partials and adjoints. Arguments
        as of `grad` and, for the direction, of `jvp`, with which tangents are told, too; `mode`
        "forward" tells these alone, along the only input where no direction is given. Without
        `every` one, the middle turns of long loops are left out.
        """
        from gradcli.questions.answers.trace import trace

        direction = tangents or {}
        asked = {"wrt": wrt, "of": of, "cotangent": cotangent, "tangents": direction, "mode": mode}
        about = request(inputs, named, options, **asked)
        return self._shown(self.limited.ask(trace, about, every), about.inputs)

    def plot(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        over: str,
        at: Sequence[float],
        of: str | Sequence[str] | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> PlotResult:
        """Value and derivative of results at many values of one input, and where they have kinks.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            over: The input, a number.
            at: Its values, in order.
            of: Top-level names; None: the program's result.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.plot import plot

        names = [of] if of is None or isinstance(of, str) else of
        given = given_values(inputs, named)
        asked = options or Options()
        loaded = self.loaded
        found = plot(self, given, over, at, names, asked, loaded.source, loaded.program)
        return self._shown(found, given)

    def gradcheck(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        order: int = 1,
        options: Options | None = None,
        **named: Any,
    ) -> GradcheckResult:
        """Compare derivatives with central differences and both modes with each other, and each
        own rule by itself. Arguments as of `grad`; `order` 2 checks second derivatives, too.
        """
        from gradcli.questions.answers.gradcheck import gradcheck

        asked = request(inputs, named, options, wrt=wrt, of=of)
        found = self.limited.ask(gradcheck, asked, order, self.jit.perturbed)
        return self._shown(found, asked.inputs)

    def check(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        **named: Any,
    ) -> CheckResult:
        """Findings of a walk on shapes and dtypes alone. Arguments as of `grad`."""
        from gradcli.questions.answers.check import check

        return check(self.loaded, request(inputs, named, wrt=wrt, of=of))

    def known_values(self) -> list[KnownValue]:
        """What is known before a run of the values in the program, by their places."""
        from gradcli.questions.answers.check import known_values

        return known_values(self.loaded, request({}, {}))

    def listing(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        **named: Any,
    ) -> str:
        """The program of ops as text, one line for each instruction, with the known facts of its
        result. Arguments as of `check`.
        """
        from gradcli.questions.answers.check import listing

        return listing(self.loaded, request(inputs, named, wrt=wrt))

    def stage(
        self,
        name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        mode: str = "auto",
        **named: Any,
    ) -> str:
        """The text of a stage of compiling the program.

        Args:
            name: "typed", "python" or "llvm".
            inputs: Values by name; only their shapes count.
            wrt: Names to differentiate with respect to. Without this, `of` and `mode`: none.
            of: Top-level name to differentiate; None: the program's result.
            mode: "forward" or "reverse" for the Jacobian, "auto" for the gradient.
            **named: More values by name.

        Raises:
            ProgramError: If there is no such stage; the message says why.
        """
        from gradcli.questions.coded.stages import stage

        options = Options(grad_fn=False)  # code does not know it
        asked = request(inputs, named, options, wrt=wrt, of=of, mode=mode)
        return stage(self.loaded, asked, name)

    def nan_in_pytorch(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        options: Options | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Warnings of the operations at which PyTorch's `backward` gives nan and `grad` a number. A
        run of more than 10,000 turns and calls has none. Arguments as of `grad`.
        """
        from gradcli.questions.answers.gradient import gradient
        from gradcli.questions.remarks.pytorch import silent, told

        quiet = silent(options or Options())
        asked = request(inputs, {}, quiet, wrt=wrt, of=of, cotangent=cotangent)
        try:
            found = self.limited.ask(gradient, asked)
        except GradError:  # of its limit
            return ()
        return told(self.source, found.kinks or ())
