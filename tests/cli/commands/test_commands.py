"""Options in, one call of program, one text out: with a program that is made up."""

import io
import json
import os
import sys
from types import SimpleNamespace

import pytest

import gradcli
from gradcli.__main__ import _run
from gradcli.errors import (
    AssertionFailed,
    Diagnostic,
    InputError,
    LimitError,
    ProgramError,
    RunError,
)
from gradcli.results import Binding, GradResult, Graph, GraphNode, GraphResult, RunResult
from gradcli.source import Source, Span

RAISES = {
    "failed": AssertionFailed,
    "refused": ProgramError,
    "unfit": InputError,
    "broke": RunError,
    "limit": LimitError,
}


class Made:
    """A program that squares x, prints a line and warns when its text says so."""

    def __init__(self, source, calls):
        self.source = source
        self.calls = calls

    def _warnings(self):
        if "warn" not in self.source.text:
            return ()
        return (
            Diagnostic(
                "unused-input", "`y` is not used", self.source, Span(0, 4), severity="warning"
            ),
        )

    def _x(self, inputs, options, **call):
        self.calls.append({"inputs": inputs, "options": options, **call})
        text = self.source.text
        if text in RAISES:
            raise RAISES[text](Diagnostic(text, "no", self.source, Span(0, len(text))))
        if text == "bug":
            raise KeyError("inner")
        if text == "memory":
            raise MemoryError
        if text == "interrupt":
            raise KeyboardInterrupt
        options.echo("hel" if text == "unfinished" else "hello\n")
        return float(inputs["x"].value) if "x" in inputs else 2.0

    def within(self, options, work):
        return work()

    def run(self, inputs, *, options):
        x = self._x(inputs, options)
        bindings = (Binding("x", x, 2 * x, "", True), Binding("y", x * x, None, "<PowBackward0>"))
        graph = self._graph(x) if options.graph else None
        return RunResult("y", x * x, bindings, ("hello",), self._warnings(), graph)

    def grad(self, inputs, *, wrt, of, cotangent, options):
        x = self._x(inputs, options, wrt=wrt, of=of, cotangent=cotangent)
        return GradResult("y", x * x, {"x": 2 * x}, {"x": x}, ("hello",), self._warnings())

    def graph(self, inputs, *, wrt, of, cotangent, detailed, options):
        x = self._x(inputs, options, wrt=wrt, of=of, cotangent=cotangent)
        return GraphResult("y", x * x, self._graph(x), ("hello",), self._warnings())

    def _graph(self, x):
        return Graph(0, (GraphNode(0, "", "AccumulateGrad", "x", (), x, 1.0, 1, 1),), ())


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def cli(monkeypatch, capsys):
    """Runs a command line; gives status, standard output and standard error."""
    calls = []
    fake = SimpleNamespace(
        Options=SimpleNamespace,
        decode=lambda name, data: Source(name, data.decode()),
        load_source=lambda source, names: Made(source, calls),
        constant=lambda text, name, origin: SimpleNamespace(value=text, origin=origin),
    )
    monkeypatch.setitem(sys.modules, "gradcli.program", fake)
    monkeypatch.setattr(gradcli, "program", fake, raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", "GRADCLI_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        status = _run(arguments)
        out, err = capsys.readouterr()
        return status, out, err

    run.calls = calls
    return run


@pytest.mark.parametrize(
    ("arguments", "out", "err"),
    [
        (["run", "-e", "y"], "hello\n4.0\n", ""),
        (["run", "-e", "y", "x=3", "-f", "plain"], "hello\n9.0\n", ""),
        (["run", "-e", "y", "-r"], "4.0\n", "hello\n"),
        (["run", "-e", "y", "--show", "y,x"], "hello\ny\t4.0\nx\t2.0\n", ""),
        (["run", "-e", "y", "--show", "y", "--show=x", "-r"], "4.0\n2.0\n", "hello\n"),
        (
            ["run", "-e", "y", "--graph"],
            "hello\n4.0\n   value  gradient  line\nx  2      1         1\n",
            "",
        ),
        (["grad", "-e", "y"], "y\t4.0\ngrad.x\t4.0\n", "hello\n"),
        (["grad", "-e", "y", "-r"], "4.0\n", "hello\n"),
        (
            ["graph", "-e", "y"],
            "   value  gradient  line\nx  2      1         1\n",
            "hello\n",
        ),
    ],
)
def test_forms_for_pipes(cli, arguments, out, err):
    assert cli(*arguments) == (0, out, err)


@pytest.mark.parametrize("flag", [["--json"], ["-f", "json"], ["--format=json"]])
def test_json(cli, flag):
    status, out, err = cli("run", "-e", "y", *flag)
    assert (status, err) == (0, "")
    assert list(json.loads(out)) == [
        "schema",
        "output",
        "result",
        "values",
        "grad",
        "printed",
        "warnings",
    ]
    assert out.count("\n") == 1
    status, out, err = cli("grad", "-e", "y", *flag)
    assert (status, err) == (0, "hello\n")
    assert list(json.loads(out)) == ["schema", "output", "value", "grad", "warnings"]
    status, out, err = cli("graph", "-e", "y", *flag)
    assert list(json.loads(out)) == [
        "schema",
        "root",
        "nodes",
        "edges",
        "missing",
        "warnings",
    ]


def test_a_line_that_the_program_leaves_open_is_ended(cli, tmp_path):
    assert cli("run", "-e", "unfinished")[1] == "hel\n4.0\n"
    assert cli("run", "-e", "unfinished", "-f", "human")[1].startswith("hel\n\nname")


def test_human(cli):
    assert cli("run", "-e", "y", "-f", "human")[1] == (
        "hello\n\n"
        "name  dtype    value  grad  grad_fn\n"
        "x     float64  2      4\n"
        "y     float64  4            <PowBackward0>\n\ny = 4\n"
    )
    assert cli("grad", "-e", "y", "-f", "human", "x=1.23456789", "--precision", "3")[1] == (
        "y = 1.52\n\nname  value  gradient\nx     1.23   2.47\n"
    )


def test_a_terminal_gets_the_human_form_in_colour(cli, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm")
    cli("grad", "-e", "y")
    assert "gradient" in screen.getvalue()
    assert "\x1b[1m" in screen.getvalue()


@pytest.mark.parametrize(
    ("flags", "environment", "coloured"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"GRADCLI_COLOR": "always", "NO_COLOR": "1"}, True),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color=never"], {"FORCE_COLOR": "1", "GRADCLI_COLOR": "always"}, False),
    ],
)
def test_who_decides_about_colour(cli, monkeypatch, flags, environment, coloured):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b" in cli("grad", "-e", "y", "-f", "human", *flags)[1]) == coloured
    assert ("\x1b" in cli("grad", "-e", "refused", *flags)[2]) == coloured
    assert "\x1b" not in cli("grad", "-e", "y", *flags)[1]


def test_what_reaches_the_program(cli):
    cli(
        "grad",
        "--wrt",
        "a,b",
        "x=1",
        "-e",
        "p = 1",
        "--wrt=b, c",
        "x=2",
        "-e",
        "y",
        "--of",
        "r",
        "--cotangent",
        "[1, 2]",
        "--seed",
        "7",
        "--check-nan",
        "w=a=b",
    )
    (call,) = cli.calls
    assert call["wrt"] == ["a", "b", "c"]
    assert call["of"] == "r"
    assert call["cotangent"].value == "[1, 2]"
    assert {name: given.value for name, given in call["inputs"].items()} == {"x": "2", "w": "a=b"}
    assert (call["options"].seed, call["options"].check_nan, call["options"].graph) == (
        7,
        True,
        False,
    )


def test_nothing_given_is_nothing_asked(cli):
    cli("grad", "-e", "y")
    (call,) = cli.calls
    assert (call["wrt"], call["of"], call["cotangent"], call["inputs"]) == (None, None, None, {})


def test_program_texts(cli, tmp_path, monkeypatch):
    path = tmp_path / "a=b.grad"
    path.write_text("refused")
    assert cli("run", str(path))[2].startswith(f"{path}:1:1: error[refused]: no\n")
    assert cli("run", "x=2", "--", str(path))[0] == 3
    assert cli("run", "-e", "refused", "x=2")[2].startswith("<expr>:1:1: ")
    for arguments in ([], ["-"]):
        monkeypatch.setattr(
            sys,
            "stdin",
            SimpleNamespace(closed=False, isatty=lambda: False, buffer=io.BytesIO(b"refused")),
        )
        assert cli("run", *arguments)[2].startswith("<stdin>:1:1: ")


def test_standard_input_is_left_alone_when_a_program_is_named(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert cli("run", "-e", "y")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message", "help"),
    [
        (["rnu"], "no such command `rnu`", "did you mean `run`?"),
        (["xyzzy"], "no such command `xyzzy`", "try `gradcli --help`"),
        (["--versoin"], "no such option `--versoin`", "did you mean `--version`?"),
        (["run", "--shwo", "x"], "no such option `--shwo`", "did you mean `--show`?"),
        (
            ["run", "-e", "x", "-f", "xml"],
            "invalid value for `-f` / `--format`: `xml` is not one of `auto`, `human`, `plain`, `json`, `ndjson`, `csv`, `tsv`, `md`, `parquet`, `arrow`, `html`",
            "try `gradcli run --help`",
        ),
        (
            ["run", "-e", "x", "--seed", "a"],
            "invalid value for `--seed`: `a` is not a valid integer",
            "write `--seed N`",
        ),
        (
            ["run", "a.grad", "b.grad"],
            "two programs, `a.grad` and `b.grad`",
            "an input is written NAME=VALUE",
        ),
        (
            ["run", "a.grad", "-e", "x"],
            "a program in -e and another in `a.grad`",
            "an input is written NAME=VALUE",
        ),
        (["run", "no/file"], "cannot read `no/file`: no such file or directory", None),
        (
            ["run", "1x=2"],
            "cannot read `1x=2`: no such file or directory",
            "an input is NAME=VALUE, and `1x` is not a name",
        ),
        (["run", "/"], "cannot read `/`: is a directory", None),
        (["run", "/dev/zero"], "cannot read `/dev/zero`: longer than 64 MiB", None),
        (["run", "-e", "x", "--json", "-r"], "`--json` and `--raw` exclude each other", None),
        (
            ["run", "-e", "x", "--json", "-f", "plain"],
            "`--json` and `--format plain` exclude each other",
            None,
        ),
        (
            ["run", "-e", "x", "-o", "a.xyz"],
            "`a.xyz` does not say what to write: its suffix is `.xyz`",
            "known suffixes are .json, .ndjson, .csv, .tsv, .md, .npy, .npz, .parquet, .arrow, .html, .ipynb, .txt",
        ),
        (
            ["graph", "-e", "x", "-o", "a"],
            "`a` does not say what to write: its suffix is missing",
            "known suffixes are .dot, .mmd, .svg, .html, .png, .pdf, .json, .txt; or give `-f`",
        ),
        (
            ["run", "-e", "x", "-o", "a.json", "-r"],
            "`--raw` does not go with a file named `a.json`",
            None,
        ),
        (
            ["run", "-e", "x", "-o", "no/a.json"],
            "cannot write `no/a.json`: no such file or directory",
            None,
        ),
        (
            ["grad", "-e", "x", "--wrt", "a,,b"],
            "an empty name in --wrt",
            "names are written --wrt a,b",
        ),
        (
            ["run", "-e", "x", "--show", "xx"],
            "`xx` in --show is not a top-level value of the program",
            "did you mean `x`?",
        ),
    ],
)
def test_usage_errors(cli, arguments, message, help):
    status, _, err = cli(*arguments)
    lines = err.removeprefix("hello\n").splitlines()
    assert status == 2
    assert lines[0].split("]: ", 1)[1] == message
    assert lines[0].startswith("gradcli: error[")
    assert lines[1:] == ([f"  = help: {help}"] if help else [])


def test_no_file_and_a_terminal_is_a_usage_error(cli, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Terminal())
    status, _, err = cli("run")
    assert (status, err.splitlines()[0]) == (2, "gradcli: error[usage]: no program")


@pytest.mark.parametrize(
    ("text", "status", "code"),
    [
        ("failed", 1, "failed"),
        ("refused", 3, "refused"),
        ("unfit", 4, "unfit"),
        ("broke", 5, "broke"),
        ("limit", 6, "limit"),
        ("memory", 6, "memory"),
        ("bug", 70, "bug"),
    ],
)
@pytest.mark.parametrize("command", ["run", "grad", "graph"])
def test_exit_status(cli, command, text, status, code):
    found, out, err = cli(command, "-e", text)
    assert (found, out) == (status, "")
    assert f"error[{code}]: " in err.splitlines()[0]
    assert "Traceback" not in err


def test_a_bug_shows_its_traceback_when_asked(cli):
    status, _, err = cli("run", "-e", "bug", "-v")
    assert status == 70
    assert "Traceback" in err
    assert "error[bug]: a bug in gradcli: KeyError: 'inner'" in err


def test_interrupt(cli):
    assert cli("run", "-e", "interrupt") == (130, "", "")


@pytest.mark.parametrize("flags", [["--diagnostics", "json"], ["--diagnostics=json"]])
@pytest.mark.parametrize("arguments", [["run", "-e", "refused"], ["run", "--nonsense"]])
def test_messages_as_json(cli, flags, arguments):
    _, _, err = cli(*arguments, *flags)
    assert json.loads(err)["severity"] == "error"


def test_concise_messages(cli):
    assert (
        cli("run", "-e", "refused", "--diagnostics", "concise")[2]
        == "<expr>:1:1: error[refused]: no\n"
    )


def test_warnings_go_to_standard_error_unless_quiet(cli):
    text = "<expr>:1:1: warning[unused-input]: `y` is not used\n  |\n1 | warn\n  | ^^^^\n"
    assert cli("run", "-e", "warn") == (0, "hello\n4.0\n", text)
    assert cli("run", "-e", "warn", "-q") == (0, "hello\n4.0\n", "")
    assert cli("grad", "-e", "warn", "-q")[2] == "hello\n"
    _, out, err = cli("grad", "-e", "warn", "--json", "--diagnostics=concise")
    assert json.loads(out)["warnings"][0]["code"] == "unused-input"
    assert err == "hello\n<expr>:1:1: warning[unused-input]: `y` is not used\n"


def test_output_files(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("run", "-e", "y", "-o", "a.txt") == (0, "", "")
    assert (tmp_path / "a.txt").read_text() == "hello\n4.0\n"
    cli("run", "-e", "y", "-o", "a.txt", "-r")
    assert (tmp_path / "a.txt").read_text() == "4.0\n"
    cli("grad", "-e", "y", "-o", "b.json")
    assert json.loads((tmp_path / "b.json").read_text())["grad"] == {"x": 4.0}
    graphs = {
        "g.dot": "digraph",
        "g.html": "<!doctype html>",
        "g.json": "{",
        "g.mmd": "flowchart",
        "g.svg": "<svg",
        "g.txt": " ",
    }
    for name, start in graphs.items():
        assert cli("graph", "-e", "y", "-o", name)[0] == 0
        assert (tmp_path / name).read_text().startswith(start)
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.json", *graphs]


@pytest.mark.parametrize("command", ["run", "grad", "graph"])
def test_help_has_an_example_and_fits_a_terminal(cli, command):
    for flag in ("-h", "--help"):
        status, out, err = cli(command, flag)
        assert (status, err) == (0, "")
        assert f"\n    gradcli {command} " in out
        assert max(map(len, out.splitlines())) <= 100


def test_version(cli):
    assert cli("--version") == (0, f"gradcli {gradcli.__version__}\n", "")
