"""The codes of all diagnostics: one table. `python -m gradcli.codes` writes docs/commands.md's part
about them anew.
"""

from __future__ import annotations

from pathlib import Path

from gradcli.record import Record

PAGE = Path("docs/commands.md")
HEADING = "## Codes\n"


class Code(Record):
    """A code with what it means, in a line and in some sentences with the way out."""

    __slots__ = ("code", "meaning", "text")
    code: str
    meaning: str
    text: str


def _group(*rows: tuple[str, str, str]) -> tuple[Code, ...]:
    return tuple(Code(*row) for row in rows)


GROUPS = {
    "Before a run (status 3):": _group(
        (
            "bad-assignment",
            "the left side of `=` is nothing that can be assigned",
            "Only a name, an item or slice such as `x[0]`, an attribute such as `w.grad`, or "
            "several of these with commas between them can stand on the left of `=`. For a "
            "comparison write `==`.",
        ),
        (
            "bad-attribute",
            "an attribute that no value has",
            "No tensor, module or own function of the language has an attribute or method of "
            "this name. `gradcli ops` lists the operations, most of which are methods, too.",
        ),
        (
            "bad-character",
            "a character that no program holds",
            "The character has no meaning outside strings and comments. Often it is a quote "
            "or a minus sign that a word processor made: write the plain one.",
        ),
        (
            "bad-class",
            "a class or a part of one that means nothing",
            "The body of a class holds its methods and attributes; one whose base is `Function` is "
            "an own differentiable function with the methods `forward` and `backward`. `super()` "
            "stands in a method.",
        ),
        (
            "bad-context",
            "`with` of what is no context",
            "Behind `with` stands `no_grad()` or its like, a call, or an object whose class has "
            "`__enter__` and `__exit__`.",
        ),
        (
            "bad-declaration",
            "an `input` or `param` in the wrong place, twice, or of an unknown type",
            "Inputs and params stand at the top level, before they are used, each name once. "
            "A type is `float`, `int` or `bool`, with sizes in brackets for a tensor: `input "
            "x: float[n]`.",
        ),
        (
            "bad-decorator",
            "a decorator that means nothing here",
            "`@staticmethod` stands before the methods of a class, `@no_grad()` before any "
            "function, and outside of classes whatever takes a function and gives one.",
        ),
        (
            "bad-encoding",
            "bytes that are not UTF-8 text",
            "Programs are read as UTF-8. Save the file in that encoding; `iconv` converts one.",
        ),
        (
            "bad-import",
            "an import of a module that is not there",
            "A program imports no files. Lines such as `import torch` are taken so that a "
            "program can be run by Python, too, and give the names that the language has "
            "anyway.",
        ),
        (
            "bad-indent",
            "a line whose indentation fits no block",
            "Lines of a block stand under each other, and the line after a block goes back to"
            " where an outer one stands. Tabs and blanks do not mix.",
        ),
        (
            "bad-number",
            "a number that cannot be read or held",
            "Ints are of 64 bits and floats of the double format; digits can be parted by "
            "single `_`. Write a larger number as a float: `1e20`.",
        ),
        (
            "bad-operand",
            "an operand that the operator can never take",
            "Whatever the values are, the operator has no meaning for such an operand, as `-`"
            " for a string. Numbers and tensors go with all arithmetic, strings with `+` and "
            "comparisons.",
        ),
        (
            "bad-string",
            "a string that is not closed or holds an unknown escape",
            "A string ends in the quote that it begins with, on the same line, or with three "
            "of them on a later one. A backslash before another character than those of "
            "Python's escapes is written twice.",
        ),
        (
            "builtin-as-value",
            "a built-in function where a value is needed",
            "The name of a built-in function stands in arithmetic, a condition or a list. "
            "Call it; or, if an input of this name is meant, give it a value.",
        ),
        (
            "duplicate-name",
            "a parameter or keyword that is given twice",
            "A function has each parameter once, and a call gives each argument once: either "
            "by its place or by its name.",
        ),
        (
            "misplaced-statement",
            "a `break`, `continue` or `return` outside its loop or function",
            "`break` and `continue` belong to the loop around them, `return` to a function. "
            "The program as a whole needs no `return`: its last expression is its result.",
        ),
        (
            "nested-too-deep",
            "more levels of expressions or blocks than a program may have; of lists in a "
            "value (status 5)",
            "The message has the limit, which hardly a program written by hand reaches. Give "
            "names to inner parts, or put them into functions.",
        ),
        (
            "not-callable",
            "a call of something that is no function",
            "What stands before the parentheses is a number, tensor or text. Perhaps a `*` is"
            " missing, or an assignment has hidden a function of the same name.",
        ),
        (
            "not-compilable",
            "a program, or a question about one, of which `--compile always` cannot make code",
            "Code is made of programs of numbers whose graph nobody looks at. The message says "
            "what stands against it, and where. `--compile auto`, the default, interprets such a "
            "program without a word; docs/compiled.md tells what compiles.",
        ),
        (
            "syntax-error",
            "text that is no program",
            "The text breaks off or goes on in a way that the grammar does not have; the "
            "message tells what could stand there. docs/language.md shows all forms.",
        ),
        (
            "unclosed-bracket",
            "a bracket without its partner",
            "Each of `(`, `[` and `{` needs its closing one in the right order. The message "
            "marks the bracket that was opened.",
        ),
        (
            "unknown-name",
            "a name that is never given a value",
            "Nothing assigns the name, it is no built-in, and the program declares its "
            "inputs, so that it is none either. Declare it with `input`, or correct its "
            "spelling.",
        ),
        (
            "unsupported",
            "a part of Python that is no part of the language",
            "The language is a part of Python that can be differentiated as a whole; this "
            "form is left out. docs/language.md tells what there is instead.",
        ),
        (
            "used-before-assigned",
            "a name that is read before anything is assigned to it",
            "The name gets a value in the program, but not on the way that leads here: later,"
            " in a branch that was not taken or in a loop that was not entered. Assign a "
            "first value before.",
        ),
        (
            "wrong-arity",
            "a call with too many, too few or unknown arguments",
            "The message tells what the function takes; `gradcli ops NAME` shows the "
            "signature of a built-in. `axis` and `keepdims` are taken for `dim` and "
            "`keepdim`.",
        ),
    ),
    "Warnings of `check` (status 1), which also tells what is under the other headings:": _group(
        (
            "branch-on-input",
            "a branch on what is differentiated; the gradient ignores a jump between its sides",
            "The derivative is that of the side that is taken. Where the sides meet without a"
            " jump it is right; otherwise it says nothing of the step, nor of when to change "
            "sides.",
        ),
        (
            "flat-operation",
            "an operation whose derivative is zero, on the gradient's path",
            "The operation is constant between its jumps, as `round` and `sign` are, so that "
            "no gradient passes it. Take a smooth one in its place, or leave it out of what "
            "is differentiated.",
        ),
        (
            "float-equality",
            "floats compared by `==` or `!=`",
            "Rounding makes floats differ that would be equal on paper. `isclose(a, b)` "
            "allows for it.",
        ),
        (
            "unused-name",
            "a name that is assigned and never read, or gets another value before it is",
            "The assignment has no effect. Perhaps a later line means this name and says another.",
        ),
    ),
    "Of the command line and the inputs (status 2 and 4):": _group(
        (
            "bad-input",
            "a value that is no constant expression, or nothing that the input can be",
            "Inputs are numbers, lists, and what arithmetic and built-in functions make of "
            "these, or a file behind `@`. The message tells how the value was given and what "
            "is wrong with it.",
        ),
        (
            "input-at-default",
            "an input that `--rows` does not give: a warning",
            "No column has its name, so every row has the default of the program. `NAME=VALUE` "
            "gives what is the same for all rows, and says so.",
        ),
        (
            "missing-input",
            "an input without a default that was not given",
            "Add `NAME=VALUE`, name a file of values with `-i`, or give the input a default "
            "in the program.",
        ),
        (
            "no-result",
            "the program does not end in an expression, and `--of` is not there",
            "A derivative needs a result. End the program in an expression, or name one of "
            "its values with `--of`.",
        ),
        (
            "numbers-in-quotes",
            "numbers that stand in quotes in the rows of `--rows`: a note",
            'JSON in which numbers are texts (`{"x": "1"}`), or a CSV that quotes every cell. They '
            "are taken as the numbers that they are; `-q` leaves the note out.",
        ),
        (
            "rows-left-out",
            "how many rows of `--rows` have no answer: a warning",
            "With `--on-error skip` and `ignore` a bad row is left out, its error told. `record` "
            "keeps its place in the results.",
        ),
        (
            "nothing-to-differentiate",
            "no param, input or float constant, and `--wrt` is not there",
            "Without `--wrt` the params count, else the inputs, else the constants of the top"
            " level that are floats, and there are none. Declare `param x = 1.0`, or name "
            "one.",
        ),
        (
            "unknown-input",
            "a value for a name that is no input",
            "Only declared inputs and params, and without any declaration names that are read"
            " and never assigned, can be given. What the program computes cannot.",
        ),
        (
            "unreadable-file",
            "a program that cannot be read",
            "The file is not there, is a folder, or may not be read; the message has the "
            "reason of the system.",
        ),
        (
            "unwritable-output",
            "output that cannot be written",
            "The folder is not there, may not be written to, or the device is full. A file "
            "that was there before is as it was.",
        ),
        (
            "usage",
            "a wrong option or argument",
            "The command line cannot be understood or contradicts itself. `gradcli COMMAND "
            "--help` shows what the command takes.",
        ),
    ),
    "While running (status 5, if not told otherwise):": _group(
        (
            "ambiguous-condition",
            "a condition of more than one element",
            "`if`, `while`, `and`, `or` and `not` need one value. Reduce the tensor by "
            "`.all()` or `.any()`, or choose element by element with `where`.",
        ),
        (
            "assertion-failed",
            "an `assert` was false (status 1)",
            "The program's own condition does not hold; its text, if it has one, is the message.",
        ),
        (
            "backward-twice",
            "a second `backward` through freed buffers",
            "`backward` frees what it used. Call the first one with `retain_graph=True`, or "
            "compute the value anew.",
        ),
        (
            "bad-argument",
            "an argument that the operation cannot take",
            "The value is of the right kind, but out of what the operation is defined for. "
            "`gradcli ops NAME` tells what it takes.",
        ),
        (
            "bad-format",
            "a format that the value cannot be written in",
            "What stands behind the colon, as in `{x:.3f}`, is none of Python's formats, or "
            "not for such a value. A tensor of one element is formatted as its number.",
        ),
        (
            "bad-index",
            "an index of the wrong kind",
            "Indices are ints, slices, `None`, `...`, lists, and tensors of ints or bools.",
        ),
        (
            "changed-in-place",
            "a value that backward needs was changed since",
            "The derivative of an operation needs a value as it was, and a later line has "
            "changed it in place; the message names both. Make a new tensor instead, or "
            "change a `clone()`.",
        ),
        (
            "division-by-zero",
            "`//` or `%` by zero on ints",
            "Ints have no infinity or nan to give. Floats divide by zero as IEEE 754 has it.",
        ),
        (
            "dtype-mismatch",
            "dtypes that do not go together",
            "The operation needs tensors of one dtype, or of another than it got. Convert "
            "with `.double()`, `.float()`, `.long()` or `.to(dtype)`.",
        ),
        (
            "empty-reduction",
            "the largest or smallest of nothing",
            "A tensor without elements has a sum and a product, but no largest or smallest "
            "element.",
        ),
        (
            "index-out-of-range",
            "an index or dimension that is not there",
            "Indices go from 0 to the size less 1, negative ones count from the end; "
            "dimensions likewise.",
        ),
        (
            "integer-overflow",
            "an int beyond 64 bits",
            "Ints are of 64 bits and do not wrap around. Compute with floats: `2.0 ** 100`.",
        ),
        (
            "leaf-in-place",
            "a leaf that requires grad was changed in place outside `no_grad`",
            "The change would have to be recorded on a tensor that is where recording begins."
            " For a step of descent write `with no_grad():` around it; otherwise make a new "
            "tensor.",
        ),
        (
            "missing-extra",
            "an operation, a picture or a file for which a package is needed that is not installed "
            "(of a picture or a file to write status 2, of one to read 4)",
            "A few special functions take their values from SciPy, which `pip install "
            "'gradcli[special]'` installs; `gradcli plot` draws by what `pip install "
            "'gradcli[plot]'` installs; Parquet and Arrow files are read and written by what "
            "`pip install 'gradcli[fast]'` installs.",
        ),
        (
            "plots-left-out",
            "what a program draws with matplotlib's names: a warning",
            "A program opens no windows; what it prints is the same. `gradcli run --plots FOLDER` "
            "draws them into files, `gradcli plot` a result and its derivative over an input.",
        ),
        (
            "list-arithmetic",
            "`+` or `*` of lists of numbers, which are tensors there: a warning",
            "Python joins and repeats lists. So does the language where one is written in brackets "
            "(`[0.0] * n`, `l + [x]`) or holds anything but numbers; other lists of numbers are "
            "tensors under operators. `tensor(a) + b` says that, `[] + a + b` joins.",
        ),
        (
            "needs-cotangent",
            "a derivative of more than one number without a weight for each",
            "A gradient is of one number. Reduce the result, as by `sum`, or weigh its "
            "elements: with `--cotangent`, or as the argument of `backward`.",
        ),
        (
            "needs-float",
            "`requires_grad` on ints or bools",
            "Only floats have derivatives. Write `1.0` for `1`, or convert with `.double()`.",
        ),
        (
            "no-graph",
            "`backward` or `grad` of what depends on nothing that requires grad",
            "Nothing leads from this value to a leaf: none was made with "
            "`requires_grad=True`, or `detach` or `no_grad` stands between.",
        ),
        (
            "no-leaf",
            "the `variable` of an `AccumulateGrad` whose leaf is gone",
            "The graph keeps a leaf's node and not the leaf; this one is held by no name any more.",
        ),
        (
            "not-a-leaf",
            "`requires_grad` of a computed tensor was switched off",
            "Only of a leaf can it be switched. `detach()` gives a tensor outside the graph.",
        ),
        (
            "not-differentiable",
            "neither a number nor a tensor where a derivative is asked for",
            "Derivatives are of numbers and tensors of floats, by the same. A list of numbers"
            " becomes a tensor; text, tuples and functions do not.",
        ),
        (
            "not-iterable",
            "a loop or unpacking over a value without items",
            "Lists, ranges, text and tensors of at least one dimension have items. `range(n)`"
            " counts to a number.",
        ),
        (
            "nothing-recorded",
            "a graph was asked for and nothing is recorded: of `run --graph` a warning",
            "The result depends on nothing that is differentiated. Name an input with "
            "`--wrt`, or make a leaf with `requires_grad=True`.",
        ),
        (
            "overlapping-memory",
            "an in-place change of elements that share memory",
            "The tensor is a view in which one place in memory stands for several elements, "
            "as after `expand`. Change a `clone()` of it.",
        ),
        (
            "ragged-list",
            "a list whose rows differ in length, as a tensor",
            "A tensor is a full box of numbers: all lists of a level have the same length.",
        ),
        (
            "unhandled-exception",
            "an exception of the program that nothing handles",
            "`raise` ended the run, as no `except` around it takes an exception of this class. "
            "What a run refuses, such as an index out of range, can be handled by the name that "
            "Python has for it.",
        ),
        (
            "shape-mismatch",
            "shapes that do not fit (of an input: status 4)",
            "The operation cannot bring its arguments' shapes together, or an input has not "
            "the shape that is declared; the message has both. Sizes of 1 are stretched to "
            "any other.",
        ),
        (
            "no-item",
            "`next` of what has no further item",
            "What gives its items one by one has given them all; `next(i, other)` gives the other "
            "value then.",
        ),
        (
            "unknown-key",
            "a key that a dictionary does not have, or an item that a set does not have",
            "`d.get(key, other)` gives the other value where the key is missing, and `key in d` "
            "tells whether it is there.",
        ),
        (
            "unknown-attribute",
            "an attribute that this value does not have",
            "Other values have such an attribute or method, this one does not: a tensor has "
            "`.grad` and a number has not, say.",
        ),
        (
            "unrecorded-view",
            "a view made under `no_grad` shows a change that is recorded",
            "The view is a constant and its base is not, so that nobody can tell what a change "
            "of the one means for the other. Make the view outside of `no_grad`, or a `clone()` "
            "of it inside.",
        ),
        (
            "unused-input",
            "the result does not depend on an input: a warning of the commands and of "
            "`check`, an error of `grad(y, x)`",
            "The derivative is zero, whatever the values. Perhaps `detach`, `no_grad` or a "
            "name assigned anew stands between. `grad(y, x, allow_unused=True)` gives None "
            "instead.",
        ),
        (
            "wrong-count",
            "the wrong number of values to unpack or of gradients",
            "As many names as values stand on the two sides of an unpacking, and as many "
            "gradients as outputs go into `grad`.",
        ),
        (
            "wrong-rule",
            "an own derivative rule that returns the wrong number or shape",
            "`backward` returns one gradient for each argument of `forward`, shaped as it, or"
            " None for one without a derivative.",
        ),
        (
            "wrong-type",
            "a value of the wrong kind (of an input: status 4)",
            "The operation or the declaration is about another kind of value; the message "
            "names both.",
        ),
        (
            "wrong-derivative",
            "a check of derivatives fails: in a program, or with `gradcheck --rows` (status 1)",
            "The rows are those with FAIL in the column `verdict`, which shows the worst check. "
            "`gradcli gradcheck` with the values of one of them tells all. In a program "
            "`gradcheck` and `gradgradcheck` fail so unless `raise_exception=False`.",
        ),
        (
            "non-finite",
            "a result or gradient is nan or infinite: a warning, an error with `--check-nan`",
            "The message names the first operation from which it comes. Often it is a "
            "logarithm or root at 0, a quotient by 0, or an exponential that is too large.",
        ),
    ),
    "Limits (status 6) and the rest:": _group(
        (
            "memory",
            "memory ran out",
            "The system has no more memory for the process. Recording keeps what derivatives "
            "need: take fewer steps at a time, or smaller tensors.",
        ),
        (
            "memory-limit",
            "more memory than `--max-memory` allows, by default 80 % of what is free",
            "A value that cannot fit is refused before it is made; values and recorded graph "
            "together are looked at while the program runs. A Jacobian has the elements of the "
            "result times those of the inputs: `vjp` and `jvp` need no more than these. A loop "
            "under `no_grad` records nothing.",
        ),
        (
            "step-limit",
            "more turns of loops and calls than `--max-steps` allows",
            "Each turn of a loop is a step and so is each call of a function of the program, "
            "whoever calls it, in each run of the program by itself. Without the option, or "
            "`--safe`, there is no such limit.",
        ),
        (
            "time-limit",
            "more time than `--time-limit` allows",
            "The time is that of a question, derivatives included; with `--rows` that of each row. "
            "A loop that does not end is the usual reason: the message names it, and with "
            "`--verbose` the turn and the last values.",
        ),
        (
            "work-limit",
            "an operation on a view of more elements than memory could hold",
            "A view such as `expand` makes takes no memory, however large it pretends to be, but "
            "going through it takes time for each element. Reduce before you expand: the sum of "
            "`x.expand(n)` is `n * x`.",
        ),
        (
            "worker-lost",
            "a process of `--jobs` ended before its work, as by want of memory",
            "Something outside ended one of the processes that share the rows. Take fewer jobs.",
        ),
        (
            "recursion-limit",
            "functions call each other more deeply than `--max-depth` allows, 1000 by default",
            "Mostly a function calls itself without an end to it. A loop has no such limit. Values "
            "that hold each other, and transforms of transforms, can be too deep, too.",
        ),
        (
            "code-made",
            "a note of `--verbose`: code was made of the program",
            "It says in how many milliseconds, and whether it is machine code or Python code. The "
            "answers are the same.",
        ),
        (
            "bug",
            "a bug in gradcli (status 70)",
            "The fault is in gradcli itself. Please report it with the program and the command; "
            "`--verbose` shows where it was.",
        ),
    ),
}
"""The codes by where they come up, in the order of the page."""

CODES = {row.code: row for rows in GROUPS.values() for row in rows}


def section() -> str:
    """The page's part about codes."""
    parts = [HEADING]
    for heading, rows in GROUPS.items():
        lines = [f"| `{row.code}` | {row.meaning} |\n" for row in rows]
        parts.append(f"{heading}\n\n| code | meaning |\n|---|---|\n{''.join(lines)}")
    return "\n".join(parts)


if __name__ == "__main__":
    before, _, _ = PAGE.read_text("utf-8").partition(HEADING)
    PAGE.write_text(before + section(), "utf-8")
