"""`--cluster`: the same bytes as one process, from real workers."""

import subprocess
import sys

import pytest

pytest.importorskip("distributed")

from gradcli.cli.parts import cluster
from gradcli.cli.parts.task import failed
from gradcli.cli.parts.tasks import scheduler_lost
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
