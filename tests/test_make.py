"""Generated code: it stands in one folder, is fresh, and can be made from nothing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.processes.house import HOUSE, ROOT

COMMAND = "`python -m gradcli.make` writes it anew"
MADE = HOUSE / "made"


def texts(folder):
    """The text of every Python file of a folder, by its path there."""
    return {str(p.relative_to(folder)): p.read_text("utf-8") for p in folder.rglob("*.py")}


def test_generated_code_says_so():
    wrong = [name for name, text in texts(MADE).items() if not text.startswith('"""Generated')]
    assert not wrong, f"they do not say that they are generated: {wrong}"
    elsewhere = [
        path
        for path in HOUSE.rglob("*.py")
        if MADE not in path.parents and path.read_text("utf-8").startswith('"""Generated')
    ]
    assert not elsewhere, f"generated code stands outside of made/: {elsewhere}"


def test_all_is_made_from_nothing(tmp_path):
    """One command makes what is committed where there is none, whatever the hash seed, which is
    another in each run of the tests.
    """
    house = tmp_path / "gradcli"
    shutil.copytree(HOUSE, house, ignore=shutil.ignore_patterns("made", "__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "gradcli.make"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONHASHSEED": "random"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    fresh, committed = texts(house / "made"), texts(MADE)
    stale = [name for name in fresh if committed.get(name) != fresh[name]]
    assert not stale, f"{stale}: {COMMAND}"
    assert not committed.keys() - fresh.keys(), f"nothing makes them; {COMMAND}"


def test_generated_code_is_marked_for_git():
    marks = (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    assert any(line.startswith("gradcli/made/** ") and "-diff" in line for line in marks)
    assert (Path(ROOT) / "gradcli/made/__init__.py").read_text("utf-8")
