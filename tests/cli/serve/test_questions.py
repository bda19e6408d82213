"""`gradcli serve` on standard input: questions in, answers out, and what is said of bad ones."""

import base64
import json
import math
import struct

import pytest

from gradcli import load
from gradcli.cli.serve import service, streams, texts
from gradcli.questions import jit

F = "param a = 1.2\nparam b = 1.0\n100 * (b - a ** 2) ** 2 + (1 - a) ** 2"


WHEN = ["never", "soon"]
"""When questions are answered by code: never, or from the second of a kind on."""


@pytest.fixture
def serve(cli, monkeypatch):
    """The answers to questions, which are objects, or bytes as they stand."""
    monkeypatch.setattr(jit, "_ROWS", 1)
    monkeypatch.setattr(jit, "_WORTH", -1.0)
    monkeypatch.setattr(jit, "_EACH", 0.0)

    def ask(*questions, programs=("-e", F), options=(), stdin=None, when="soon"):
        lines = [q if isinstance(q, bytes) else json.dumps(q).encode() for q in questions]
        given = b"".join(line + b"\n" for line in lines) if stdin is None else stdin
        status, out, err = cli(
            *("serve", *programs, *options, "--compile", "auto" if when == "soon" else when),
            stdin=given,
        )
        assert (status, err) == (0, ""), err
        return [json.loads(line) for line in out.splitlines()]

    return ask


@pytest.fixture(params=["orjson", "json"])
def reader(request, monkeypatch):
    """Both readers of JSON."""
    if request.param == "json":
        monkeypatch.setattr(service, "json_reader", lambda: json.loads)
    else:
        pytest.importorskip("orjson")
    return request.param


def fault(answer):
    """What is said of a bad question: code, message, help."""
    return tuple(answer["error"][name] for name in ("code", "message", "help"))


AT = {"a": 1.5, "b": 2.5}
ASKED = {
    "value": {},
    "run": {},
    "grad": {"wrt": ["b", "a"]},
    "vjp": {"wrt": "a", "cotangent": 2},
    "jvp": {"tangents": {"a": 1, "b": 0.5}},
    "jacobian": {"wrt": "a,b", "mode": "forward"},
    "hessian": {"mode": "forward"},
    "hvp": {"tangents": {"b": 1.0}, "wrt": ["a"]},
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("when", WHEN)
def test_a_question_is_answered_as_the_command_and_python_answer_it(serve, name, when):
    asked = {"question": name, "inputs": AT, **ASKED[name]}
    points = [AT, {"a": -3, "b": 1e3}, {"b": 0.1, "a": 0.3}]
    found = serve(*({**asked, "inputs": p} for p in points), when=when)
    arguments = dict(ASKED[name])
    for point, answer in zip(points, found, strict=True):
        expected = getattr(load(F), name)(point, **arguments)
        assert answer == json.loads(expected.to_json())


def test_each_answer_has_the_id_of_its_question(serve, reader):
    huge = b'{"id": 123456789012345678901234567890, "question": "value"}'
    ids = [7, "a", 'é:"\\\n\u2028', "\ud800", None, 1.5, True, [1, {"b": None}], -0.0, 1e300]
    found = serve(*({"id": x, "question": "value"} for x in ids), huge, {"question": "value"})
    assert [answer["id"] for answer in found[:-1]] == [*ids, 123456789012345678901234567890]
    assert type(found[6]["id"]) is bool
    assert len({answer["value"] for answer in found}) == 1
    assert "id" not in found[-1]


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_lines_may_end_in_any_way_and_be_blank(serve, reader, start, ends):
    question = b'{"question": "value", "inputs": {"x": 3}}'
    text = start + ends + b"  " + ends + ends.join([question] * 3)
    found = serve(stdin=text, programs=["-e", "x ** 2"])
    assert [answer["value"] for answer in found] == [9.0] * 3


def test_nothing_is_no_question(serve):
    assert serve() == serve(b"", b"  ") == []


def test_programs_are_named_by_their_files(serve, tmp_path):
    (tmp_path / "one.grad").write_text("input x\nx + 1")
    (tmp_path / "größe.grad").write_text("input x\nx + 2")
    files = [tmp_path / "one.grad", tmp_path / "größe.grad"]
    asked = {"question": "value", "inputs": {"x": 1}}
    found = serve({**asked, "program": "größe"}, {**asked, "program": "one"}, programs=files)
    assert [answer["value"] for answer in found] == [3.0, 2.0]
    found = serve(asked, {**asked, "program": "on"}, {**asked, "program": 1}, programs=files)
    assert [*map(fault, found)] == [
        ("bad-question", "the question names no `program`", "the programs are `one`, `größe`"),
        ("bad-question", "there is no program `on`", "did you mean `one`?"),
        ("bad-question", "`program` is a name", "the programs are `one`, `größe`"),
    ]


def test_programs_are_described(serve, tmp_path):
    (tmp_path / "one.grad").write_text("param k = 2.0\ninput x: float[n]\ny = k * x\ny")
    (tmp_path / "two.grad").write_text("pass")
    every, two = serve(
        *({"question": "describe"}, {"question": "describe", "program": "two"}),
        programs=[tmp_path / "one.grad", tmp_path / "two.grad"],
    )
    one = every["programs"]["one"]
    file = str(tmp_path / "one.grad")
    assert one["inputs"] == [
        {"name": "k", "kind": "param", "type": None, "default": "2.0", "file": file},
        {"name": "x", "kind": "input", "type": "float[n]", "default": None, "file": file},
    ]
    assert (one["required"], one["wrt"], one["output"]) == (["x"], ["k", "x", "y"], "y")
    assert [*two["programs"]] == ["two"]
    assert two["programs"]["two"]["output"] is None
    assert set(ASKED) | {"describe"} == set(every["questions"])


def test_values_are_given_for_all_questions(serve):
    program = ["-e", "input t: float[n]\nparam k = 1.0\nsum(exp(-k * t))", "t=[1, 2]"]
    asked = [{"question": "grad", "inputs": {"k": k}} for k in (0.5, 0.25, 1)]
    over = {"question": "value", "inputs": {"t": [0, 0, 0]}}
    for when in WHEN:
        found = serve(*asked, over, programs=program, when=when)
        expected = [math.exp(-k) + math.exp(-2 * k) for k in (0.5, 0.25, 1)]
        assert [answer["value"] for answer in found] == pytest.approx([*expected, 3.0])
        assert "t" not in found[0]["grad"]


def test_arrays_are_lists_or_base64(serve):
    numbers = [[1.0, -2.5, 1e-300], [math.pi, 4.0, 5.0]]
    flat = [x for row in numbers for x in row]
    text = base64.b64encode(struct.pack("<6d", *flat)).decode()
    asked = {"question": "grad", "inputs": {"x": {"base64": text, "shape": [2, 3]}}}
    lists = {"question": "grad", "inputs": {"x": numbers}}
    program = ["-e", "input x: float[n, m]\nsum(x * x)"]
    for when in WHEN:
        one, other, both = serve(
            asked, lists, {**asked, "arrays": "base64"}, programs=program, when=when
        )
        assert one == other
        assert one["grad"]["x"] == [[2 * x for x in row] for row in numbers]
        packed = both["grad"]["x"]
        assert packed["shape"] == [2, 3]
        found = struct.unpack("<6d", base64.b64decode(packed["base64"]))
        assert found == tuple(2 * x for x in flat)
        assert type(both["value"]) is float


def test_what_a_program_prints_is_in_the_answer(serve):
    grad, run = serve(
        *({"question": name, "inputs": {"x": 2}} for name in ("grad", "run")),
        programs=["-e", "print('x is', x)\nx * x"],
    )
    assert grad["printed"] == run["printed"] == ["x is 2.0"]


def test_several_results_are_asked_at_once(serve):
    program = ["-e", "y = x ** 2\nz = 3 * x"]
    (found,) = serve({"question": "grad", "of": ["y", "z"], "inputs": {"x": 2}}, programs=program)
    assert found["value"] == {"y": 4.0, "z": 6.0}
    assert found["grad"] == {"y": {"x": 4.0}, "z": {"x": 3.0}}
    values = serve(
        *({"question": "value", "of": o, "inputs": {"x": 2}} for o in ("y", ["z"])),
        programs=program,
    )
    assert [answer["value"] for answer in values] == [4.0, {"z": 6.0}]


def test_an_answer_depends_on_its_question_alone(serve):
    program = ["-e", "x * randn(1).sum()"]
    asked = {"question": "value", "inputs": {"x": 1}, "seed": 3}
    a, b, c = serve(asked, asked, {**asked, "seed": 4}, programs=program)
    assert a == b != c
    a, b = serve(
        *[{"question": "value", "inputs": {"x": 1}}] * 2, programs=program, options=["--seed", "3"]
    )
    assert a == b


@pytest.mark.parametrize("name", sorted({*ASKED} - {"run"}))
def test_many_values_are_asked_at_once(serve, name):
    """40 of them: those behind the first 16 are answered by code."""
    points = [{"a": k / 7 - 3, "b": k % 5} for k in range(40)]
    asked = {"question": name, **ASKED[name]}
    many = {n: [p[n] for p in points] for n in ("a", "b")}
    packed = {
        n: {"base64": base64.b64encode(struct.pack("<40d", *column)).decode()}
        for n, column in many.items()
    }
    alone = serve(*({**asked, "inputs": p} for p in points), when="never")
    for values in (many, packed):
        (found,) = serve({**asked, "many": values})
        assert found["value"] == [answer["value"] for answer in alone]
        shown = {"jvp", "vjp", "grad", "jacobian", "hessian", "hvp"} & found.keys()
        for field in shown:
            assert stacked([answer[field] for answer in alone]) == found[field]
        assert found.get("mode") == alone[0].get("mode")


def stacked(several):
    """Values by name whose values are lists, of a list of values by name."""
    if not isinstance(several[0], dict):
        return several
    return {name: stacked([each[name] for each in several]) for name in several[0]}


def test_many_values_leave_bad_ones_to_the_interpreter(serve):
    program = ["-e", "input x\ninput y = 1.0\nsum(log(x)) * y"]
    many = {"x": [[k - 3.0, 1.0] for k in range(40)]}
    for when in WHEN:
        found, bad = serve(
            {"question": "grad", "many": many, "inputs": {"y": 2}},
            {"question": "grad", "many": {"x": [[1.0], [2.0, 3.0]]}},
            programs=program,
            when=when,
        )
        assert found["value"][:5] == ["NaN", "NaN", "NaN", "-Infinity", 0.0]
        assert found["grad"]["x"][3:5] == [["Infinity", 2.0], [2.0, 2.0]]
        assert {w["code"] for w in found["warnings"]} == {"non-finite"}
        assert fault(bad)[1] == "the answers have several shapes: [1] and [2]"
    (bad,) = serve(
        {"question": "value", "many": {"x": [1, 2, -1, 3]}}, programs=["-e", "assert x > 0\nx"]
    )
    assert bad["status"] == 1
    assert bad["error"]["notes"][-1] == "at number 2 of the values, counted from 0"


def test_what_is_not_finite_is_said_in_words(serve, reader):
    program = ["-e", "x * x"]
    asked = [
        {"question": "value", "inputs": {"x": x}} for x in ("NaN", "-Infinity", math.nan, math.inf)
    ]
    for when in WHEN:
        found = serve(*asked, programs=program, when=when)
        assert [a["value"] for a in found] == ["NaN", "Infinity", "NaN", "Infinity"]
    one, two = serve(
        *({"question": "grad", "inputs": {"x": x}} for x in (1, 0)),
        programs=["-e", "log(x)"],
    )
    assert (one["warnings"], two["value"], two["grad"]) == ([], "-Infinity", {"x": "Infinity"})
    assert [w["code"] for w in two["warnings"]] == ["non-finite"]
    (bad,) = serve(
        {"question": "grad", "inputs": {"x": 0}}, programs=["-e", "log(x)"], options=["--check-nan"]
    )
    assert (bad["error"]["code"], bad["status"]) == ("non-finite", 5)


def test_bounds_and_slips_warn_at_each_answer(serve):
    asked = [{"question": "grad", "inputs": {"k": k}} for k in (1, 20, 2, -1)]
    for when in WHEN:
        found = serve(
            *asked,
            programs=["-e", "param k: float in [0, 10] = 0.1\nk * k"],
            when=when,
        )
        assert [[w["code"] for w in a["warnings"]] for a in found] == [
            [],
            ["outside-bounds"],
            [],
            ["outside-bounds"],
        ]


BAD = {
    b'{"question": "grad", "inp': (
        "bad-input",
        "this is not valid JSON: unterminated string",
        None,
    ),
    b'{"question": "grad"': ("bad-input", "this is not valid JSON: it ends too early", None),
    b"x ** 2": ("bad-input", "this is not valid JSON: expecting value", None),
    b"[1, 2]": (
        "bad-question",
        "a question is a JSON object",
        'as in `{"question": "grad", "inputs": {"x": 2}}`',
    ),
    b"null": (
        "bad-question",
        "a question is a JSON object",
        'as in `{"question": "grad", "inputs": {"x": 2}}`',
    ),
    b"{}": (
        "bad-question",
        "the question has no field `question`",
        "it is one of describe, value, run, grad, vjp, jvp, jacobian, hessian, hvp",
    ),
    b'{"question": "gradient"}': (
        "bad-question",
        "there is no question `gradient`",
        "it is one of describe, value, run, grad, vjp, jvp, jacobian, hessian, hvp",
    ),
    b'{"question": "hesian"}': (
        "bad-question",
        "there is no question `hesian`",
        "did you mean `hessian`?",
    ),
    b'{"question": ["grad"]}': (
        "bad-question",
        "`question` is a text",
        "it is one of describe, value, run, grad, vjp, jvp, jacobian, hessian, hvp",
    ),
    b'{"question": "grad", "wtr": "a"}': (
        "bad-question",
        "`grad` has no field `wtr`",
        "did you mean `wrt`?",
    ),
    b'{"question": "value", "wrt": "a"}': (
        "bad-question",
        "`value` has no field `wrt`",
        "its fields are id, question, program, of, inputs, many, seed, arrays",
    ),
    b'{"question": "grad", "wrt": 3}': (
        "bad-question",
        "`wrt` is a name or a list of names",
        None,
    ),
    b'{"question": "grad", "wrt": ["c"]}': (
        "unknown-name",
        "`wrt` names `c`, which the program does not have",
        "it has a, b",
    ),
    b'{"question": "grad", "of": "c"}': (
        "unknown-name",
        "`of` names `c`, which the program does not have",
        "it has a, b",
    ),
    b'{"question": "grad", "inputs": {"aa": 1}}': (
        "unknown-input",
        "the program has no input `aa`",
        "did you mean `a`?",
    ),
    b'{"question": "grad", "inputs": [1]}': (
        "bad-question",
        "`inputs` is an object of values by name",
        'as in `"inputs": {"x": 2}`',
    ),
    b'{"question": "grad", "inputs": {"a": [1, 2]}}': (
        "shape-mismatch",
        "`a` is declared with a number, got shape [2]",
        "`param a: float[...]` takes numbers and tensors of any shape",
    ),
    b'{"question": "jvp"}': (
        "bad-question",
        "`jvp` needs `tangents`",
        'as in `"tangents": {"x": 1}`',
    ),
    b'{"question": "jvp", "tangents": {"c": 1}}': (
        "unknown-name",
        "`tangents` names `c`, which the program does not have",
        "it has a, b",
    ),
    b'{"question": "jacobian", "mode": "foward"}': (
        "bad-question",
        "there is no mode `foward`",
        "did you mean `forward`?",
    ),
    b'{"question": "hessian", "diagonal": 1}': (
        "bad-question",
        "`diagonal` is true or false",
        None,
    ),
    b'{"question": "grad", "seed": -1}': (
        "bad-question",
        "`seed` is a whole number from 0 to 2**128 - 1",
        None,
    ),
    b'{"question": "grad", "inputs": {"a": 1, "a": 2}}': (
        "bad-input",
        "`<question>` has an object with two keys `a`",
        "give each value its own name",
    ),
    b'{"question": "grad", "inputs": {"a": 1}, "inputs": {"a": 2}}': (
        "bad-input",
        "`<question>` has an object with two keys `inputs`",
        "give each value its own name",
    ),
    b'{"question": "grad", "inputs": {"a": 1e400}}': (
        "bad-input",
        "`1e400` is too large for a float",
        None,
    ),
    b'{"question": "gr\xffad"}': ("bad-input", "byte 0xFF of the question is not UTF-8", None),
    b'{"question": "grad", "inputs": {"a": {"base64": "AA=="}}}': (
        "bad-input",
        "`base64` of `a` does not hold doubles: it has 1 byte, and a double has 8",
        None,
    ),
    b'{"question": "grad", "inputs": {"a": {"base64": "AAAA AAA"}}}': (
        "bad-input",
        "`base64` of `a` is no base64 text",
        None,
    ),
    b'{"question": "grad", "inputs": {"a": {"base64": "AAAAAAAA8D8=", "shape": [2]}}}': (
        "bad-input",
        "`a` has 1 double, and the shape [2] takes 2",
        None,
    ),
    b'{"question": "grad", "inputs": {"a": {"base64": "AAAAAAAA8D8=", "size": [1]}}}': (
        "bad-input",
        "the array of `a` has a field `size`",
        "an array has the fields `base64` and `shape`",
    ),
    b'{"question": "grad", "inputs": {"a": {"b": 1}}}': (
        "bad-input",
        "`a` needs a number or tensor, got a dictionary",
        None,
    ),
    b'{"question": "grad", "inputs": {"a": null}}': (
        "bad-input",
        "`a` needs a number or tensor, got None",
        None,
    ),
    b'{"question": "grad", "inputs": {"a": "1"}}': (
        "bad-input",
        "`a` needs a number or tensor, got a string",
        None,
    ),
    b'{"question": "grad", "many": {"a": [1], "b": [1, 2]}}': (
        "shape-mismatch",
        "the values differ in number: a 1, b 2",
        None,
    ),
    b'{"question": "grad", "many": {"a": 1}}': (
        "bad-input",
        "`a` needs a list with an item for each value, got one item",
        None,
    ),
    b'{"question": "grad", "many": {"a": []}}': ("usage", "there are no values to ask at", None),
    b'{"question": "grad", "many": {"a": [1]}, "inputs": {"a": 1}}': (
        "bad-question",
        "`a` is in `inputs` and in `many`",
        None,
    ),
    b'{"question": "run", "many": {"a": [1]}}': (
        "bad-question",
        "`many` does not go with `run`",
        "ask for the `value` of one",
    ),
    b'{"question": "grad", "arrays": "npy"}': (
        "bad-question",
        "there is no arrays `npy`",
        "it is one of lists, base64",
    ),
    b'{"question": "grad", "inputs": {"a": ' + b"[" * 2000 + b"]" * 2000 + b"}}": (
        "bad-input",
        "the JSON in `<question>` nests too deeply",
        None,
    ),
}


@pytest.mark.parametrize("when", WHEN)
def test_a_bad_question_is_told_and_the_next_is_answered(serve, reader, when):
    good = b'{"question": "grad", "wrt": ["a", "b"], "inputs": {"a": 1.5, "b": 2.5}}'
    asked = [line for bad in BAD for line in (bad, good)]
    found = serve(good, *asked, when=when)
    assert {json.dumps(answer) for answer in found[::2]} == {json.dumps(found[0])}
    said = {bad: fault(answer) for bad, answer in zip(BAD, found[1::2], strict=True)}
    assert said == BAD
    assert {answer["status"] for answer in found[1::2]} == {2, 4}


def test_an_input_without_a_value_is_named_as_a_question_gives_it(serve):
    (found,) = serve({"question": "grad", "inputs": {"z": 1}}, programs=["-e", "x * y * z"])
    assert fault(found) == (
        "missing-input",
        "inputs `x` and `y` have no values",
        'add "x": VALUE, "y": VALUE to `inputs`',
    )
    assert (found["error"]["file"], found["error"]["line"]) == ("<expr>", 1)


def test_a_field_that_is_null_is_left_out(serve, reader):
    fields = ("inputs", "many", "wrt", "of", "cotangent", "seed", "arrays", "program")
    plain = {"question": "grad"}
    null = {**plain, **dict.fromkeys(fields)}
    (one, *others) = serve(plain, null, plain, null, null)
    assert others == [one] * 4
    assert one["grad"]


def test_several_faults_of_a_question_are_told(serve):
    (found,) = serve({"question": "grad", "inputs": {"aa": 1, "z": 2}})
    assert found["error"]["message"] == "the program has no input `aa`"
    assert [other["message"] for other in found["further"]] == ["the program has no input `z`"]


def test_wrong_shapes_are_told_whatever_was_asked_before(serve):
    program = ["-e", "input x: float[n]\ninput y: float[n]\nsum(x * y)"]
    good = {"question": "grad", "inputs": {"x": [1.0, 2.0], "y": [3.0, 4.0]}}
    bad = {"question": "grad", "inputs": {"x": [1.0, 2.0], "y": [3.0]}}
    ragged = {"question": "grad", "inputs": {"x": [1.0, [2.0]], "y": [3.0, 4.0]}}
    found = serve(good, bad, good, ragged, good, programs=program)
    assert found[0] == found[2] == found[4]
    assert fault(found[1])[:2] == ("shape-mismatch", "`y` has shape [1], but n is 2 by `x`")
    assert found[3]["error"]["code"] == "bad-input"


def test_code_and_interpreter_agree_whatever_kind_a_number_has(serve, reader):
    """Ints, huge ints, bools, signed zeros: plans take some of them, and leave the others."""
    numbers = [1, 2**53, 2**53 + 1, 10**25, -0.0, True, 0.1, 1e-320, 5e307, "Infinity", [1.0]]
    asked = [{"question": "grad", "wrt": ["a"], "inputs": {"a": x, "b": 2}} for x in numbers]
    program = ["-e", "param a = 1.0\ninput b = 1.0\na * b + a / 3"]
    both = [serve(*asked, programs=program, when=when) for when in WHEN]
    assert both[0] == both[1]


def test_an_int_that_fixes_a_shape_may_change(serve):
    program = ["-e", "input n: int\ninput x = 1.0\nsum(x * ones(n))"]
    asked = [{"question": "grad", "inputs": {"n": n, "x": 2}} for n in (2, 3, 2, 0, 2.5)]
    found = serve(*asked, programs=program)
    assert [answer.get("value") for answer in found] == [4.0, 6.0, 4.0, 0.0, None]
    assert found[-1]["error"]["code"] == "wrong-type"


def test_many_kinds_of_questions_take_no_more_and_more_memory(cli, monkeypatch):
    """Each length is a kind of its own."""
    made = []

    class Kept(service.Service):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr("gradcli.cli.serve.loaded.Service", Kept)
    asked = ({"question": "grad", "inputs": {"x": [1.0] * n}} for n in range(1, 100))
    lines = "".join(f"{json.dumps(q)}\n" for q in asked)
    status, out, _ = cli(
        "serve", "-e", "input x: float[n]\nsum(x * x)", "--compile", "always", stdin=lines
    )
    assert (status, len(out.splitlines())) == (0, 99)
    (found,) = made
    assert len(found.plans) <= 64


def test_numbers_have_the_text_of_repr_whatever_writes_them(reader, monkeypatch):
    if reader == "json":
        monkeypatch.setattr(texts, "find_spec", lambda name: None)
    write = texts.writer()
    numbers = [
        s * d * 10.0**e for s in (1, -1) for d in (0, 1, 1.2345678901234567) for e in range(-30, 30)
    ]
    numbers += [5e-324, 1.7976931348623157e308, 9999999999999998.0, 1e16, 10.00001, 0.00001]
    assert [*map(write, ([x] for x in numbers))] == [[repr(x)] for x in numbers]
    assert [*write(numbers)] == [*map(repr, numbers)]


# the stream ---------------------------------------------------------------------------------------


class Pieces:
    """A stream that gives its pieces one by one."""

    def __init__(self, *pieces):
        self._pieces = [*pieces]

    def read(self, size):
        return self._pieces.pop(0) if self._pieces else b""


def test_lines_are_whole_however_they_arrive():
    text = b"one\n\ntwo\r\nthree"
    whole = [b"one", b"", b"two\r", b"three"]
    for size in range(1, len(text) + 1):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert [*streams.lines(Pieces(*pieces), lambda: None)] == whole, size


def test_a_line_that_is_too_long_is_passed_over(monkeypatch):
    monkeypatch.setattr(streams, "_LONGEST", 4)
    pieces = [b"ab\nabc", b"def", b"gh\nxy\nlon", b"ger"]
    assert [*streams.lines(Pieces(*pieces), lambda: None)] == [b"ab", None, b"xy", None]


def test_answers_wait_for_each_other_but_for_nothing_else(monkeypatch):
    written, now = [], [0.0]
    monkeypatch.setattr(streams, "monotonic", lambda: now[0])

    class Stream:
        def write(self, data):
            written.append(data)

        def flush(self):
            pass

    answers = streams.Answers(Stream())
    answers.write("a")
    answers.write("b")
    assert written == []
    answers.flush()
    assert written == [b"a\nb\n"]
    answers.write("c")
    now[0] += 1.0
    answers.write("d")
    assert written[1:] == [b"c\nd\n"]
    answers.write("e" * 2**17)
    assert len(written) == 3


# the command line ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ([], 2, "error[usage]: no program"),
        (["-"], 2, "error[usage]: `-` stands for standard input, which has the questions"),
        (
            ["a/f.grad", "b/f.grad"],
            2,
            "error[usage]: two programs are called `f`: `a/f.grad` and `b/f.grad`",
        ),
        (["a/f.grad", "z=1"], 4, "error[unknown-input]: the program has no input `z`"),
        (
            ["-e", "1 +"],
            3,
            "<expr>:1:4: error[syntax-error]: expected a value, got the end of the text",
        ),
        (
            ["none.grad"],
            2,
            "error[unreadable-file]: cannot read `none.grad`: no such file or directory",
        ),
    ],
)
def test_what_cannot_be_served_is_told(cli, tmp_path, monkeypatch, arguments, status, said):
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f.grad").write_text("input x = 1\nx")
    found, out, err = cli("serve", *arguments)
    assert (found, out) == (status, "")
    assert said in err
