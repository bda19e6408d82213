"""Every operator of the language on values of every kind: on Python's as Python does, on tensors as
PyTorch does. Where the language means something else, the tables below say why.
"""

import contextlib
import io
import json
import math
import re
from itertools import product

from support.processes.house import HOUSE, ROOT
from support.programs import operator_programs as programs

from gradcli.engine.run.language import operators
from gradcli.program import load

NAMES = {"nan": math.nan, "inf": math.inf}
RECORDED = json.loads((ROOT / "tests/run/reference/operators.json").read_text("utf-8"))
SCALARS = (bool, int, float)


def is_number(value):
    return type(value) in SCALARS


def is_tensor_like(value):
    return is_number(value) or (type(value) is list and all(map(is_number, value)))


def takes_list_as_tensor(sign, values):
    arithmetic = sign.rstrip("=") in programs.ARITHMETIC or sign in (*programs.ORDER, "~")
    return arithmetic and any(type(v) is list for v in values) and all(map(is_tensor_like, values))


def is_ieee(sign, values, wanted):
    """An answer that Python refuses, or gives as a complex number."""
    divides = sign.rstrip("=") in ("/", "//", "%", "**") and all(map(is_number, values))
    return divides and (wanted == "refused" or "j" in wanted)


FROM_PYTHON = {
    "a list of numbers is a tensor to arithmetic": lambda sign, values, got, wanted: (
        takes_list_as_tensor(sign, values)
    ),
    "so is one that is written, but where lists are joined or repeated": (
        lambda sign, values, got, wanted: (
            sign.endswith(" as written")
            and wanted == "refused"
            and all(map(is_tensor_like, values))
        )
    ),
    "a list is a tensor to `<` and its like": lambda sign, values, got, wanted: (
        sign in programs.ORDER and list in map(type, values) and got == "refused"
    ),
    "an item or a slice is updated as a tensor, which a list may become": (
        lambda sign, values, got, wanted: " += " in sign and wanted == "refused"
    ),
    "a list takes an index with a tuple as a tensor": lambda sign, values, got, wanted: (
        sign == "[(0,)]" and type(values[0]) is list
    ),
    "a division by zero and a power are of IEEE 754": lambda sign, values, got, wanted: (
        is_ieee(sign, values, wanted) and re.match(r"\[-?(inf|nan)\b", got)
    ),
    "`is` and `in` compare numbers by value, and nan is equal to nothing": (
        lambda sign, values, got, wanted: (
            repr(values).count("nan") > 1 or ("nan" in repr(values) and re.search(r"is|in", sign))
        )
    ),
    "what a text is formatted with is used up": lambda sign, values, got, wanted: (
        sign in ("%", "%=") and type(values[0]) is str and got == "refused"
    ),
    "a bool is no place in a list": lambda sign, values, got, wanted: "[True]" in sign,
    "`~` of a bool is its opposite": lambda sign, values, got, wanted: (
        (sign, values, got) == ("~", [True], "[False]")
    ),
}
"""Why an answer is not Python's, and which are meant: by the sign, what it stands between, and the
two answers.
"""


def without_nodes(text):
    return re.sub(r", grad_fn=<\w+>", "", text)


FROM_PYTORCH = {
    "arithmetic takes bools as ints": lambda sign, values, got, wanted: (
        wanted == "refused"
        and ("True" in values or "bool" in values)
        and sign.rstrip("=") in ("-", "//", "%", "**", "+")
    ),
    "PyTorch has no name for some nodes": lambda sign, values, got, wanted: (
        "NotImplemented" in wanted and without_nodes(got) == without_nodes(wanted)
    ),
    "a remainder that is zero has the divisor's sign": lambda sign, values, got, wanted: (
        sign in ("%", "%=")
        and re.sub(r"-0(\.|,|\b)", r"0\1", without_nodes(got)).replace(" ", "")
        == re.sub(r"-0(\.|,|\b)", r"0\1", without_nodes(wanted)).replace(" ", "")
    ),
    "`@` brings its operands to one dtype": lambda sign, values, got, wanted: (
        sign in ("@", "@=") and wanted == "refused"
    ),
    "what a text is formatted with is used up": lambda sign, values, got, wanted: (
        sign in ("%", "%=") and values[1:].startswith("'a'") and got == "refused"
    ),
    "values that are put at places get the tensor's dtype": lambda sign, values, got, wanted: (
        sign.endswith(" = tensor([7, 8])") and wanted == "refused"
    ),
    "`+` takes bools": lambda sign, values, got, wanted: sign == "+" and wanted == "refused",
}


def ours(program):
    return "\n".join(load(program).run().printed).splitlines()


def pythons(program):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program, dict(NAMES))
    return out.getvalue().splitlines()


def cases(got, wanted):
    """For each line of an answer: the values, the sign and both answers."""
    values = "[]"
    for mine, theirs in zip(got, wanted, strict=True):
        sign, arrow, answer = mine.partition(" -> ")
        if not arrow:
            assert mine == theirs
            values = mine
        else:
            assert theirs.startswith(sign + arrow), (mine, theirs)
            yield values, sign, answer, theirs[len(sign + arrow) :]


def departures(reasons, found, read):
    """The answers that differ and no reason explains, and the reasons that explain some."""
    wrong, used = [], set()
    for values, sign, got, wanted in found:
        if got == wanted:
            continue
        given = read(values)
        why = [reason for reason, holds in reasons.items() if holds(sign, given, got, wanted)]
        used.update(why)
        if not why:
            wrong.append(f"{sign} of {values}: got {got}, expected {wanted}")
    return wrong, used


def test_operators_on_pythons_values():
    wrong, used = [], set()
    for name, program in programs.of_python().items():
        found = cases(ours(program), pythons(program))
        more, why = departures(FROM_PYTHON, found, lambda text: list(eval(text, dict(NAMES))))
        wrong += [f"{name}: {line}" for line in more]
        used |= why
    assert not wrong, "\n".join(wrong)
    assert used == FROM_PYTHON.keys(), "a reason explains nothing"


def test_operators_on_tensors():
    wrong, used = [], set()
    for name, program in programs.of_tensors().items():
        found = cases(ours(program), RECORDED[name])
        more, why = departures(FROM_PYTORCH, found, str)
        wrong += [f"{name}: {line}" for line in more]
        used |= why
    assert not wrong, "\n".join(wrong)
    assert used == FROM_PYTORCH.keys(), "a reason explains nothing"


def test_a_list_of_numbers_is_its_tensor_beside_numbers_lists_and_tensors():
    """`+` and `*` join and repeat a list without items, as they do not know what it is to hold."""
    tensors = programs.TENSORS[2:4]
    lists = programs.LISTS
    others = (*lists, *programs.NUMBERS, *tensors)
    pairs = {*product(lists, others), *product(others, lists)} - {
        pair for pair in product(others, others) if "[]" in pair and not {*tensors} & {*pair}
    }
    of_lists = sorted(pairs)
    of_tensors = [tuple(re.sub(r"^\[.*", r"tensor(\g<0>)", x) for x in pair) for pair in of_lists]
    signs = (*programs.ARITHMETIC, *programs.ORDER)
    for asked, more in ((of_lists, ()), ([p for p in of_lists if {*tensors} & {*p}], ("==", "!="))):
        kept = [(x, y) for (x, y), p in zip(of_tensors, of_lists, strict=True) if p in asked]
        got = ours(programs.binary(asked, (*signs, *more)))
        wanted = ours(programs.binary(kept, (*signs, *more)))
        wrong = [
            f"{x} for {header}: not {y}" for header, x, y in _below_headers(got, wanted) if x != y
        ]
        assert not wrong, "\n".join(wrong)


def _below_headers(got, wanted):
    header = ""
    for mine, theirs in zip(got, wanted, strict=True):
        if " -> " in mine:
            yield header, mine, theirs
        else:
            header = mine


def test_check_refuses_nothing_that_runs():
    """Lists and tensors under the operators whose answer is a bool or a tensor."""
    values = (*programs.LISTS, "['a']", "[[1], 2]", "(1, 2)", "'a'", "None", "1", "tensor([1, 2])")
    names = [f"x{i}" for i in range(len(values))]
    given = "".join(f"{name} = {value}\n" for name, value in zip(names, values, strict=True))
    for sign in ("==", "!=", "<", "+", "*", "in", "is"):
        texts = [f"{x} {sign} {y}" for x, y in product(names, names)]
        tried = "".join(f"try: v = {t}; print('{t}')\nexcept Exception: pass\n" for t in texts)
        runs = ours(given + tried)
        assert len(runs) > 20, sign
        program = given + "".join(f"print({text})\n" for text in runs)
        found = [d.message for d in load(program).check().findings if d.severity == "error"]
        assert not found, found


ASKED = {
    *programs.BINARY, *programs.UPDATES, *programs.UNARY, "if", "else", "[]", "+[]", "*[]"
}  # fmt: skip
"""The operators with rows; those with brackets are the language's names of items and of lists that
are written.
"""
NO_OPERATORS = {
    *("(", ")", "[", "]", "{", "}", ",", ":", ".", "...", "=", ":=", "lambda", "for"),
    *("True", "False", "None"),
}


def test_every_operator_of_the_grammar_has_rows():
    text = (HOUSE / "grammar/grad.lark").read_text("utf-8")
    expressions = text.partition("// --- expressions")[2].partition("// --- terminals")[0]
    updates = re.search(r"^!update:.*$", text, re.MULTILINE).group()
    words = {*re.findall(r'"([^"]+)"', expressions + updates)} - NO_OPERATORS
    asked = {word for sign in ASKED for word in sign.split()}
    assert words <= asked, f"no rows in operator_programs.py: {sorted(words - asked)}"
    signs = {sign for sign, _ in operators.OPS} | {*operators._LANGUAGE, *operators._UPDATES}
    assert signs <= ASKED, f"no rows in operator_programs.py: {sorted(signs - ASKED)}"


def test_an_update_with_a_matrix_product_makes_a_tensor_of_its_own():
    text = """
class A:
    def __imatmul__(self, other): return ("in place", other)
    def __matmul__(self, other): return "anew"
class B:
    def __matmul__(self, other): return "anew"
a, b = A(), B()
a @= 1
b @= 1
x = ones(2)
d = {0: x}
y = x
x @= ones(2, 2)
d[0] @= ones(2)
print(a, b, x, y, d)
"""
    assert ours(text) == ["('in place', 1) anew tensor([2., 2.]) tensor([1., 1.]) {0: tensor(2.)}"]
    facts = "x = ones(2)\ny = x\nx @= ones(2, 3)\nprint(x.shape, y.shape)"
    assert not load(facts).check().findings
    classes = facts + "\nclass A:\n    def __iadd__(self, other): return self\nA()"
    assert not load(classes).check().findings
    leaf = "w = ones(2, requires_grad=True)\nv = w\nv @= tensor([1.0, 2.0])\nv.backward()\nw.grad"
    assert load(leaf).run().result.tolist() == [1.0, 2.0]
