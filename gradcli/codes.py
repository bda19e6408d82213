"""The table of all codes of diagnostics. `python -m gradcli.codes` updates docs/commands.md."""

from __future__ import annotations

from pathlib import Path

from gradcli.record import Record

PAGE = Path("docs/commands.md")
HEADING = "## Codes\n"


class Code(Record):
    """A code with its meaning in a line, and a text with reasons and remedies."""

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
            "the left side of `=` cannot be assigned to",
            "The left side of `=` can be a name, an item or slice such as `x[0]`, an attribute "
            "such as `w.grad`, or several of these separated by commas. For a comparison write "
            "`==`.",
        ),
        (
            "bad-attribute",
            "an attribute that no value has",
            "No tensor, module or own function has an attribute or method of this name. `gradcli "
            "ops` lists the operations; most of them are methods, too.",
        ),
        (
            "bad-character",
            "a character that has no meaning in a program",
            "The character is allowed only in strings and comments, or nowhere. Often it is a "
            "quote or a minus sign from a word processor: replace it by the plain one.",
        ),
        (
            "bad-class",
            "a class, or a part of one, that is not supported",
            "The body of a class may hold methods and attributes only. A class whose base is "
            "`Function` is an own differentiable function with the methods `forward` and "
            "`backward`. `super()` works in methods only.",
        ),
        (
            "bad-context",
            "`with` and a value that is not a context",
            "`with` takes `no_grad()` and similar contexts, a call, or an object whose class has "
            "`__enter__` and `__exit__`.",
        ),
        (
            "bad-declaration",
            "an `input` or `param` in the wrong place, twice, or of an unknown type",
            "Declare inputs and params at the top level, before they are used, each name once. A "
            "type is `float`, `int` or `bool`, with sizes in brackets for a tensor: `input x: "
            "float[n]`.",
        ),
        (
            "bad-decorator",
            "a decorator that is not supported here",
            "`@staticmethod` belongs before methods of a class, and `@no_grad()` before any "
            "function. Other decorators are functions that take a function and return a value.",
        ),
        (
            "bad-encoding",
            "bytes that are not UTF-8 text",
            "Programs must be UTF-8. Save the file in that encoding, or convert it with `iconv`.",
        ),
        (
            "bad-import",
            "an import of an unknown module",
            "A program imports no files. Lines such as `import torch` are accepted, so that Python "
            "can run the program, too; they name what the language has anyway.",
        ),
        (
            "bad-indent",
            "a line whose indentation fits no block",
            "All lines of a block have the same indentation. The line after a block has that of an "
            "outer block. Do not mix tabs and blanks.",
        ),
        (
            "bad-notebook",
            "a notebook or page that cannot be read as one",
            "The file is to be JSON of a notebook of format 4: an object with `nbformat` and a "
            "list of `cells`. `jupyter nbconvert --to notebook` writes older notebooks anew. A "
            "page of Markdown needs a block of code that is marked `python` or `grad`.",
        ),
        (
            "bad-number",
            "a number that cannot be read or represented",
            "Ints have 64 bits, floats are doubles; single `_` may separate digits. Write a larger "
            "number as a float: `1e20`.",
        ),
        (
            "bad-operand",
            "an operand that the operator never takes",
            "The operator has no meaning for such an operand, as `-` for a string. Numbers and "
            "tensors work with all arithmetic operators, strings with `+` and comparisons.",
        ),
        (
            "bad-string",
            "a string that is not closed, or has an unknown escape",
            "A string ends with the quote that it begins with, on the same line; one with three "
            "quotes may end on a later line. Double a backslash that begins none of Python's "
            "escapes.",
        ),
        (
            "builtin-as-value",
            "a built-in function in place of a value",
            "The name of a built-in function is an operand, a condition or an item. Call the "
            "function; or, if you mean an input of this name, give it a value.",
        ),
        (
            "duplicate-name",
            "a parameter or argument that is given twice",
            "A function has each parameter once, and a call gives each argument once: either by "
            "position or by name.",
        ),
        (
            "misplaced-statement",
            "a `break`, `continue` or `return` outside its loop or function",
            "`break` and `continue` belong in a loop, `return` in a function. The program itself "
            "needs no `return`: its last expression is its result.",
        ),
        (
            "nested-too-deep",
            "too many nested expressions or blocks; too many nested lists in a value (status 5)",
            "The message has the limit, which programs written by hand rarely reach. Give names to "
            "inner parts, or put them into functions.",
        ),
        (
            "not-callable",
            "a call of a value that is not a function",
            "The value before the parentheses is a number, a tensor or a text. Perhaps a `*` is "
            "missing, or an assignment hides a function of the same name.",
        ),
        (
            "not-compilable",
            "a program or question that `--compile always` or `export` cannot make code of",
            "The message has the reason, and the place in the program. `--compile auto`, the "
            "default, interprets such a program without a message. docs/compiled.md describes the "
            "programs that compile.",
        ),
        (
            "syntax-error",
            "text that is not a program",
            "The text ends too early, or continues in a way that the grammar does not allow. The "
            "message shows what is expected there. docs/language.md shows all forms.",
        ),
        (
            "unclosed-bracket",
            "a bracket without its partner",
            "Each of `(`, `[` and `{` needs its closing bracket, in the right order. The message "
            "marks the opening one.",
        ),
        (
            "unknown-name",
            "a name that never gets a value",
            "Nothing assigns the name, it is not a built-in, and the program declares its inputs "
            "without it. Declare it with `input`, or correct its spelling.",
        ),
        (
            "unsupported",
            "a part of Python that the language lacks",
            "The language is the part of Python that can be differentiated as a whole. "
            "docs/language.md shows the alternatives.",
        ),
        (
            "used-before-assigned",
            "a name that is read before it is assigned",
            "The program assigns the name, but not on the path that leads here: only later, in a "
            "branch that was not taken, or in a loop that was not entered. Assign a first value "
            "before.",
        ),
        (
            "wrong-arity",
            "a call with too many, too few or unknown arguments",
            "The message has the parameters of the function; `gradcli ops NAME` shows the "
            "signature of a built-in. `axis` and `keepdims` are accepted for `dim` and `keepdim`.",
        ),
    ),
    "Warnings of `check` (status 1), which also reports codes of the other groups:": _group(
        (
            "branch-on-input",
            "a branch on a differentiated value; the gradient ignores a jump between its sides",
            "The derivative is that of the side that is taken. It is right if the sides meet "
            "without a jump. Otherwise it contains neither the jump nor a change of its place.",
        ),
        (
            "flat-operation",
            "an operation with derivative zero between an input and the result",
            "The operation is constant between its jumps, like `round` and `sign`, so no gradient "
            "passes through it. Replace it by a smooth one, or do not differentiate by inputs that "
            "reach the result only through it.",
        ),
        (
            "float-equality",
            "floats compared with `==` or `!=`",
            "Rounding makes floats differ that are equal in exact arithmetic. `isclose(a, b)` "
            "allows for it.",
        ),
        (
            "unused-name",
            "a name that is never read, or gets another value first",
            "The assignment has no effect. Perhaps a later line means this name but has another "
            "one.",
        ),
    ),
    "Errors of the command line and the inputs (status 2 and 4):": _group(
        (
            "bad-input",
            "a value that is not a constant expression, or that the input cannot take",
            "Inputs are numbers, lists, results of arithmetic and built-in functions on these, or "
            "a file after `@`. The message shows the value and the fault.",
        ),
        (
            "bad-question",
            "a question to `gradcli serve` that cannot be understood",
            "A question is a JSON object on one line, with a `question` such as `grad`, the name "
            "of a `program` if several are served, and values in `inputs`. The message names the "
            'field that is wrong; `{"question": "describe"}` lists the programs, their inputs '
            "and the questions.",
        ),
        (
            "input-at-default",
            "an input that `--rows` does not give: a warning",
            "No column has the input's name, so every row uses the program's default. `NAME=VALUE` "
            "gives a value for all rows, without the warning.",
        ),
        (
            "missing-input",
            "an input without a value and a default",
            "Add `NAME=VALUE`, name a file of values with `-i`, or give the input a default in the "
            "program.",
        ),
        (
            "no-result",
            "a program that does not end in an expression, without `--of`",
            "A derivative needs a result. End the program with an expression, or name one of its "
            "values with `--of`.",
        ),
        (
            "numbers-in-quotes",
            "numbers in quotes in the rows of `--rows`: a note",
            'The rows are JSON with numbers as texts (`{"x": "1"}`), or a CSV that quotes every '
            "cell. They count as numbers; `-q` suppresses the note.",
        ),
        (
            "rows-left-out",
            "the number of rows of `--rows` without an answer: a warning",
            "`--on-error skip` and `ignore` leave a bad row out and report its error. `record` "
            "keeps a place for it in the results.",
        ),
        (
            "nothing-to-differentiate",
            "no param, input or float constant, and no `--wrt`",
            "Without `--wrt`, gradcli differentiates by the params, else by the inputs, else by "
            "the leaves that top-level names hold at the end, and in a program without leaves by "
            "the float constants; the result depends on none of them. Declare `param x = 1.0`, or "
            "use `--wrt`.",
        ),
        (
            "decimal-comma",
            "a value with a comma, which is two numbers: a warning",
            "`x=1,5` is the two numbers 1 and 5, as in Python. A decimal is `x=1.5`; a list is "
            "`x='[1,5]'`. For tables there is `--decimal ,`.",
        ),
        (
            "bad-covariance",
            "covariances or correlations that no numbers can have",
            "A matrix of covariances is symmetric and has no negative eigenvalue; a correlation is "
            "from -1 to 1, between two inputs that have an uncertainty. Three correlations can "
            "contradict each other: `x` and `y` cannot both be like `z` and unlike each other. "
            "Monte Carlo draws correlated inputs if they are normal.",
        ),
        (
            "no-uncertainty",
            "`propagate` without an uncertainty",
            "At least one input needs an uncertainty: `V=5.0+/-0.1`, `--uncertainty V=2%`, a "
            "covariance by `--covariance FILE`, or `-i FILE` with the JSON of a fit.",
        ),
        (
            "not-linear",
            "a result that is not linear within the uncertainty: a warning",
            "The uncertainty of first order takes the result for a straight line, that of second "
            "order for a parabola. The warning comes if they differ by more than 5 %, if the mean "
            "is away from the value by more than a tenth of the uncertainty, or if the second "
            "order gives no variance. `--monte-carlo 1000000` simulates the result.",
        ),
        (
            "normal-coverage",
            "degrees of freedom that cannot be combined: a warning",
            "The formula of Welch and Satterthwaite combines degrees of freedom of independent "
            "uncertainties; a fitted covariance counts as one. Where an uncertainty with finite "
            "degrees of freedom is correlated with others, the coverage factor is that of the "
            "normal distribution.",
        ),
        (
            "monte-carlo",
            "a simulation that disagrees with the law of propagation: a warning",
            "The ends of both intervals are farther apart than half a unit of the first digit of "
            "the uncertainty, or some draws give no number, as the logarithm of a negative one. "
            "The simulated interval is the better one. With `--strict` the exit status is 1.",
        ),
        (
            "plus-minus",
            "a value such as `20+-0.2`, which is a sum: a warning",
            "`x=20+-0.2` is Python's 20 + (-0.2), 19.8. A value with an uncertainty is written "
            "`20+/-0.2`, and the number alone `20`.",
        ),
        (
            "outside-bounds",
            "a value outside of the bounds that the program declares: a warning",
            "`param k: float in [0, 10] = 0.1` declares bounds, which hold for `fit`. Other "
            "commands take any value and warn once.",
        ),
        (
            "ambiguous-name",
            "a name that is a column of the data and something else (4; 2 in an option; a note if "
            "only a built-in has it)",
            "In a fit each name means one thing: a parameter, a column or a constant. `--map "
            "other=name` gives a column another name.",
        ),
        (
            "nothing-to-fit",
            "no parameter to estimate (2)",
            "`gradcli fit` estimates the params of a program. In a program without declarations "
            "these are the free names that have a value, as in `a=2 k=0.1`.",
        ),
        (
            "groups-left-out",
            "groups of `--by` without a fit: a warning (the status is 4)",
            "`--on-error skip` leaves out groups that cannot be fitted, for example for too few "
            "records. `--on-error record` gives each a record with its error.",
        ),
        (
            "too-few-records",
            "fewer records than parameters",
            "So few records fit any values. Hold parameters with `--fix`, or use a smaller model.",
        ),
        (
            "unused-uncertainty",
            "a value with an uncertainty that is not used: a warning",
            "`x=20+/-0.2` is 20 with an uncertainty of 0.2. This command takes the 20; `gradcli "
            "propagate` uses both.",
        ),
        (
            "unknown-input",
            "a value for a name that is not an input",
            "Values can be given for inputs, params and top-level constants; in a program without "
            "declarations, also for names that it reads and never assigns. Computed names take no "
            "value.",
        ),
        (
            "unreadable-file",
            "a program that cannot be read",
            "The file does not exist, is a folder, or may not be read; the message has the "
            "system's reason.",
        ),
        (
            "unwritable-output",
            "output that cannot be written",
            "The folder does not exist or may not be written to, or the device is full. An "
            "existing file is unchanged.",
        ),
        (
            "usage",
            "a wrong option or argument",
            "The command line has an error or contradicts itself. `gradcli COMMAND --help` shows "
            "the command's options.",
        ),
    ),
    "Errors during a run (status 5 unless given):": _group(
        (
            "ambiguous-condition",
            "a condition of more than one element",
            "`if`, `while`, `and`, `or` and `not` need a single value. Reduce the tensor with "
            "`.all()` or `.any()`, or choose element by element with `where`.",
        ),
        (
            "assertion-failed",
            "an `assert` that is false (status 1)",
            "The program's own condition is false; the message is the assertion's text, if it has "
            "one.",
        ),
        (
            "backward-twice",
            "a second `backward` through freed buffers",
            "`backward` frees the values that it used. Call the first one with "
            "`retain_graph=True`, or compute the value again.",
        ),
        (
            "bad-argument",
            "an argument that the operation cannot take",
            "The argument has the right type, but lies outside the operation's domain. `gradcli "
            "ops NAME` describes the arguments.",
        ),
        (
            "bad-format",
            "a format that does not fit the value",
            "The text after the colon, as in `{x:.3f}`, is not one of Python's formats for such a "
            "value. A tensor of one element is formatted like its number.",
        ),
        (
            "bad-index",
            "an index of the wrong type",
            "Indices are ints, slices, `None`, `...`, lists, and tensors of ints or bools.",
        ),
        (
            "changed-in-place",
            "a value that backward needs has been changed since",
            "The derivative of an operation needs a saved value, and a later line has changed it "
            "in place; the message shows both. Make a new tensor instead, or change a `clone()`.",
        ),
        (
            "division-by-zero",
            "`//` or `%` of ints by zero",
            "Ints have no infinity or nan for the result. Floats divide by zero as in IEEE 754.",
        ),
        (
            "dtype-mismatch",
            "dtypes that do not fit together",
            "The operation needs tensors of one dtype, or of another dtype. Convert with "
            "`.double()`, `.float()`, `.long()` or `.to(dtype)`.",
        ),
        (
            "empty-reduction",
            "the largest or smallest element of an empty tensor",
            "A tensor without elements has a sum and a product, but no largest or smallest "
            "element.",
        ),
        (
            "index-out-of-range",
            "an index or dimension out of range",
            "Indices go from 0 to the size less 1; negative ones count from the end. The same "
            "holds for dimensions.",
        ),
        (
            "integer-overflow",
            "an int beyond 64 bits",
            "Ints have 64 bits and do not wrap around. Compute with floats: `2.0 ** 100`.",
        ),
        (
            "inference-tensor",
            "a tensor of inference mode is changed in place or saved for a gradient outside of it",
            "Such a tensor keeps no count of its changes. Take a `clone()` of it, or write "
            "`no_grad` in place of `inference_mode`.",
        ),
        (
            "leaf-in-place",
            "a leaf that requires grad was changed in place outside `no_grad`",
            "Recording begins at a leaf, so a change of it cannot be recorded. Put a descent step "
            "into `with no_grad():`; otherwise make a new tensor.",
        ),
        (
            "missing-extra",
            "a package for an operation, a picture or a file is not installed (status 2 for a "
            "picture or a file to write, 4 for a file to read)",
            "`pip install 'gradcli[special]'` installs SciPy for some special functions, `pip "
            "install 'gradcli[fit]'` the same for `gradcli fit`, `pip install 'gradcli[plot]'` "
            "the packages with which `gradcli plot` draws, `pip install 'gradcli[fmt]'` ruff for "
            "`gradcli fmt`, `pip install 'gradcli[lsp]'` pygls for `gradcli lsp`, `pip install "
            "'gradcli[prompt]'` prompt_toolkit for `gradcli repl`, and `pip install "
            "'gradcli[fast]'` pyarrow for Parquet and Arrow files.",
        ),
        (
            "not-formatted",
            "a program that `gradcli fmt` leaves as it is, because ruff's layout would change it "
            "(status 3)",
            "Of strings at the beginning of a program, function or class, ruff changes blanks. If "
            "such a string is a result, give it a name: `text = '...'`. Comments may also stand "
            "where ruff cannot keep them. `# fmt: off` protects the lines behind it.",
        ),
        (
            "line-passed-over",
            "lines of a notebook that are no Python: a warning",
            "Lines that begin with `%`, `!` or `?`, and cells of other languages, are commands of "
            "Jupyter. `gradcli run` leaves them out and says so once. The code of a `%%time` cell "
            "is run.",
        ),
        (
            "output-differs",
            "a cell whose output is not the stored one (status 1)",
            "`--expect` compares what each cell prints and shows with the output that the file "
            "has. The message shows the first line that differs. If the new output is right, "
            "`gradcli run lesson.ipynb -o lesson.ipynb` stores it.",
        ),
        (
            "plots-left-out",
            "plots of a program that were not drawn: a warning",
            "A program opens no windows; its printed text is the same. `gradcli run --plots "
            "FOLDER` draws the plots into files; `gradcli plot` draws a result and its derivative "
            "over an input.",
        ),
        (
            "bitwise-power",
            "`^` with an int that looks like a power: a warning",
            "`^` is Python's exclusive or: `3 ^ 2` is 1. A power is `3 ** 2`. Write the int in "
            "hex, as in `flags ^ 0x2`, if bits are meant.",
        ),
        (
            "non-finite-start",
            "a model that is not finite where a fit begins",
            "A fit has to begin where the model and its derivatives are finite at each record. "
            "Give other starts, or let `--starts 20` look for some.",
        ),
        (
            "not-converged",
            "a fit whose search ended before the least sum: a warning (status 1)",
            "The estimates are the best that were met. The message has the reason. Try other "
            "starts, `--starts 20`, bounds, or more `--max-evaluations`.",
        ),
        (
            "not-told",
            "parameters of a fit that the data do not tell: a warning (status 1)",
            "Some change of these parameters leaves the model as it is at all records, as of `a` "
            "and `b` in `a * b * x`. Hold one of them, or write the model with fewer.",
        ),
        (
            "at-bound",
            "a parameter of a fit that ended at its bound: a warning",
            "The sum would be smaller beyond the bound. The parameter has no standard error, and "
            "the errors of others are those with it held.",
        ),
        (
            "not-found",
            "a search of `minimize` or `root` that found nothing: a warning (status 1)",
            "The message has the reason: the result falls without end, is nan at a point, has no "
            "root or no change of sign between two values. Try other starts, `--starts 20`, "
            "bounds, or more `--max-evaluations`. The best point that was met is printed.",
        ),
        (
            "no-sensitivity",
            "an answer whose movement cannot be told: a warning",
            "By the implicit function theorem the answer moves smoothly with other inputs where "
            "the Hessian of a minimum, or the Jacobian of a root, is not singular, and where no "
            "unknown is at a bound that it is about to leave. Elsewhere the sensitivity is null.",
        ),
        (
            "no-profile-end",
            "an interval of `--profile` without an end: a warning",
            "The least sum of squares with the parameter held does not rise by enough on that "
            "side, or the refits fail. The end is empty, null in JSON.",
        ),
        (
            "no-return",
            "a result that is None, as a function drops what it computes: a warning",
            "A function gives what `return` says, and None without one, as in Python. Here the "
            "last line of the function computes a value and drops it.",
        ),
        (
            "list-arithmetic",
            "`+` or `*` of lists of numbers, which become tensors: a warning",
            "Python joins and repeats lists. gradcli does so if one is written in brackets (`[0.0] "
            "* n`, `l + [x]`) or has an item that is not a number; other lists of numbers become "
            "tensors. Write `tensor(a) + b` to add, `[] + a + b` to join.",
        ),
        (
            "needs-cotangent",
            "a derivative of several numbers without a weight for each",
            "A gradient is that of one number. Reduce the result, for example with `sum`, or "
            "weight its elements: with `--cotangent`, or with the argument of `backward`.",
        ),
        (
            "needs-float",
            "`requires_grad` on ints or bools",
            "Only floats have derivatives. Write `1.0` for `1`, or convert with `.double()`.",
        ),
        (
            "no-graph",
            "`backward` or `grad` of a value that depends on nothing that requires grad",
            "No path leads from this value to a leaf: no tensor was made with "
            "`requires_grad=True`, or `detach` or `no_grad` cuts the path.",
        ),
        (
            "no-leaf",
            "the `variable` of an `AccumulateGrad` whose leaf is gone",
            "The graph keeps the node of a leaf, but not the leaf; no name holds this one any "
            "more.",
        ),
        (
            "not-a-leaf",
            "`requires_grad` of a computed tensor was switched off",
            "Only a leaf allows that. `detach()` returns a tensor outside the graph.",
        ),
        (
            "no-solution",
            "no solution of an equation, least point, integral or course of an ODE was found",
            "The message tells where the iteration stood and the residual there. Start nearer to "
            "the solution, or scale unknowns and equations so that they are near one. A minimum "
            "must exist, an integral must be finite. For a stiff differential equation, on which "
            "`odeint` needs too many steps, ask for fewer digits: `rtol=1e-4, atol=1e-6`.",
        ),
        (
            "not-differentiable",
            "a derivative of a value that is neither a number nor a tensor",
            "Derivatives are those of float numbers and tensors, by float numbers and tensors. A "
            "list of numbers becomes a tensor; text, tuples and functions do not.",
        ),
        (
            "not-iterable",
            "a loop or unpacking over a value without items",
            "Lists, ranges, text and tensors with at least one dimension have items. `range(n)` "
            "counts up to a number.",
        ),
        (
            "nothing-recorded",
            "a graph was asked for, but nothing is recorded; with `run --graph` a warning",
            "The result depends on no differentiated value. Name an input with `--wrt`, or make a "
            "leaf with `requires_grad=True`.",
        ),
        (
            "overlapping-memory",
            "an in-place change of elements that share memory",
            "The tensor is a view in which several elements share one place in memory, as after "
            "`expand`. Change a `clone()` of it.",
        ),
        (
            "ragged-list",
            "a list with rows of different lengths, as a tensor",
            "All lists at one level of a tensor must have the same length.",
        ),
        (
            "unhandled-exception",
            "an exception of the program that nothing handles",
            "`raise` ended the run, since no `except` around it takes an exception of this class. "
            "Errors of a run, such as an index out of range, can be handled under Python's name "
            "for them.",
        ),
        (
            "shape-mismatch",
            "shapes that do not fit (of an input: status 4)",
            "The operation cannot combine the shapes of its arguments, or an input does not have "
            "its declared shape; the message shows both. Sizes of 1 stretch to any other.",
        ),
        (
            "singular-derivative",
            "an equation that does not determine its solution, or a flat minimum",
            "The derivative of the equation by the unknowns is zero or singular at the solution, "
            "so the solution has no derivative: a multiple root, an equation that stands twice. A "
            "minimum needs a positive definite Hessian: a saddle and a flat valley are none.",
        ),
        (
            "no-item",
            "`next` of an iterator without a further item",
            "The iterator has returned all its items. `next(i, other)` returns the other value "
            "then.",
        ),
        (
            "unknown-key",
            "a key that a dictionary lacks, or an item that a set lacks",
            "`d.get(key, other)` returns the other value if the key is missing, and `key in d` "
            "tests for it.",
        ),
        (
            "unknown-attribute",
            "an attribute that this value does not have",
            "Values of another type have this attribute or method: a tensor has `.grad`, for "
            "example, and a number does not.",
        ),
        (
            "unrecorded-view",
            "a view made under `no_grad` whose base has a recorded change",
            "The view is a constant and its base is not, so the effect of a change on the other "
            "one is undefined. Make the view outside of `no_grad`, or a `clone()` of it inside.",
        ),
        (
            "unused-input",
            "the result does not depend on an input: a warning of the commands and of `check`, an "
            "error of `grad(y, x)`",
            "The derivative is zero for all values. Perhaps `detach`, `no_grad` or a second "
            "assignment cuts the path. `grad(y, x, allow_unused=True)` returns None instead.",
        ),
        (
            "view-in-place",
            "an in-place change of one of several results, or of a view from an own function",
            "Several results have one node, and the result of an own function has that function's "
            "derivative, so the base's history cannot take up the change. Take a part by an index, "
            "or change a `clone()`.",
        ),
        (
            "wrong-count",
            "the wrong number of values to unpack, or of gradients",
            "An unpacking needs as many names as values, and `grad` needs as many gradients as "
            "outputs.",
        ),
        (
            "wrong-rule",
            "an own derivative rule that returns the wrong number or shape",
            "`backward` returns one gradient for each argument of `forward`, in its shape, or None "
            "for an argument without a derivative.",
        ),
        (
            "wrong-type",
            "a value of the wrong type (of an input: status 4)",
            "The operation or the declaration needs a value of another type; the message names "
            "both.",
        ),
        (
            "wrong-derivative",
            "a check of derivatives fails: in a program, or with `gradcheck --rows` (status 1)",
            "The failing rows have FAIL in the column `verdict`, which shows the worst check. "
            "`gradcli gradcheck` with the values of one row shows all of its checks. In a program, "
            "`gradcheck` and `gradgradcheck` raise this error unless `raise_exception=False`.",
        ),
        (
            "non-finite",
            "a result or gradient is nan or infinite: a warning, an error with `--check-nan`",
            "The message names the first operation that causes it. Often it is a logarithm or root "
            "at 0, a quotient by 0, or an exponential that is too large.",
        ),
        (
            "pytorch-nan",
            "a warning of `grad --check-nan`: PyTorch's `backward` gives nan, gradcli a number",
            "Where a value has no part in the result, its cotangent is zero. PyTorch multiplies it "
            "by the infinite slope of a logarithm, root or quotient, which gives nan; gradcli "
            "passes zero on. The same program in PyTorch needs a guard inside of the operation.",
        ),
    ),
    "Limits (status 6) and the rest:": _group(
        (
            "memory",
            "memory ran out",
            "The system has no more memory for the process, or starts no further thread or "
            "process. Recording keeps the values that derivatives need: take fewer steps at a "
            "time, or smaller tensors.",
        ),
        (
            "memory-limit",
            "more memory than `--max-memory` allows, by default 80 % of what is free",
            "A value that does not fit is refused before it is made; the memory of all values and "
            "of the recorded graph is checked while the program runs. A Jacobian has as many "
            "elements as the result times the inputs: `vjp` and `jvp` need far fewer. A loop under "
            "`no_grad` records nothing.",
        ),
        (
            "step-limit",
            "more turns of loops and calls than `--max-steps` allows",
            "Each turn of a loop is a step, and so is each call of a function of the program. Each "
            "run of the program counts its own steps. Without the option or `--safe` there is no "
            "such limit.",
        ),
        (
            "time-limit",
            "more time than `--time-limit` allows",
            "The limit applies to a question, derivatives included; with `--rows` to each row. The "
            "usual reason is an endless loop: the message names it, and with `--verbose` the turn "
            "and the last values. A message without a place is that of a single operation which "
            "could not be stopped: the process was killed.",
        ),
        (
            "work-limit",
            "an operation on a view with more elements than memory could hold",
            "A view such as that of `expand` takes no memory, whatever its size, but an operation "
            "on it takes time for each element. Reduce before you expand: the sum of `x.expand(n)` "
            "is `n * x`.",
        ),
        (
            "worker-lost",
            "a process of `--jobs` or the workers of a part ended before their work was done, for "
            "example for lack of memory",
            "The system or another program ended one of the processes that share the rows. Use "
            "fewer jobs, or smaller parts. A part is handed to another worker three times.",
        ),
        (
            "cluster-joined",
            "the workers of `--cluster`, and the address of their dashboard: a note",
            "The dashboard is Dask's page, which shows what each worker does.",
        ),
        (
            "cluster-lost",
            "the scheduler of `--cluster` ended, or has no workers",
            "Parts that are done stay done: start the scheduler and its workers again, and give "
            "the same command.",
        ),
        (
            "parts-done",
            "how many parts of `--rows` are done in the folder of `-o`: a note",
            "The same command goes on with the other parts. `--restart` begins anew.",
        ),
        (
            "recursion-limit",
            "more nested calls of functions than `--max-depth` allows, 1000 by default",
            "Usually a function calls itself without an end. A loop has no such limit. Values that "
            "contain each other, and transforms of transforms, can be nested too deeply, too.",
        ),
        (
            "code-made",
            "the program was compiled: a note of `--verbose`",
            "The note has the time in milliseconds, and the kind: machine code or Python code. The "
            "answers are the same.",
        ),
        (
            "bug",
            "a bug in gradcli (status 70)",
            "The fault is in gradcli itself. Please report it with the program and the command; "
            "`--verbose` shows the place.",
        ),
    ),
}
"""The codes by the stage that reports them, in the order of the page."""

CODES = {row.code: row for rows in GROUPS.values() for row in rows}


def section() -> str:
    """The section of docs/commands.md about codes."""
    parts = [HEADING]
    for heading, rows in GROUPS.items():
        lines = [f"| `{row.code}` | {row.meaning} |\n" for row in rows]
        parts.append(f"{heading}\n\n| code | meaning |\n|---|---|\n{''.join(lines)}")
    return "\n".join(parts)


if __name__ == "__main__":
    before, _, _ = PAGE.read_text("utf-8").partition(HEADING)
    PAGE.write_text(before + section(), "utf-8")
