"""What bad data and options get from `fit`, `minimize`, `root` and `propagate`: a status and a message
with place, cause and way out, never a traceback.
"""

import pytest

pytest.importorskip("scipy")

FILES = {
    "empty": (b"", "is empty: it has no header"),
    "blank": (b"\n\n\n", "is empty: it has no header"),
    "UTF-16": ("t,y\n0,2\n1,1\n".encode("utf-16"), "is UTF-16, not UTF-8 text"),
    "latin": (b"t,y\n0,2\n1,\xe9\n2,1\n", "the byte 0xe9 is not UTF-8 text"),
    "NUL": (b"t,y\n0,2\n1,\x001\n2,1\n", "in column `y` is not a number"),
    "image": (b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "is a PNG image"),
    "huge int": (b"t,y\n0,2\n1," + b"9" * 5000 + b"\n2,1\n", "too large for a float"),
    "large": (b"t,y\n0,2\n1,1e999\n2,1\n", "`1e999` in column `y` is too large for a float"),
    "short": (b"t,y\n0,2\n1\n2,1\n", "1 cell, and the header has 2"),
    "text": (b"t,y\n0,2\nx,1\n2,1\n", "`x` in column `t` is not a number"),
    "twice": (b"t,t,y\n0,0,2\n1,1,1\n", "two columns `t`"),
    "unclosed": (b't,y\n0,"2\n1,1\n', "a quote is not closed"),
    "array": (b"\x93NUMPY\x01\x00v\x00", "is a NumPy array"),
}
FIT = ("fit", "a * exp(-k * t)", "a=2", "k=0.5", "--observed", "y")
COMMANDS = {
    "fit": FIT,
    "minimize": ("minimize", "(x - t) ** 2 + 0 * y", "x=1", "--wrt", "x"),
    "root": ("root", "x - t + 0 * y", "x=1", "--wrt", "x"),
    "propagate": ("propagate", "t + y * 1.0", "--uncertainty", "t=0.1,y=1%"),
}


@pytest.fixture
def asked(cli, tmp_path, monkeypatch):
    """Runs a command in a folder with a file of data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()

    def run(*arguments, data=b"t,y\n0,2\n1,1.2\n2,0.8\n3,0.5\n"):
        (tmp_path / "d.csv").write_bytes(data)
        status, out, err = cli(*arguments)
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", FILES)
def test_bad_files(kind, command, asked):
    data, says = FILES[kind]
    status, _, err = asked(*COMMANDS[command], "--rows", "d.csv", data=data)
    assert (status, says in err) == (4, True), err
    assert "d.csv" in err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing.csv", "no such file"),
        ("folder.csv", "no files are in it"),
        ("*.no", "no such file"),
    ],
)
def test_files_that_are_none(command, name, says, asked):
    status, out, err = asked(*COMMANDS[command], "--rows", name)
    assert (status, out) == (4, "")
    assert says in err


@pytest.mark.parametrize(
    ("data", "status", "says"),
    [
        (b"t,y\n", 4, "0 records of `d.csv` cannot tell 2 parameters"),
        (b"t,y\n0,2\n", 4, "1 record of `d.csv` cannot tell 2 parameters"),
        (b"t,y\n0,2\n1,nan\n2,1\n", 4, "`--on-error skip` leaves such records out"),
        (b"t,y\n0,2\n1,-inf\n2,1\n", 4, "`y` is not finite here"),
        (b"t,y\n1,2\n1,2.1\n1,1.9\n", 1, "the data do not tell"),
        (b"t,y\n0,1e300\n1,5e299\n2,2e299\n", 4, "scale it, as in `--observed 'y / 1e300'`"),
        (b"t,y\n0,1e-300\n1,5e-301\n2,2e-301\n", 1, "not converged"),
        (b"\xef\xbb\xbft,y\n0,2\n1,1.2\n2,.8", 0, ""),
        (b"t,y\r0,2\r1,1.2\r2,.8\r", 0, ""),
    ],
)
def test_odd_data_of_a_fit(data, status, says, asked):
    found, _, err = asked(*FIT, "--rows", "d.csv", data=data)
    assert (found, says in err) == (status, True), err


@pytest.mark.parametrize("source", ["/dev/null", "-"])
def test_no_data_at_all(source, asked):
    status, _, err = asked(*FIT, "--rows", source)
    assert (status, "is empty: it has no records" in err) == (4, True), err


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("fit", "a * t + b * t", "a=1", "b=1", "--rows", "d.csv", "--observed", "y"), 1, "`a` and `b`"),
        (("fit", "a * (t - t)", "a=1", "--rows", "d.csv", "--observed", "y"), 1, "do not tell `a`"),
        ((*FIT,), 2, "`--observed` needs `--rows`"),
        ((*FIT, "--rows", "d.csv", "--bounds", "a=5:1"), 2, "is not below the upper one"),
        ((*FIT, "--rows", "d.csv", "--bounds", "a=3:5"), 4, "is outside of its bounds [3, 5]"),
        ((*FIT, "--rows", "d.csv", "--bounds", "a=nan:5"), 2, "is not below the upper one"),
        ((*FIT[:-1], "y * k", "--rows", "d.csv"), 2, "--observed names `k`, which is a parameter"),
        ((*FIT, "--rows", "d.csv", "--sigma", "0"), 4, "deviations are above zero"),
        ((*FIT, "--rows", "d.csv", "--sigma", "nan"), 4, "`nan` is not finite"),
        ((*FIT, "--rows", "d.csv", "--weights", "t - t"), 4, "0 records of `d.csv` cannot tell"),
        ((*FIT, "--rows", "d.csv", "--fix", "a,k"), 2, "all parameters are held"),
        ((*FIT, "--rows", "d.csv", "--predict", "/no/p.csv"), 2, "cannot write"),
        (("minimize", "x ** 2", "x=1", "--bounds", "x=3:2"), 2, "is not below the upper one"),
        (("minimize", "x ** 2", "x=1", "--bounds", "x=2:3"), 4, "outside of its bounds"),
        (("minimize", "[x, x]", "x=1"), 4, "one number is made least"),
        (("root", "[x, x]", "x=1"), 4, "2 results cannot tell 1 unknown"),
        (("root", "exp(x)", "x=1"), 1, "not-found"),
        (("root", "exp(-x) / x", "x=1"), 1, "not-found"),
        (("root", "x ** 2 - 2", "--between", "2:0"), 2, "goes from 2 to 0"),
        (("propagate", "x * y", "x=5+/-1", "y=2+/-1", "--correlation", "x,y=2"), 4, "not from -1 to 1"),
    ],
)  # fmt: skip
def test_bad_options(arguments, status, says, asked):
    found, _, err = asked(*arguments)
    assert (found, says in err) == (status, True), err
