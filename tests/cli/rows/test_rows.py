"""`--rows`: each record in, each result out; with `--jobs`, by real processes."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradcli.cli.rows import rows
from gradcli.cli.terminal.progress import told
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.fast import scalars
from gradcli.errors import Diagnostic, LimitError
from gradcli.formats.readers.rows import open_rows
from gradcli.formats.texts.dialect import USUAL

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
SQUARE = ["grad", "-e", "x ** 2", "--rows", "-"]


@pytest.fixture
def shell(forked):
    """Run a command line; give status, standard output and standard error."""

    def run(*arguments, stdin=""):
        done = forked.run(*arguments, stdin=stdin, env=ENVIRONMENT)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


GOOD = [
    (SQUARE, "x\n1\n2\n", "result,grad.x\n1.0,2.0\n4.0,4.0\n"),
    (SQUARE, "note,x\nany thing,1\n", "result,grad.x\n1.0,2.0\n"),
    (SQUARE, "x\r\n1\r\n\r\n2\r\n", "result,grad.x\n1.0,2.0\n4.0,4.0\n"),
    (SQUARE, "x\nnan\n-inf\n", "result,grad.x\nnan,nan\ninf,-inf\n"),
    (SQUARE, 'x,t\n"1","a ""b"",\nc"\n2,d\n', "result,grad.x\n1.0,2.0\n4.0,4.0\n"),
    (SQUARE, "x\n", ""),
    (SQUARE, "x,y\r1,2\r3,4\r", "result,grad.x\n1.0,2.0\n9.0,6.0\n"),
    (SQUARE, "\n \nx,y,,\n1,2,,\n", "result,grad.x\n1.0,2.0\n"),
    (SQUARE, "x\ty\n3\ta,b\n", "result\tgrad.x\n9.0\t6.0\n"),
    (SQUARE, 'note,x\n5" pipe,1\n6" pipe,2\n', "result,grad.x\n1.0,2.0\n4.0,4.0\n"),
    (SQUARE, "x,x.1,x.2\n1,q,r\n", "result,grad.x\n1.0,2.0\n"),
    (
        ["run", "-e", "input w = ones(1, 2)", "-e", "w * 10", "--rows", "-"],
        "w.0.0,w.0.1\n1,2\n3,4\n",
        "result.0.0,result.0.1\n10.0,20.0\n30.0,40.0\n",
    ),
    (
        ["run", "-e", "sum(w) * k", "k=10", "--rows", "-", "--columns", "w.0,w.1"],
        "1,2\n",
        "result\n30.0\n",
    ),
    (
        ["run", "-e", "input n: int", "-e", "n", "--rows", "-"],
        "n\n9007199254740993\n9223372036854775807\n3.0\n",
        "n\n9007199254740993\n9223372036854775807\n3\n",
    ),
    (
        ["run", "-e", "input b: bool", "-e", "b", "--rows", "-"],
        "b\ntrue\nTrue\nfalse\n0\n",
        "b\ntrue\ntrue\nfalse\nfalse\n",
    ),
    (
        ["run", "-e", "sum(w)", "--rows", "-"],
        'w\n"[1, inf]"\n"[-Infinity, [2]"\n'.replace("[2]", "2]"),
        "result\ninf\n-inf\n",
    ),
    (
        ["run", "-e", '(x, None, "a,b")', "--rows", "-"],
        "x\n1\n",
        'result.0,result.1,result.2\n1.0,,"a,b"\n',
    ),
    ([*SQUARE, "-r"], "x\n1\n2\n", "2.0\n4.0\n"),
    ([*SQUARE, "-f", "tsv"], "x\n1\n", "result\tgrad.x\n1.0\t2.0\n"),
    ([*SQUARE, "--columns", "x,y"], "1,5\n2,6\n", "result,grad.x\n1.0,2.0\n4.0,4.0\n"),
    (
        ["run", "-e", "sum(w) * k", "k=10", "--rows", "-"],
        'w\n"[1, 2]"\n"[3]"\n',
        "result\n30.0\n30.0\n",
    ),
    (
        ["run", "-e", "y = x * 2", "-e", "z = y + 1", "-e", "z", "--show", "y,z", "--rows", "-"],
        "x\n1\n",
        "y,z\n2.0,3.0\n",
    ),
    (
        ["jacobian", "-e", "stack([x, x * k])", "--rows", "-", "k=3", "--wrt", "x"],
        "x\n1\n",
        "result.0,result.1,jacobian.x.0,jacobian.x.1\n1.0,3.0,1.0,3.0\n",
    ),
    (
        ["hvp", "-e", "x ** 3", "--tangent", "x=1", "--rows", "-"],
        "x\n2\n",
        "result,hvp.x\n8.0,12.0\n",
    ),
]


@pytest.mark.parametrize(("arguments", "stdin", "out"), GOOD)
def test_a_result_for_each_record(cli, arguments, stdin, out):
    assert cli(*arguments, "-q", stdin=stdin) == (0, out, "")


@pytest.mark.parametrize(("arguments", "stdin", "out"), GOOD[::4])
def test_jobs_give_the_same_result_for_each_record(arguments, stdin, out, shell):
    assert shell(*arguments, "-q", "--jobs", "2", stdin=stdin) == (0, out, "")


def test_json_lines_have_the_row_first(cli):
    status, out, _ = cli(
        *SQUARE,
        stdin='{"x": 1}\n{"x": "NaN", "other": [1]}\n',
    )
    rows = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert [next(iter(row)) for row in rows] == ["row", "row"]
    assert [row["row"] for row in rows] == [0, 1]
    assert rows[0]["schema"] == "gradcli.grad/1"
    assert rows[0]["grad"] == {"x": 2.0}
    assert rows[1]["value"] == "NaN"


def test_rows_that_another_gradcli_printed(cli):
    first = ["run", "-e", "y = x * 2", "-e", "y", "--rows", "-", "--json", "-q"]
    _, printed, _ = cli(*first, stdin="x\n1\nnan\n-inf\n")
    again = ["run", "-e", "input x = 0.0", "-e", "x + 1", "--rows", "-", "-f", "csv", "-q"]
    assert cli(*again, stdin=printed) == (0, "result\n2.0\nnan\n-inf\n", "")


def test_each_object_has_its_own_keys(cli):
    program = ["run", "-e", "input x = 1.0", "-e", "input y = 2.0", "-e", "x + y", "--rows", "-"]
    rows = '{"x": 1}\n{"id": 7, "x": 1, "y": 100}\n{"y": 3}\n'
    assert cli(*program, "-f", "csv", "-q", stdin=rows) == (0, "result\n3.0\n101.0\n4.0\n", "")


def test_rows_of_derivatives_that_another_gradcli_printed(cli):
    _, printed, _ = cli("grad", "-e", "y = x ** 2", "-e", "y", "--rows", "-", stdin='{"x": 3}')
    again = ["run", "-e", "y + 1", "--rows", "-", "-f", "csv"]
    assert cli(*again, stdin=printed) == (0, "result\n10.0\n", "")


BAD_ROWS = [  # the one bad row among good ones, and what is said of it
    (
        "x\n1\nq\n2\n",
        "<stdin>:3:1: error[bad-input]: `q` in column `x` is not a number\n  |\n3 | q\n",
    ),
    ("x\n1\n\n\nq\n2\n", "<stdin>:5:1: "),
    ('note,x\n"a\nb",1\nc,q\nd,2\n', "<stdin>:4:3: "),
    ('note,x\na,1\n"c\nd",q\ne,2\n', "<stdin>:4:4: error[bad-input]: `q` in column `x`"),
    ("x\n1\n1,2\n2\n", "<stdin>:3:3: error[bad-input]: 2 cells, and the header has 1"),
    ('x\n1\n"[1, q]"\n2\n', "<stdin>:3:6: error[bad-input]: `q` in a list is not a number"),
    ("x\n1\n\udcff\n2\n", "<stdin>:3:1: error[bad-input]: the byte 0xff is not UTF-8 text"),
    ('x\n1\n2\n"3\n', "<stdin>:4:1: error[bad-input]: a quote is not closed"),
    ("row,x,error\n0,1,\n1,,broken\n2,2,\n", "this row is an error of an earlier gradcli: broken"),
    ('{"x": 1}\n{"x": 2}\n{"x": \n', "<stdin>:3:5: error[bad-input]: this is not valid JSON"),
    ('{"x" 1}\n{"x": 1}\n{"x": 2}\n', "<stdin>:1:6: error[bad-input]: this is not valid JSON"),
    ('{"x": 1}\n[2]\n{"x": 2}\n', "<stdin>:2:1: error[bad-input]: a row is a JSON object"),
    ('{"y": 1}\n{"x": 1}\n{"x": 2}\n', "<stdin>:1:1: error[unknown-input]: no key of this row"),
    ('{"x": 1}\n{"X": 1}\n{"x": 2}\n', "help: did you mean `x`?"),
    (
        '{"x": 1}\n{"row": 1, "error": {"message": "so"}}\n{"x": 2}\n',
        "this row is an error of an earlier gradcli: so",
    ),
]


@pytest.mark.parametrize("form", [[], ["-f", "csv"], ["-f", "ndjson"], ["--columns", "x"]])
def test_an_empty_stream_has_no_rows(cli, form):
    assert cli(*SQUARE, *form, stdin="") == (0, "", "")


@pytest.mark.parametrize(("stdin", "says"), BAD_ROWS)
def test_a_bad_row_is_told_with_its_place(cli, stdin, says):
    status, out, err = cli(*SQUARE, "-f", "csv", "--on-error", "skip", stdin=stdin)
    assert (status, len(out.splitlines())) == (4, 3)
    assert says in err


def test_a_recorded_error_has_its_place(cli):
    _, out, _ = cli(*SQUARE, "--json", "--on-error", "record", stdin="x\n1\nq\n")
    error = json.loads(out.splitlines()[1])["error"]
    place = [error[key] for key in ("file", "line", "column", "end_line", "end_column")]
    assert place == ["<stdin>", 3, 1, 3, 2]


def test_many_quotes_take_time_in_proportion(cli):
    def seconds(lines):
        rows = "note,x\n" + '5" pipe,1\n' * (lines // 50) + '"' + "a\n" * lines + '",2\n'
        started = time.process_time()
        asked = ("run", "-e", "x", "--rows", "-", "-r", "--compile", "never")
        status, out, _ = cli(*asked, stdin=rows)
        assert (status, out.count("\n"), out[-4:]) == (0, lines // 50 + 1, "2.0\n")
        return time.process_time() - started

    few, many = (min(seconds(lines) for _ in range(2)) for lines in (10_000, 40_000))
    assert many < 8 * few, f"4 times the lines take {many / few} times the time"


def test_the_form_is_that_of_the_input_unless_asked_for(cli):
    assert cli(*SQUARE, "--json", stdin="x\n1\n")[1].startswith('{"row":0,')
    assert cli(*SQUARE, "-f", "csv", stdin='{"x": 1}\n')[1] == "result,grad.x\n1.0,2.0\n"


BAD = "x\n1\nz\n3\n1,2\n"
POLICIES = [
    ("stop", "result,grad.x\n1.0,2.0\n"),
    ("skip", "row,result,grad.x\n0,1.0,2.0\n2,9.0,6.0\n"),
    (
        "record",
        "row,result,grad.x,error\n0,1.0,2.0,\n1,,,<stdin>:3:1: `z` in column `x` is not a number\n"
        '2,9.0,6.0,\n3,,,"<stdin>:5:3: 2 cells, and the header has 1"\n',
    ),
]


@pytest.mark.parametrize(("policy", "out"), POLICIES)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bad_row_stops_is_skipped_or_recorded(policy, out, jobs, shell):
    status, got, err = shell(*SQUARE, "--on-error", policy, "--jobs", jobs, stdin=BAD)
    assert (status, got) == (4, out)
    told = {"stop": 1, "skip": 2, "record": 0}[policy]
    assert err.count("error[bad-input]") == told
    if told:
        assert "in row 1, line 3" in err


def test_the_status_is_that_of_the_first_bad_row(cli):
    program = ["run", "-e", "assert x > 0", "-e", "x", "--rows", "-", "--on-error", "skip"]
    assert cli(*program, stdin="x\n1\n-1\nz\n")[0] == 1
    assert cli(*program, stdin="x\nz\n-1\n")[0] == 4


def test_bad_first_rows_wait_for_the_header(cli):
    _, out, _ = cli(*SQUARE, "--on-error", "record", stdin="x\nz\n1\n")
    assert [line.split(",")[0] for line in out.splitlines()] == ["row", "0", "1"]


REFUSED = [
    ([*SQUARE, "zz=1", "--on-error", "skip"], "x\n1\n2\n", 4, "the program has no input `zz`"),
    ([*SQUARE, "--wrt", "q", "--on-error", "record"], "x\n1\n2\n", 2, "--wrt names `q`"),
    ([*SQUARE, "--columns", "x,x"], "1,2\n", 2, "two columns of `--columns` have the same name"),
    ([*SQUARE, "--columns", "x"], '{"x": 1}\n', 2, "`--columns` names the columns of a CSV"),
    (["run", "-e", "x", "--graph", "--rows", "-"], "x\n1\n", 2, "does not go with --rows"),
    (["run", "-e", "y = x", "--rows", "-"], "x\n1\n2\n", 2, "so it has no result"),
    (
        ["run", "-e", "error = x", "-e", "error", "--rows", "-", "--on-error", "record"],
        "x\n1\n",
        2,
        "the result is called `error`",
    ),
    (SQUARE, "y\n1\n", 4, "no column of `<stdin>` is an input"),
    (
        ["run", "-e", "a * b", "--rows", "-"],
        "a\n1\n",
        4,
        "has no column `b`, which the program needs",
    ),
    (SQUARE, "x,x\n1,2\n", 4, "<stdin>:1:3: error[bad-input]: two columns `x`"),
    (["run", "-e", "x", "--rows", "none.csv"], "", 4, "cannot read `none.csv`"),
    (["run", "-e", "x", "--columns", "x"], "", 2, "`--columns` needs `--rows`"),
    ([*SQUARE, "-f", "plain"], "x\n1\n", 2, "does not go with `--rows`"),
    ([*SQUARE, "-r", "--on-error", "record"], "x\n1\n", 2, "`--raw` has no place for an error"),
    (["run", "-e", "x", "--rows", "."], "", 4, "cannot read `.`: no files are in it"),
    (["run", "--rows", "-"], "x\n1\n", 2, "both read standard input"),
    (SQUARE, 'x\n"1\n', 4, "a quote is not closed"),
    (SQUARE, "x;y\n1;2\n", 4, "makes a CSV of it"),
    (SQUARE, "x.0,x.2\n1,2\n", 4, "<stdin>:1:1: error[bad-input]: the columns `x.0`, `x.2`"),
    (SQUARE, '[1, {"x": 2}]', 4, "help: objects give values by name"),
    (SQUARE, '{\n"x": 1\n}', 4, "help: `jq -c .` writes"),
    (SQUARE, '{"x": 9223372036854775808e400}\n', 4, "is too large for a float"),
    (["run", "-e", "x", "--rows", "/dev/zero"], "", 4, "longer than 64 MiB"),
    (["run", "-e", "x", "x=@/dev/zero"], "", 4, "longer than 256 MiB"),
]


@pytest.mark.parametrize(("arguments", "stdin", "status", "says"), REFUSED)
def test_refusals(cli, arguments, stdin, status, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    got, out, err = cli(*arguments, stdin=stdin)
    assert (got, out) == (status, "")
    assert says in err


def test_rows_into_a_file(cli, tmp_path):
    out = tmp_path / "out.csv"
    assert cli(*SQUARE, "-o", str(out), stdin="x\n3\n") == (0, "", "")
    assert out.read_text() == "result,grad.x\n9.0,6.0\n"


def test_a_file_is_left_as_it_was_if_a_bad_row_ends_the_run(cli, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("before\n")
    status, _, err = cli(*SQUARE, "-o", str(out), stdin="x\n3\nz\n")
    assert status == 4
    assert "in row 1, line 3" in err
    assert [out] == list(tmp_path.iterdir())
    assert out.read_text() == "before\n"


RAGGED = """\
{"w": [1, 2]}
{"w": [1]}
{"w": [3, 4]}
"""
RAGGED_POLICIES = [
    ("stop", "result,grad.w.0,grad.w.1\n5.0,2.0,4.0\n"),
    ("skip", "row,result,grad.w.0,grad.w.1\n0,5.0,2.0,4.0\n2,25.0,6.0,8.0\n"),
    (
        "record",
        "row,result,grad.w.0,grad.w.1,error\n0,5.0,2.0,4.0,\n1,,,,"
        '"the result has the columns result, grad.w.0, and the first one result, grad.w.0, '
        'grad.w.1"\n2,25.0,6.0,8.0,\n',
    ),
]


@pytest.mark.parametrize(("policy", "out"), RAGGED_POLICIES)
def test_a_result_of_other_columns_is_a_bad_row(cli, policy, out):
    program = ["grad", "-e", "sum(w ** 2)", "--rows", "-", "-f", "csv", "--on-error", policy]
    status, got, err = cli(*program, stdin=RAGGED)
    assert (status, got) == (4, out)
    assert ("in row 1, line 2" in err) == (policy != "record")


def test_a_result_is_out_before_the_next_record_is_in():
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", *SQUARE],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("x\n1\n")
    process.stdin.flush()
    assert process.stdout.readline() == "result,grad.x\n"
    assert process.stdout.readline() == "1.0,2.0\n"
    out, _ = process.communicate("2\n")
    assert (out, process.returncode) == ("4.0,4.0\n", 0)


def test_rows_one_by_one_are_rows_together(cli):
    program = ["-e", "y = x", "-e", "while y < 50: y = y * 1.5 + x", "-e", "y"]
    values = [0.5, 1.0, 2.25, 7.0]
    _, together, _ = cli("grad", *program, "--rows", "-", stdin="\n".join(["x", *map(str, values)]))
    single = [cli("grad", *program, f"x={x}", "-f", "csv")[1].splitlines()[1] for x in values]
    assert together.splitlines()[1:] == single


PEAK = """
import resource, sys
from gradcli.__main__ import _run
status = _run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "output",
    [
        [],
        pytest.param(["-o", "out.csv"], marks=pytest.mark.long),
        ["-o", "out.csv", "--jobs", "2"],
    ],
)
def test_memory_stays_flat(tmp_path, output):
    peaks = []
    for count in (500, 2_500):
        path = tmp_path / f"{count}.csv"
        path.write_text("x\n" + "".join(f"{i}\n" for i in range(count)))
        done = subprocess.run(
            [sys.executable, "-c", PEAK, "grad", "-e", "x ** 2 + sin(x)", "--rows", path, *output],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=True,
        )
        written = (tmp_path / "out.csv").read_text() if output else done.stdout
        assert len(written.splitlines()) == count + 1
        peaks.append(int(done.stderr))
    few, many = peaks
    assert many < few + 1000, f"{few} KiB for 500 rows, {many} KiB for 2,500"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_bar_on_the_terminal_leaves_the_results_alone(tmp_path):
    """Rows come one by one until the bar is there, which patience keeps back for a while."""
    rows, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    os.mkfifo(rows)
    person, terminal = pty.openpty()
    command = [sys.executable, "-m", "gradcli", "run", "-e", "x * 2", "--rows", str(rows)]
    environment = {**ENVIRONMENT, "TERM": "xterm"}
    with out.open("wb") as results:
        process = subprocess.Popen(command, env=environment, stdout=results, stderr=terminal)
    os.close(terminal)
    count, told = 0, b""
    with rows.open("w", buffering=1) as producer:
        producer.write("x\n")
        while b"rows" not in told and count < 600:
            producer.write(f"{count}\n")
            count += 1
            if select.select([person], [], [], 0.05)[0]:
                told += os.read(person, 4096)
    assert process.wait(60) == 0
    os.close(person)
    assert b"rows" in told
    expected = "".join(f"{2.0 * i}\n" for i in range(count))
    assert out.read_text() == f"result\n{expected}"


# --jobs -------------------------------------------------------------------------------------


@pytest.fixture
def two_jobs():
    """A run of two jobs whose standard input stays open, after one row."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gradcli", *SQUARE, "--jobs", "2", "--compile", "never"],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    process.stdin.write("x\n1\n")
    process.stdin.flush()
    assert [process.stdout.readline() for _ in range(2)] == ["result,grad.x\n", "1.0,2.0\n"]
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        pytest.skip("the system does not list a process's children")
    process.workers = [int(pid) for pid in children.read_text().split()]
    yield process
    process.kill()
    process.communicate()
    assert all(map(is_over, process.workers))


def is_over(pid):
    """Whether a process has ended within a while."""
    for _ in range(100):
        try:
            if " Z " in Path(f"/proc/{pid}/stat").read_text():
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


def test_jobs_answer_before_the_next_record_is_in(two_jobs):
    assert len(two_jobs.workers) == 2
    two_jobs.stdin.write("2\n")
    two_jobs.stdin.flush()
    assert two_jobs.stdout.readline() == "4.0,4.0\n"


def test_jobs_end_at_a_bad_row_while_the_producer_goes_on(two_jobs):
    two_jobs.stdin.write("q\n" + "1\n" * 200)
    two_jobs.stdin.flush()
    assert two_jobs.wait(30) == 4
    assert "in row 1, line 3" in two_jobs.stderr.read()


@pytest.mark.parametrize(("sent", "status"), [("SIGINT", 130), ("SIGTERM", -15), ("SIGKILL", -9)])
def test_jobs_end_with_their_parent(two_jobs, sent, status):
    os.kill(two_jobs.pid, getattr(signal, sent))
    assert two_jobs.wait(30) == status
    assert two_jobs.stderr.read() == ""


def test_a_lost_job_is_an_error(two_jobs):
    for pid in two_jobs.workers:
        os.kill(pid, signal.SIGKILL)
        is_over(pid)
    two_jobs.stdin.write("2\n")
    two_jobs.stdin.flush()
    assert two_jobs.wait(30) == 6
    assert "error[worker-lost]" in two_jobs.stderr.read()


def test_jobs_end_when_the_reader_leaves(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(50_000)))
    script = f"{sys.executable} -m gradcli grad -e 'x ** 2' --rows {path} --jobs 2 | head -1"
    done = subprocess.run(
        ["bash", "-c", f"{script}; echo ${{PIPESTATUS[0]}}"],
        env=ENVIRONMENT,
        capture_output=True,  # waits for all that hold the pipes
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("result,grad.x\n141\n", "")


def test_jobs_print_in_the_order_of_the_rows(shell):
    program = ["run", "-e", "print(x)", "-e", "x", "--rows", "-"]
    rows = "x\n" + "".join(f"{i}\n" for i in range(300))
    assert shell(*program, "--jobs", "3", stdin=rows) == shell(*program, stdin=rows)


def test_what_comes_before_unreadable_rows_is_written_by_jobs_as_well():
    process = [sys.executable, "-m", "gradcli", "run", "-e", "x", "--rows", "-"]
    rows = b"x\n" + b"1\n" * 100 + b"5" * (2**26 + 2)
    alone, shared = (
        subprocess.run(
            [*process, *jobs], env=ENVIRONMENT, input=rows, capture_output=True, check=False
        )
        for jobs in ([], ["--jobs", "2"])
    )
    assert alone.stdout.count(b"\n") == 101
    assert (shared.returncode, shared.stdout) == (alone.returncode, alone.stdout)


def test_rows_whose_first_good_one_never_comes(cli):
    status, out, _ = cli(*SQUARE, "--on-error", "record", stdin="x\nz\n")
    assert (status, out.splitlines()[0]) == (4, "row,error")
    assert len(out.splitlines()) == 2


def test_a_warning_is_told_once_with_its_row(cli):
    status, out, err = cli(*SQUARE, stdin="x\n1\nnan\n2\nnan\n")
    assert (status, len(out.splitlines())) == (0, 5)
    assert err.count("warning[") == 1
    assert "first in row 1, line 3" in err


def test_json_rows_hold_what_the_program_prints(cli):
    program = ["run", "-e", "print(x)", "-e", "x", "--rows", "-", "--show", "x"]
    _, out, err = cli(*program, "--json", stdin="x\n1\n")
    assert (json.loads(out)["printed"], err) == (["1.0"], "")
    assert cli(*program, stdin="x\n1\n")[2] == "1.0\n"


def test_bools_as_others_write_them_and_no_other_digits(cli):
    program = ["run", "-e", "input x: bool", "-e", "1 if x else 2", "--rows", "-"]
    rows = "x\nTrue\ntrue\nTRUE\nFALSE\n"
    assert cli(*program, stdin=rows) == (0, "result\n1\n1\n1\n2\n", "")
    status, _, err = cli("run", "-e", "x", "--rows", "-", stdin="x\n\u0661\n")
    assert (status, "is not a number" in err) == (4, True)


# names ------------------------------------------------------------------------------------------

TEMPERATURE = ["run", "-e", "input x = 1.0", "-e", "input T = 20.0", "-e", "x * T", "--rows", "-"]


@pytest.mark.parametrize(
    ("stdin", "more"),
    [
        ("x,t\n1,5\n", []),
        ("x, T ,t\n1,5,6\n", ["--columns", "x,t,u"]),
        ('{"x": 1, "t": 5}\n', []),
        ('{"x": 1, "T": 5}\n{"x": 1, "t": 5}\n', ["-f", "csv"]),
        ("x,t\n1,5\n", ["--on-error", "skip"]),
        ("x,t.0,t.1\n1,5,6\n", []),
    ],
)
def test_a_column_near_the_name_of_an_input_that_nobody_gives_is_refused(cli, stdin, more):
    status, _, err = cli(*TEMPERATURE, *more, stdin=stdin)
    assert status == 4
    assert "has no `T`, and its `t` is not an input" in err
    assert "name it `T`, or give T=VALUE if it is something else" in err


def test_a_row_with_a_key_near_an_input_is_a_bad_row(cli):
    rows = '{"x": 1, "T": 2}\n{"x": 1, "t": 2}\n{"x": 2, "T": 2}\n'
    status, out, _ = cli(*TEMPERATURE, "-f", "csv", "--on-error", "skip", stdin=rows)
    assert (status, out) == (4, "row,result\n0,2.0\n2,4.0\n")


@pytest.mark.parametrize(
    ("program", "stdin", "more"),
    [
        ("input x = 1.0; input T = 20.0; x * T", "x,t\n1,5\n", ["T=3"]),
        ("input x = 1.0; input T = 20.0; x * T", "x,T\n1,5\n", []),
        ("input x = 1.0; input t = 1.0; x * t", "x,t,T\n1,5,6\n", []),
        ("input x = 1.0; param T = 20.0; x * T", "x,t\n1,5\n", []),
        ("input x = 1.0; T = 20.0; x * T", "x,t\n1,5\n", []),
        ("input x = 1.0; input T = 20.0; x * T", '{"x": 1, "t": 5}\n', ["T=3"]),
    ],
)
def test_columns_that_are_not_misspelt(cli, program, stdin, more):
    status, _, err = cli("run", "-e", program, "--rows", "-", *more, stdin=stdin)
    assert (status, err) == (0, "")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_inputs_that_no_column_gives_bring_one_warning(cli, jobs):
    program = "input x = 1.0; input k = 2.0; input m = 3.0; param p = 1.0; x * k * m * p"
    run = ["run", "-e", program, "--rows", "-", "--jobs", jobs]
    status, out, err = cli(*run, stdin="x,other\n1,a\n2,b\n")
    assert (status, out) == (0, "result\n6.0\n12.0\n")
    assert err == (
        "gradcli: warning[input-at-default]: `<stdin>` has no `k`, `m`: they keep their defaults\n"
        "  = help: k=VALUE gives what is the same for all rows\n"
    )
    _, _, err = cli(*run, "k=1", stdin='{"x": 1, "m": 2}\n{"x": 2}\n{"x": 3}\n')
    assert err == (
        "gradcli: warning[input-at-default]: this row has no `m`: it keeps its default\n"
        "  = note: first in row 1, line 2; later ones are not shown\n"
        "  = help: m=VALUE gives what is the same for all rows\n"
    )
    assert cli(*run, "-q", stdin="x\n1\n")[2] == ""


# random numbers ---------------------------------------------------------------------------------

DRAWS = ["-e", "input x = 1.0", "-e", "x * rand(size=()) + randint(100, ()) * 0", "--seed", "5"]


def test_a_rows_random_numbers_come_from_the_seed_and_its_number(cli):
    rows = ["run", *DRAWS, "--rows", "-", "-r"]
    _, out, _ = cli(*rows, stdin="x\n1\n1\n1\n1\n")
    numbers = out.split()
    assert len(set(numbers)) == 4
    assert cli("run", *DRAWS)[1].split() == numbers[:1]
    assert cli(*rows, "--jobs", "2", stdin="x\n1\n1\n1\n1\n")[1] == out
    _, kept, _ = cli(*rows, "--on-error", "skip", "-q", stdin="x\n1\nbad\n1\n1\n")
    assert kept.split() == [numbers[0], *numbers[2:]]
    _, derived, _ = cli("grad", *DRAWS, "--rows", "-", "-f", "csv", stdin="x\n1\n1\n")
    assert [line.split(",")[1] for line in derived.splitlines()[1:]] == numbers[:2]


@pytest.mark.parametrize("draw", ["rand(size=())", "random.random()", "np.random.rand()"])
def test_every_generator_begins_anew_in_each_row(cli, draw):
    text = f"import random; import numpy as np; input x = 1.0; x * {draw}"
    once = cli("run", "-e", text, "--seed", "5")[1].split()
    numbers = cli("run", "-e", text, "--seed", "5", "--rows", "-", "-r", stdin="x\n1\n1\n1\n")[
        1
    ].split()
    assert len(set(numbers)) == 3
    assert numbers[:1] == once


def test_a_row_that_is_run_again_to_explain_it_draws_the_same_numbers(cli):
    program = "input x = 1.0; y = log(x * 0) if rand(size=()) < 0.5 else 1 / (x * 0); y"
    rows = ["--rows", "-", "--json", "--seed", "5"]
    _, out, _ = cli("run", "-e", program, *rows, stdin="x\n" + "1\n" * 10)
    rows = [json.loads(line) for line in out.splitlines()]
    assert {row["result"] for row in rows} == {"-Infinity", "Infinity"}
    for row in rows:
        name = "log" if row["result"] == "-Infinity" else "div"
        assert f"`{name}` made " in row["warnings"][0]["message"]


@pytest.mark.parametrize("policy", ["skip", "record"])
def test_a_row_in_which_gradcli_fails_is_no_end_of_the_others(cli, monkeypatch, policy):
    def sin(x):
        if x in failures:
            raise failures[x]
        return x

    failures = {2.0: ZeroDivisionError("in this row"), 3.0: MemoryError()}
    monkeypatch.setattr(ops["sin"].value, "number", sin)
    monkeypatch.setattr(scalars, "unary", scalars.unary.__wrapped__)  # not kept for other tests
    rows = ["run", "-e", "sin(x)", "--rows", "-", "-f", "ndjson", "--on-error", policy]
    status, out, err = cli(*rows, stdin="x\n1.0\n2.0\n3.0\n4.0\n")
    assert status == 70
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line.get("result") for line in lines if "result" in line] == [1.0, 4.0]
    if policy == "skip":
        assert "in row 1, line 3" in err
        assert "a bug in gradcli: ZeroDivisionError" in err
        assert "not enough memory" in err
    else:
        assert "a bug in gradcli: ZeroDivisionError" in out.splitlines()[1]
        assert len(lines) == 4


STUCK = {  # by what is done about a bad row: what comes out of four of which the third gets stuck
    "stop": "result\n1.0\n4.0\n",
    "skip": "row,result\n0,1.0\n1,4.0\n3,16.0\n",
    "record": "row,result,error\n0,1.0,\n1,4.0,\n2,,it goes on\n3,16.0,\n",
}


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("policy", STUCK)
def test_a_row_that_nothing_can_stop_is_a_bad_row(cli, policy, jobs, monkeypatch):
    asked = rows._asked

    def asked_or_stuck(question, options, wanted, row, *rest):
        if row.number == 2:
            options.stuck(LimitError(Diagnostic("time-limit", "it goes on")))
        return asked(question, options, wanted, row, *rest)

    monkeypatch.setattr(rows, "_asked", asked_or_stuck)
    options = ["--time-limit", "60", "--on-error", policy, "--jobs", jobs]
    status, out, err = cli("run", "-e", "x ** 2", "--rows", "-", *options, stdin="x\n1\n2\n3\n4\n")
    assert (status, out) == (6, STUCK[policy])
    assert "worker-lost" not in err
    if policy != "record":
        assert "error[time-limit]: it goes on\n  = note: in row 2, line 4\n" in err


@pytest.mark.parametrize(
    ("done", "total", "share", "seconds", "says"),
    [
        (0, None, None, 0.0, "0, 0:00"),
        (1500, None, None, 3.0, "1,500, 500/s, 0:03"),
        (1500, None, 0.25, 30.0, "1,500, 25 %, 50/s, 1:30 left"),
        (3, 12, 0.25, 2.0, "3 of 12, 25 %, 2/s, 0:06 left"),
        (5, 5, 1.0, 1.0, "5 of 5, 100 %, 5/s, 0:00 left"),
        (9, None, 0.999, 1.0, "9, 99 %, 9/s, 0:00 left"),
    ],
)
def test_how_far_work_has_come(done, total, share, seconds, says):
    assert told(done, total, share, seconds) == says


def test_a_file_tells_which_part_of_it_is_read(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("x\n" + "12345678\n" * 50_000, "utf-8")
    rows = open_rows(str(file), None, USUAL)
    shares = [rows.share() for _ in rows][:: 50_000 // 4]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.1 < shares[2] < 0.6 <= shares[-1] <= 1
    assert open_rows("-", io.BytesIO(b"x\n1\n"), USUAL).share() is None
