"""`--cluster`: the same bytes as one process, from real workers."""

import json
import pickle
import random
import subprocess
import sys
import time
from contextlib import nullcontext

import pytest

pytest.importorskip("distributed")

from gradcli.cli.parts import away, cluster
from gradcli.cli.parts.task import failed
from gradcli.cli.parts.tasks import Tasks, scheduler_lost
from gradcli.errors import GradError


def test_workers_give_the_bytes_of_one_process(tmp_path):
    for k in range(3):
        rows = "".join(f"{i},{i / 7}\n" for i in range(50))
        (tmp_path / f"a{k}.csv").write_text(f"id,x\n{rows}")
    line = [sys.executable, "-m", "gradcli", "grad", "x ** 2", "--rows", "a*.csv", "--keep", "id"]
    line += ["--where", "x > 0.5 and id != 9"]
    some = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 300}
    one = subprocess.run(line, check=False, **some)
    two = subprocess.run([*line, "--part-size", "300", "--cluster", "local:1"], check=False, **some)
    assert (two.returncode, two.stdout) == (0, one.stdout), two.stderr
    assert "note[cluster-joined]: 1 worker; the dashboard is at http://" in two.stderr


def test_a_lost_scheduler_is_told():
    error = scheduler_lost()
    assert isinstance(error, GradError)
    report = failed(error)
    assert (report.status, report.is_done, report.told[0].code) == (6, False, "cluster-lost")


def test_no_scheduler_is_told(cli, monkeypatch, tmp_path):
    monkeypatch.setattr(cluster, "CONNECTING", 0.2)
    (tmp_path / "a.csv").write_text("x\n1\n")
    line = ("run", "x + 1", "--rows", str(tmp_path / "a.csv"), "--cluster", "tcp://127.0.0.1:9")
    status, _, err = cli(*line)
    assert status == 2
    assert "no scheduler answers at `tcp://127.0.0.1:9`" in err


# fits ---------------------------------------------------------------------------------------------

FIT = ("fit", "a * exp(-k * t)", "a=2", "k=0.5", "--observed", "y", "--json")


@pytest.fixture(scope="module")
def tasks():
    """The way to two workers in threads of this process, as to those of a cluster."""
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield Tasks(client)


@pytest.fixture
def joined(tasks, monkeypatch):
    """A cluster for each command, which is that of `tasks`."""
    monkeypatch.setattr(cluster, "joined", lambda *_: nullcontext(tasks))


@pytest.fixture
def parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = random.Random(7)
    for k in range(5):
        ts = [rng.uniform(0.0, 5.0) for _ in range(30)]
        rows = "".join(f"{t!r},{3.0 * 2.0**-t + rng.gauss(0.0, 0.1)!r}\n" for t in ts)
        (tmp_path / f"a{k}.csv").write_text(f"t,y\n{rows}")
    return tmp_path


@pytest.mark.parametrize(
    "more",
    [
        (),
        pytest.param(("--loss", "cauchy"), marks=pytest.mark.long),
        pytest.param(("--where", "t < 4 and y > 0"), marks=pytest.mark.long),
        pytest.param(("--part-size", "400"), marks=pytest.mark.long),
        pytest.param(("--starts", "3", "--seed", "1", "--profile"), marks=pytest.mark.long),
    ],
)
def test_workers_fit_as_one_process(more, joined, parts, cli):
    line = (*FIT, "--rows", "a*.csv", *more)
    one = cli(*line)
    assert one[0] == 0, one
    assert cli(*line, "--cluster", "local:2") == one


@pytest.mark.long
def test_workers_fit_parquet(joined, parts, cli):
    pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    parquet.write_table(csv.read_csv("a1.csv"), "b.parquet", row_group_size=20)
    line = (*FIT, "--rows", "b.parquet", "--part-size", "100")
    assert cli(*line, "--cluster", "local:2") == cli(*line)


@pytest.mark.long
def test_two_programs_are_compared_by_workers(joined, parts, cli):
    (parts / "b.grad").write_text(
        "param a = 1.0\nparam k = 0.5\nparam c = 0.0\ninput t\na * exp(-k * t) + c"
    )
    (parts / "a.grad").write_text("param a = 1.0\nparam k = 0.5\ninput t\na * exp(-k * t)")
    line = ("fit", "a.grad", "b.grad", "--rows", "a*.csv", "--observed", "y", "--nested", "--json")
    one = cli(*line)
    assert one[0] == 0, one
    assert cli(*line, "--cluster", "local:2") == one


def test_workers_of_a_fit_keep_the_memory_of_a_step(monkeypatch):
    told = []
    monkeypatch.setattr(away, "keep_memory", lambda: told.append(True))
    data = pickle.dumps(("setup", "reading"))
    assert away._loaded(data) == away._loaded(data) == ("setup", "reading")
    assert told == [True]


@pytest.mark.long
def test_parts_are_read_once(joined, parts, cli, monkeypatch):
    opened = []
    read = away.chosen_part
    monkeypatch.setattr(away, "chosen_part", lambda *a: opened.append(a[0].name) or read(*a))
    assert cli(*FIT, "--rows", "a*.csv", "--cluster", "local:2")[0] == 0
    assert sorted({*opened}) == [f"a{k}.csv" for k in range(5)]
    once = len(opened)
    assert once < 10  # a part that another worker takes over is read there, too
    monkeypatch.setattr(away, "_memory", lambda: 0)
    assert cli(*FIT, "--rows", "a*.csv", "--cluster", "local:2")[0] == 0
    assert len(opened) > 4 * once
    for _ in range(500):  # workers forget when they get to it
        if not away._KEPT._runs:
            break
        time.sleep(0.01)
    assert not away._KEPT._runs


def test_the_first_bad_part_is_told(joined, parts, cli):
    for k in (3, 1):
        (parts / f"a{k}.csv").write_text(f"t,y\n1,2\noops,{k}\n")
    status, out, err = cli(*FIT, "--rows", "a*.csv", "--cluster", "local:2")
    assert (status, out) == (4, "")
    assert "line 3 of `a1.csv`" in err or "a1.csv:3" in err
    assert "a3.csv" not in err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--by", "t"), "`--by` does not go with `--cluster`"),
        (("--predict", "p.csv"), "`--predict` does not go with `--cluster`"),
        (("--plot", "p.svg"), "`--plot` does not go with `--cluster`"),
        (("--rows", "-"), "standard input has no parts"),
        (("--part-size", "much"), "`much` in --part-size is no size"),
    ],
)
def test_what_needs_all_records_is_refused(more, says, joined, parts, cli):
    status, _, err = cli(
        *FIT, "--rows", "a*.csv", *more, "--cluster", "local:2", stdin="t,y\n1,2\n"
    )
    assert (status, says in err) == (2, True), err


def test_a_model_of_whole_columns_is_refused(joined, parts, cli):
    (parts / "m.grad").write_text("param a = 1.0\ninput t: float[n]\na * t * sum(t)")
    line = ("fit", "m.grad", "--rows", "a*.csv", "--observed", "y", "--cluster", "local:2")
    status, _, err = cli(*line)
    assert (status, "cannot be asked part by part" in err) == (2, True), err


def test_an_interrupt_tells_the_best_so_far(joined, parts, cli, tasks, monkeypatch):
    rounds, of = [], tasks.of

    def stopped(run, calls):
        rounds.append(run)
        for k, found in of(run, calls):
            yield k, found
            if len(rounds) == 4:
                raise KeyboardInterrupt

    monkeypatch.setattr(tasks, "of", stopped)
    status, out, _ = cli(*FIT, "--rows", "a*.csv", "--cluster", "local:2")
    found = json.loads(out)
    assert (status, found["reason"], found["converged"]) == (130, "interrupted", False)
    assert found["evaluations"] >= 1
