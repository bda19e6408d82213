"""Values from files and from standard input."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest


@pytest.fixture
def shell(cli, tmp_path, monkeypatch):
    """Run a command line in a folder of files, with standard input."""
    monkeypatch.chdir(tmp_path)
    return cli


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


PROGRAM = ["run", "-e", "x * 2"]
FILES = [
    ("x.json", b"[1, 2.5]", "", "[2.0,5.0]"),
    ("x.json", b'["NaN", "-Infinity", 1]', "", "[nan,-inf,2.0]"),
    ("x.json", b"3", "", "6.0"),
    ("x.json", b'{"a": {"b": [{"c": "text"}, {"c": [1, 2]}]}}', ":a.b.1.c", "[2.0,4.0]"),
    ("x.json", b'{"0": [5]}', ":0.0", "10.0"),
    ("x.json", "\ufeff[[1, 2], [3, 4]]".encode(), "", "[[2.0,4.0],[6.0,8.0]]"),
    ("x.npy", npy(np.array([1.0, 2.0])), "", "[2.0,4.0]"),
    ("x.npy", npy(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])), "", "[[2.0,4.0],[6.0,8.0]]"),
    ("x.npy", npy(np.array([1, 2], np.int32)), "", "[2.0,4.0]"),
    ("x.npy", npy(np.array([0.1], np.float32)), "", "[0.2]"),
    ("x.npz", npz(a=np.ones(2)), "", "[2.0,2.0]"),
    ("x.npz", npz(a=np.ones(2), b=np.zeros(1)), ":b", "[0.0]"),
    ("x.csv", b"a,b\n1,2\n3,4\n", ":b", "[4.0,8.0]"),
    ("x.csv", b"a,b\r\n1,2\r\n3,4\r\n", "", "[[2.0,4.0],[6.0,8.0]]"),
    ("x.csv", b"1\n2\n", "", "[2.0,4.0]"),
    ("x.tsv", b"a\tb\n1\tnan\n", ":b", "[nan]"),
    ("x.txt", b"1 2\n3 4\n", "", "[[2.0,4.0],[6.0,8.0]]"),
    ("x.txt", b"# heights\n1\n2\n", "", "[2.0,4.0]"),
    ("x.txt", b"7", "", "14.0"),
    ("x.csv", b"a,b\r1,2\r3,4\r", ":b", "[4.0,8.0]"),
    ("x.csv", b"name,a\nbob,1\nann,2\n", ":a", "[2.0,4.0]"),
    ("x.csv", b"\n\na,b,,\n1,2,,\n", "", "[[2.0,4.0]]"),
    ("x.csv", b'a,note\n1,5" pipe\n2,6" pipe\n', ":a", "[2.0,4.0]"),
    ("x.csv", b'a,b\n"1","2\n"\n', "", "[[2.0,4.0]]"),
    ("x.csv", b'a,b\n"[1, nan]",2\n', ":a", "[[2.0,nan]]"),
    ("x.csv", "a\u2028b,c\n1,2\n".encode(), ":c", "[4.0]"),
    ("x.csv", b"v.0,v.1\n1,2\n3,4\n", ":v", "[[2.0,4.0],[6.0,8.0]]"),
    ("x.csv", b"v.1,v.0\n1,2\n3,4\n", ":v", "[[4.0,2.0],[8.0,6.0]]"),
    ("x.csv", b"v.0,v.1\n1,2\n3,4\n", ":v.1", "[4.0,8.0]"),
]


@pytest.mark.parametrize(("name", "data", "key", "result"), FILES)
def test_a_value_from_a_file(shell, tmp_path, name, data, key, result):
    (tmp_path / name).write_bytes(data)
    assert shell(*PROGRAM, f"x=@{name}{key}", "-q") == (0, f"{result}\n", "")


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b"[1, 2]", "[2.0,4.0]"),
        (b"1,2\n3,4\n", "[[2.0,4.0],[6.0,8.0]]"),
        (b"1 2 3", "[2.0,4.0,6.0]"),
        (npy(np.ones(2)), "[2.0,2.0]"),
        (b"a\tb\n1\t2\n", "[[2.0,4.0]]"),
        (b"1\t\t2\n3\t4\n", "[[2.0,4.0],[6.0,8.0]]"),
        (b"9007199254740993", "1.8014398509481984e+16"),
    ],
)
def test_a_value_from_standard_input(shell, data, result):
    assert shell(*PROGRAM, "x=@-", stdin=data) == (0, f"{result}\n", "")


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        header = npy(np.zeros(0))[:128].replace(b"(0,), ", b"(1000000000000,), "[:6])
        archive.writestr("x.npy", header + bytes(1 << 20))
    return buffer.getvalue()


def header(shape: str, size: int) -> bytes:
    """An .npy that claims to have a shape, with so many bytes behind it."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(size)


def claims(count: int) -> bytes:
    """An .npy that claims to be longer than it is."""
    return header(f"({count},)", 16)


def packed() -> bytearray:
    """An .npz of one array, deflated."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, x=np.ones(9))
    return bytearray(buffer.getvalue())


def broken_deflate() -> bytes:
    data = packed()
    start = 30 + data[26] + data[28]  # behind the member's name and what is extra
    data[start : start + 4] = b"\xff" * 4
    return bytes(data)


def encrypted() -> bytes:
    data = packed()
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def unknown_method() -> bytes:
    data = packed()
    data[8] = data[data.index(b"PK\x01\x02") + 10] = 97
    return bytes(data)


BROKEN = [
    ("x.json", b"[1, 2", "", "x.json:1:5: error[bad-input]: this is not valid JSON"),
    ("x.json", b"", "", "this is not valid JSON"),
    ("x.json", b"[[1], [2, 3]]", "", "becomes a tensor only if its rows are of one shape"),
    ("x.json", b'{"a": 1}', "", "needs a number or tensor"),
    ("x.json", b"\xe9", "", "x.json:1:1: error[bad-input]: the byte 0xe9 is not UTF-8 text"),
    ("x.json", b"[" * 100_000, "", "nests too deeply"),
    ("x.npy", b"", "", "is not a valid .npy"),
    ("x.npy", b"\x80\x04K\x01.", "", "is not a valid .npy"),
    ("x.npy", claims(10**12), "", "its header announces 8000000000000 bytes, and 16 follow"),
    ("x.npy", npy(np.ones(4))[:-3], "", "is cut short or broken"),
    ("x.npy", npy(np.array(["a"])), "", "not numbers"),
    ("x.npz", b"PK nothing", "", "is not a valid .npz"),
    ("x.npz", npz(a=np.ones(1), b=np.ones(1)), "", "needs a key"),
    ("x.npz", npz(a=np.ones(1)), ":c", "has no array `c`"),
    ("x.npz", bomb(), "", "is not a valid .npy"),
    ("x.csv", b"a,b\n1\n", "", "x.csv:2:2: error[bad-input]: 1 cell, and the header has 2"),
    ("x.csv", b"a,b\n1,x\n", "", "x.csv:2:3: error[bad-input]: `x` in column `b` is not a number"),
    ("x.csv", b"a,b\n1,1_0\n", "", "`1_0` in column `b` is not a number"),
    ("x.csv", b"a,b\n1,2\n", ":c", "has no column `c`"),
    ("x.csv", b"", "", "is empty"),
    ("x.txt", b"1 2\n3\n", "", "lines of 2 numbers and of others"),
    ("x.txt", b"\n", "", "holds no number"),
    ("x.txt", b"1\n2 q\n", "", "x.txt:2:3: error[bad-input]: `q` is not a number"),
    ("x.csv", b"a,b\n1,2,3\n", "", "x.csv:2:5: error[bad-input]: 3 cells"),
    ("x.csv", b"a,a\n1,2\n", "", "x.csv:1:3: error[bad-input]: two columns `a`"),
    ("x.csv", b'a,b\n1,"2\n3,4\n', "", "x.csv:2:3: error[bad-input]: a quote is not closed"),
    ("x.csv", b'a,b\n1,"2"3\n', "", '`"2"3` in column `b` is not a number'),
    ("x.csv", b"a,b\n1,\n", "", "x.csv:2:3: error[bad-input]: the cell in column `b` is empty"),
    ("x.csv", b'a,b\n1,"2,5"\n', "", "help: write decimals after a point"),
    ("x.csv", b"a\n1e999\n", "", "is too large for a float"),
    ("x.csv", b'a\n"[1,[2]"\n', "", "a list is not closed"),
    ("x.csv", b'a\n"[1,,2]"\n', "", "x.csv:2:5: error[bad-input]: `,` has no place here"),
    ("x.csv", b'a\n"[1]2"\n', "", "x.csv:2:5: error[bad-input]: `2` has no place here"),
    ("x.csv", b'a\n"[1 2]"\n', "", "x.csv:2:5: error[bad-input]: `2` has no place here"),
    ("x.csv", b'a\n"' + b"[" * 99 + b'"\n', "", "more than 64 lists in each other"),
    ("x.csv", b"v.0,v.2\n1,2\n", ":v", "`v.0`, `v.2` are not all elements of an array `v`"),
    ("x.csv", b"v.0,v.1.1\n1,2\n", ":v", "are not all elements of an array `v`"),
    ("x.csv", b"a;b\n1;2\n", "", "x.csv:1:2: error[bad-input]: the header is one column with `;`"),
    ("x.json", b"1" + b"0" * 5000, "", "x.json:1:1: error[bad-input]: `1000"),
    ("x.json", b"[1, 1e400]", "", "x.json:1:5: error[bad-input]: `1e400` is too large"),
    ("x.npy", header("(True,)", 8), "", "its shape is broken"),
    ("x.npy", npy(np.array([2**64 - 1], np.uint64)), "", "an int of more than 64 bits"),
    ("x.npy", npy(np.ones(1))[:60], "", "its header is broken"),
    ("x.npz", broken_deflate(), "", "is not a valid .npz file"),
    ("x.npz", encrypted(), "", "is encrypted"),
    ("x.npz", unknown_method(), "", "is compressed in a way that is not read"),
    ("x.npz", npz(a=np.ones(1)), ":c", "of a\n"),
    ("x.npy", npy(np.ones(1)), ":w", "`.npy` takes no key, and `w` is one"),
    ("x.txt", b"1", ":w", "`.txt` takes no key"),
    ("x.json", b'{"a": {"b": 1}}', ":a.c", "`x.json:a` has no `c`\n  = help: it has b"),
    ("x.json", b'{"a": [1, 2]}', ":a.2", "`x.json:a` has no `2`: it is a list of 2"),
    ("x.json", b"1", ":a", "`x.json` has no `a`: it is no object"),
]


@pytest.mark.parametrize(("name", "data", "key", "says"), BROKEN)
def test_a_broken_file_is_an_input_error(shell, tmp_path, name, data, key, says):
    (tmp_path / name).write_bytes(data)
    status, out, err = shell(*PROGRAM, f"x=@{name}{key}")
    assert (status, out) == (4, ""), err
    assert says in err
    assert "Traceback" not in err


EXTRA = [
    ("x.json", b'{"a": 3, "zz": 4}'),
    ("x.npz", npz(a=np.array(3.0), zz=np.ones(2))),
]


@pytest.mark.parametrize(("name", "data"), EXTRA)
def test_names_that_are_no_inputs_are_refused_or_passed_over(shell, tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    command = ["run", "-e", "input a = 1.0", "-e", "a * 2", "-i", name]
    status, out, err = shell(*command)
    assert (status, out) == (4, "")
    assert f"given as zz in {name}" in err
    assert "`--ignore-extra` passes over it" in err
    assert shell(*command, "--ignore-extra") == (0, "6.0\n", "")
    other = ["run", "-e", "input b = 1.0", "-e", "b * 2", "-i", name, "--ignore-extra"]
    assert f"no name in `{name}` is an input" in shell(*other)[2]
    status, _, err = shell("run", "-e", "1", "--ignore-extra")
    assert (status, "`--ignore-extra` needs `-i`" in err) == (2, True)


def test_pickles_are_not_read(shell, tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], object), allow_pickle=True)
    status, _, err = shell(*PROGRAM, "x=@x.npy")
    assert (status, "holds pickled objects" in err) == (4, True)


def test_a_missing_file_and_a_folder(shell, tmp_path):
    assert shell(*PROGRAM, "x=@none.json")[0] == 4
    assert "cannot read `none.json`: no such file" in shell(*PROGRAM, "x=@none.json")[2]
    assert "is a directory" in shell(*PROGRAM, f"x=@{tmp_path}")[2]


# -i ----------------------------------------------------------------------------------------


TWO = ["run", "-e", "input a: float[...] = 1.0", "-e", "input b: float[...] = 2.0"]
TWO += ["-e", "c = a * 10 + b", "-e", "c"]


@pytest.mark.parametrize(
    ("data", "more", "result"),
    [
        (b'{"a": 3, "b": 4}', [], "34.0"),
        (b'{"a": 3}', [], "32.0"),
        (b'{"a": 3, "b": 4}', ["a=5"], "54.0"),
        (b'{"schema":"gradcli.run/1","values":{"a":3.0,"c":9.0,"z":1.0}}', [], "32.0"),
        (b"a,b\n1,2\n3,4\n", [], "[12.0,34.0]"),
        (b"a,b,note\n1,2,q\n3,4,r\n", [], "[12.0,34.0]"),
        (b"a,v.0,v.1\n3,1,2\n", [], "32.0"),
        (b'{"schema":"gradcli.grad/1","output":"a","value":3.0,"grad":{}}', [], "32.0"),
    ],
)
def test_values_by_name(shell, tmp_path, data, more, result):
    name = "v.csv" if data.startswith(b"a,") else "v.json"
    (tmp_path / name).write_bytes(data)
    assert shell(*TWO, "-i", name, *more) == (0, f"{result}\n", "")
    assert shell(*TWO, "-i", "-", *more, stdin=data) == (0, f"{result}\n", "")


@pytest.mark.parametrize(
    ("data", "more", "refused"),
    [
        ("a,B\n1,2\n", [], True),
        ("a, b b\n1,2\n", [], False),
        ("a,B\n1,2\n", ["b=1"], False),
        ("b,B\n1,2\n", [], False),
        ('{"schema":"gradcli.run/1","values":{"a":3.0,"B":9.0}}', [], True),
        ("a,B.0\n1,2\n", ["--rows", "rows.csv"], False),
    ],
)
def test_a_name_near_that_of_an_input_that_nobody_gives(
    cli, tmp_path, monkeypatch, data, more, refused
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("b\n3\n")
    status, _, err = cli(*TWO, "-i", "-", *more, stdin=data)
    assert status == 4 * refused
    assert ("has no `b`, and its `B` is not an input" in err) is refused


def test_one_gradcli_reads_what_another_printed(shell, tmp_path):
    first = ["run", "-e", "input a = nan", "-e", "input w = [1.0, -inf]", "-e", "s = sum(w)"]
    _, printed, _ = shell(*first, "-e", "s", "--json", "-q")
    again = shell(*first, "-e", "s", "--json", "-q", "-i", "-", stdin=printed.encode())
    found, wanted = json.loads(again[1]), json.loads(printed)
    assert (
        found["values"]
        == wanted["values"]
        == {"a": "NaN", "w": [1.0, "-Infinity"], "s": "-Infinity"}
    )


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"d": 3}', "the program has no input `d`"),
        (b'{"c": 3}', "`c` is computed by the program"),
        (b"[1]", "must be a JSON object"),
        (b'{"schema":"gradcli.grad/1","grad":{}}', "which has no `values`"),
        (b'{"a": ', "this is not valid JSON"),
        (b'{"A": 1}', "did you mean `a`?"),
        (b'{"d": 1}', "given as d in <stdin>"),
        (b'{"schema":"gradcli.grad/1","output":"d","value":3.0}', "note: it has d\n"),
        (b"c,d\n1,2\n", "no name in `<stdin>` is an input of the program"),
        (b"a,b\n1,q\n", "<stdin>:2:3: error[bad-input]: `q` in column `b` is not a number"),
        (b"a,a\n1,2\n", "two columns `a`"),
        (npy(np.ones(1)), "`-i` takes no .npy"),
        (b"", "`<stdin>` is empty"),
    ],
)
def test_wrong_values_by_name(shell, data, says):
    status, out, err = shell(*TWO, "-i", "-", stdin=data)
    assert (status, out) == (4, "")
    assert says in err


TYPED = [
    ("int", b"n\n9007199254740993\n", "[9007199254740993]", ""),
    ("int", b"n\n9223372036854775807\n", "[9223372036854775807]", ""),
    ("int", b"n\n9223372036854775808\n", "", "gets an int of more than 64 bits"),
    ("int", b'{"n": [1, 9223372036854775808]}', "", "gets an int of more than 64 bits"),
    ("int", b"n\n1.5\n", "", "is declared int"),
    ("bool", b"n\ntrue\nFalse\n1\n0\n", "[true,false,true,false]", ""),
    ("bool", b"n\n2\n", "", "is declared bool"),
    ("float", b"n\n3\ntrue\n100000000000000000000\n", "[3.0,1.0,1e+20]", ""),
]


@pytest.mark.parametrize(("kind", "data", "result", "says"), TYPED)
def test_a_column_has_the_kind_of_its_input(shell, kind, data, result, says):
    status, out, err = shell("run", "-e", f"input n: {kind}[k]", "-e", "n", "-i", "-", stdin=data)
    assert (status, out) == ((4, "") if says else (0, f"{result}\n"))
    assert says in err


def test_values_that_gradcli_printed_as_a_csv(shell):
    program = ["-e", "input x = 1.0", "-e", "input w = [0.0]", "-e", "sum(w) * x", "--show", "x,w"]
    _, printed, _ = shell("run", *program, "x=7", "w=[5, 6]", "-f", "csv")
    assert shell("run", *program, "-i", "-", stdin=printed.encode())[1] == "x\t7.0\nw\t[5.0,6.0]\n"


@pytest.mark.parametrize(
    ("arguments", "stdin", "says"),
    [
        (["x=@"], b"", "a file's name is missing behind `@`"),
        (["x=@-"], b"", "`<stdin>` is empty"),
        (["x=@-"], b"1000000000000000000000", "`x` gets an int of more than 64 bits"),
        (["x=1e30"], b"", "`x` gets an int of more than 64 bits"),
        (["x=true"], b"", "did you mean `True`?"),
        (["-i", "x.npz"], b"", "given as a in x.npz"),
        (["-i", "x.npy"], b"", "`-i` takes no .npy"),
    ],
)
def test_values_that_are_none(shell, tmp_path, arguments, stdin, says):
    (tmp_path / "x.npz").write_bytes(npz(a=np.ones(1)))
    (tmp_path / "x.npy").write_bytes(npy(np.ones(1)))
    program = ["run", "-e", "input x: int = 2", "-e", "x"]
    status, out, err = shell(*program, *arguments, stdin=stdin)
    assert (status, out) == (4, "")
    assert says in err


@pytest.mark.parametrize(
    "arguments",
    [["run", "-i", "-"], ["run", "-", "x=@-"], ["run", "-e", "x", "x=@-", "-i", "-"]],
)
def test_standard_input_is_read_once(shell, arguments):
    status, _, err = shell(*arguments, stdin=b"1")
    assert (status, "both read standard input" in err) == (2, True)


def test_directions_and_weights_from_files(shell, tmp_path):
    (tmp_path / "v.json").write_text("[1, 0]")
    program = ["-e", "x ** 2", "x=[1, 2]"]
    assert shell("jvp", *program, "--tangent", "x=@v.json", "-r") == (0, "2.0\n0.0\n", "")
    assert shell("vjp", *program, "--cotangent", "@v.json", "-r") == (0, "2.0\n0.0\n", "")


CLASHES = [
    (["jvp", "-e", "x * y", "y=@-", "--tangent", "x=@-"], "`y=@-` and `--tangent x=@-` both read"),
    (["vjp", "--cotangent", "@-"], "the program and `--cotangent @-` both read"),
    (["hvp", "-e", "x", "-i", "-", "--tangent", "x=@-"], "`-i -` and `--tangent x=@-` both read"),
    (["grad", "-e", "x", "--rows", "-", "--cotangent", "@-"], "`--rows -` and `--cotangent @-`"),
]


@pytest.mark.parametrize(("arguments", "says"), CLASHES, ids=lambda a: a[0])
def test_an_option_that_reads_standard_input_clashes(shell, arguments, says):
    status, out, err = shell(*arguments, stdin=b"x\n1\n")
    assert (status, out) == (2, "")
    assert says in err
