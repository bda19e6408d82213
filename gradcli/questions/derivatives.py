"""The questions for values and derivatives: one method each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.errors import Diagnostic, UsageError
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Options, Request, request
from gradcli.questions.asking import Asking, Result, question_of
from gradcli.results import (
    ElasticityResult,
    GradResult,
    HessianResult,
    HvpResult,
    JacobianResult,
    JvpResult,
    RunResult,
    Several,
    SparseHessianResult,
    SparseJacobianResult,
    ValueResult,
    VjpResult,
)


class Derivatives(Asking):
    """A program that is asked for values and derivatives."""

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **named: Any,
    ) -> RunResult:
        """Run the program.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.run import run

        return self._ask(run, request(inputs, named, options))

    def grad(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        options: Options | None = None,
        **named: Any,
    ) -> GradResult:
        """Value of the result and its gradient.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            wrt: Names to differentiate with respect to; None: the params, or else what
                docs/language.md says.
            of: Top-level name to differentiate; None: the program's result.
            cotangent: Weight of each element of a result that is not scalar.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.gradient import gradient

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask(gradient, asked)

    def elasticity(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        options: Options | None = None,
        **named: Any,
    ) -> ElasticityResult:
        """Value of the result, its gradient, and the per cent by which it changes if a number
        changes by one per cent. Arguments as of `grad`.
        """
        from gradcli.questions.answers.elasticity import elasticity

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask(elasticity, asked)

    def value(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> ValueResult:
        """Value of the result alone; no derivative is computed. Arguments as of `grad`."""
        from gradcli.questions.answers.value import value

        return self._ask(value, request(inputs, named, options, of=of))

    def vjp(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        cotangent: Any = None,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> VjpResult:
        """Product of a cotangent with the Jacobian: the gradient of the result weighed by it.
        Arguments as of `grad`.
        """
        from gradcli.questions.answers.product import vjp

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask(vjp, asked)

    def jvp(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tangents: Mapping[str, Any],
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> JvpResult:
        """Product of the Jacobian with a direction, by forward mode.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            tangents: The direction by name, shaped as the names' values; zero by the others.
            of: Top-level name to differentiate; None: the program's result.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.product import jvp

        return self._ask(jvp, request(inputs, named, options, of=of, tangents=tangents))

    def jacobian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> JacobianResult:
        """Value of the result and its Jacobian. Arguments as of `grad`; `mode` is "forward",
        "reverse", or "auto" for the one of fewer directions.
        """
        from gradcli.questions.answers.matrix import jacobian

        asked = request(inputs, named, options, wrt=wrt, of=of, mode=mode)
        return self._ask(jacobian, asked)

    def sparse_jacobian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> SparseJacobianResult:
        """Value of the result and the entries of its Jacobian that may differ from zero. Arguments
        as of `grad`; `mode` is "forward", "reverse", or "auto" for the one of fewer products.
        """
        from gradcli.questions.answers.sparse import sparse_jacobian

        asked = request(inputs, named, options, wrt=wrt, of=of, mode=mode)
        return self._ask_sparse(sparse_jacobian, asked, 1)

    def hessian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        diagonal: bool = False,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> HessianResult:
        """Value, gradient and second derivatives of the result. Arguments as of `grad`; with
        `diagonal` only the second derivatives by one element twice. `mode` tells how the gradient
        is differentiated: "forward", "reverse", or "auto" for the one that costs less.
        """
        from gradcli.questions.answers import matrix

        question = matrix.hessian_diagonal if diagonal else matrix.hessian
        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent, mode=mode)
        return self._ask(question, asked)

    def sparse_hessian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        mode: str = "reverse",
        options: Options | None = None,
        **named: Any,
    ) -> SparseHessianResult:
        """Value and gradient of the result, and the entries of its second derivatives that may
        differ from zero. Arguments as of `grad`; the only `mode` is "reverse".

        Raises:
            UsageError: If another mode is asked for.
        """
        from gradcli.questions.answers.sparse import sparse_hessian

        if mode != "reverse":
            message = f"sparse second derivatives are found in reverse mode, not {mode}"
            raise UsageError(Diagnostic("usage", message, help="leave out the mode"))
        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask_sparse(sparse_hessian, asked, 2)

    def hvp(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tangents: Mapping[str, Any],
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> HvpResult:
        """Value, gradient, and the product of the Hessian with a direction. Arguments as of
        `hessian` and, for the direction, of `jvp`. `wrt` names the wanted rows of the product;
        without it these are the names of `grad` and those of the direction.
        """
        from gradcli.questions.answers.product import hvp

        weighed = {"wrt": wrt, "of": of, "cotangent": cotangent}
        asked = request(inputs, named, options, tangents=tangents, mode=mode, **weighed)
        return self._ask(hvp, asked)

    def several(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        question: str,
        of: Sequence[str],
        options: Options | None = None,
        **asked: Any,
    ) -> Several:
        """The answers to one question about several results of one run.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            question: The method that asks it of one: "grad", "vjp", "jvp", "jacobian", "hessian" or
                "hvp".
            of: Top-level names.
            options: How to run.
            **asked: What else the method is asked.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.several import several

        found = question_of(question, asked.pop("diagonal", False))
        assert found is not None, f"`{question}` is about no result"
        asked = {field: value for field, value in asked.items() if value is not None}
        about = request(inputs, {}, options, **asked)
        answers = self.limited.ask(several(found, of), about)
        for answer in answers.answers:
            self._shown(answer, about.inputs)
        return answers

    def _ask_sparse(
        self, question: Callable[[Loaded, Request], Result], asked: Request, order: int
    ) -> Result:
        """The answer about the entries of first or second derivatives, as `_ask` gives it."""
        from gradcli.questions.coded.sparse_pattern import planned

        def answer(loaded: Loaded, asked: Request) -> Result:
            about = asked.changed(question=planned(loaded, asked, order))
            found: Result = self.jit.answer(question, about)
            return found

        return self._shown(self.limited.ask(answer, asked), asked.inputs)
