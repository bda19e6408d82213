"""The questions that code answers: functions of arrays, rows, batches, exported source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from gradcli.errors import Diagnostic, UsageError
from gradcli.questions.asked.request import Options, request
from gradcli.questions.asking import ROWS, Asking, listed, question_of
from gradcli.results import Derivative

if TYPE_CHECKING:
    from gradcli.questions.coded.compiled import Many
    from gradcli.questions.coded.repeated import Repeated
    from gradcli.questions.function import Function
    from gradcli.questions.sparse_function import SparseFunction


class ByCode(Asking):
    """A program as functions of arrays, rows, and source code."""

    def prepare(self) -> None:
        """Import what questions need, for processes that are forked from this one."""
        from gradcli.engine.values.data import np

        question_of("grad", False)
        np.zeros(1)  # its first use imports it

    def export(
        self,
        file: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | Sequence[str] | None = None,
        order: int = 1,
        mode: str = "auto",
        check: bool = False,
        by: str = "gradcli",
        options: Options | None = None,
        **named: Any,
    ) -> dict[str, str]:
        """The program and its derivatives as source code: the texts of files, by name.

        Args:
            file: The name of the file; its suffix tells the language: `.c`.
            inputs: Values by name, of which the types and sizes count; others have their defaults.
            wrt: Names to differentiate by, in the order of the function's parameters.
            of: Top-level names, None for the program's result.
            order: The highest order of derivatives: 0, 1 or 2.
            mode: "forward" or "reverse" for first derivatives, "auto" for the cheaper.
            check: True to write a test of the function, too, with answers at three points.
            by: Who has written the files, as they say.
            options: How to run the program for the defaults of its inputs.
            **named: More values by name.

        Raises:
            ProgramError: If the program has no source code; the message says why and where.
            UsageError: If the suffix of the file is unknown, or a name.
        """
        from gradcli.questions.exported.export import checked, export

        asked = request(inputs, named, options, wrt=wrt, mode=mode)
        if check:
            return checked(self, asked, listed(of) or [], order, file, by)
        return export(self.loaded, asked, listed(of) or [], order, file, by)

    @overload
    def compile(
        self,
        wrt: str | Sequence[str] | None = None,
        *,
        of: str | None = None,
        order: int = 1,
        sparse: Literal[False] = False,
    ) -> Function: ...

    @overload
    def compile(
        self,
        wrt: str | Sequence[str] | None = None,
        *,
        of: str | None = None,
        order: int = 1,
        sparse: Literal[True],
    ) -> SparseFunction: ...

    def compile(
        self,
        wrt: str | Sequence[str] | None = None,
        *,
        of: str | None = None,
        order: int = 1,
        sparse: bool = False,
    ) -> Function | SparseFunction:
        """The program as a function of arrays that gives value and derivatives, by code that is
        made once for each set of sizes.

        Args:
            wrt: The inputs to differentiate by; None: as of `grad`.
            of: Top-level name to differentiate; None: the program's result, a float or a list of
                them.
            order: 1 for the first derivative, 2 for the second as well, 0 for the value alone.
            sparse: True for the Jacobian, or with `order=2` the Hessian, as a sparse matrix.

        Raises:
            ProgramError: If it cannot be made into code; the message says why.
        """
        if sparse:
            from gradcli.questions.sparse_function import SparseFunction

            return SparseFunction(self, self.loaded, wrt, of, order)
        from gradcli.questions.function import Function

        return Function(self, self.loaded, wrt, of, order)

    def many(
        self,
        name: str,
        given: Mapping[str, Any],
        *,
        options: Options | None = None,
        **asked: Any,
    ) -> Many | None:
        """Code that answers a question for many sets of values of its inputs at once, if there is
        any by now. It gives None for those that have to be asked one by one.

        Args:
            name: The method that asks it.
            given: Values of the other inputs: numbers, or tensors of their shapes.
            options: How to run.
            **asked: What else the method is asked.
        """
        question = question_of(name, asked.pop("diagonal", False))
        if question is None:
            return None
        asked = {field: value for field, value in asked.items() if value is not None}
        about = request(given, {}, options, **asked)
        code = self.jit.code(question, about)
        if code is None:
            return None
        from gradcli.questions.coded.compiled import Many

        return Many(code, about, self.limited)

    def batch(
        self,
        name: str,
        columns: Mapping[str, Any],
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **asked: Any,
    ) -> Derivative:
        """The answers to a question at many values of some inputs, as one: its arrays have an axis
        of the values in front.

        Args:
            name: The method that asks it: "value", "grad", "vjp", "jvp", "jacobian", "hessian" or
                "hvp".
            columns: Lists or arrays by name, with an item for each value.
            inputs: Values by name that are the same for all.
            options: How to run.
            **asked: What else the method is asked.

        Raises:
            GradError: Of the kind of the failure, with the number of the value.
        """
        from gradcli.questions.batch import Batch

        about = options or Options()
        return Batch(self, name, inputs or {}, columns, about, asked).answer()

    def repeated(
        self,
        name: str,
        given: Mapping[str, Any],
        *,
        held: Collection[str] = (),
        options: Options | None = None,
        **asked: Any,
    ) -> Repeated | None:
        """A question as a function of the numbers of its inputs and directions, if there is code
        for it by now that can be one.

        Args:
            name: The method that asks it.
            given: Values of the inputs: numbers, or tensors of their shapes.
            held: The names of inputs that keep these values.
            options: How to run.
            **asked: What else the method is asked.
        """
        question = question_of(name, asked.pop("diagonal", False))
        if question is None:
            return None
        asked = {field: value for field, value in asked.items() if value is not None}
        about = request(given, {}, options, **asked)
        code = self.jit.code(question, about)
        if code is None:
            return None
        from gradcli.questions.coded.repeated import repeated

        return self.limited.within(about.options, lambda: repeated(code, about, self.loaded, held))

    def rows(
        self,
        table: Any,
        question: str = "run",
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **asked: Any,
    ) -> Any:
        """The answers to a question at every row of a table, as a table of the same kind. Compiled
        code gives them as far as it can.

        Args:
            table: A data frame of pandas or Polars, an Arrow table, arrays by name, or the path of
                a file with columns. Columns that are no inputs are ignored.
            question: A method that answers with values by name: "run", "grad", "jvp", "vjp",
                "jacobian", "hessian" or "hvp".
            inputs: Values that are the same for all rows.
            options: How to run.
            **asked: What else the method is asked, such as `wrt="k"`.

        Returns:
            The columns of the command's CSV, such as `result` and `grad.k`, one row for each of the
            table, in a table of its kind. Of a file arrays by name.

        Raises:
            GradError: As of the question at the first row that fails, whose number is in a note; or
                if no column is an input.
        """
        from gradcli.questions.table import Asked, answered

        if question_of(question, False) is None:
            message = f"`{question}` is no question for rows"
            raise UsageError(Diagnostic("usage", message, help=f"take {', '.join(ROWS)}"))
        return answered(Asked(self, question, inputs or {}, options or Options(), asked), table)
