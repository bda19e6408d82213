"""How many files of the package a new command, option, form and question touch: each is added to a
copy of the package, and used there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "gradcli"
COMMANDS = '_MODULES = {\n    "run"'

COMMAND = {
    "cli/app.py": (COMMANDS, '_MODULES = {\n    "both": "gradcli.cli.commands.both",\n    "run"'),
    "cli/commands/both.py": '''
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, Line
from gradcli.cli.asking.inquiry import ask


@command(*PROGRAM, *RESULT, *LIMITS, *MESSAGES, view="derivative")
def both(line: Line) -> None:
    """Value and gradient, by each input."""
    ask(line, "grad")
''',
}
OPTION = {
    "cli/line/options.py": (
        "    depth: int | None",
        '    twice: bool = flag(help="Weigh twice.")\n    depth: int | None',
    ),
    "cli/commands/grad.py": (
        ('"cotangent",', '"cotangent", "twice",'),
        (
            "    ask(line, ",
            '    line.cotangent = "2.0" if line.twice else line.cotangent\n    ask(line, ',
        ),
    ),
}
FORM = {
    "formats/writers/forms.py": (
        (
            "def _raw(",
            'def _words(parts: Parts, path: str) -> str:\n    return " ".join(parts.fields()) + "\\n"\n\n\ndef _raw(',
        ),
        (
            "FORMS = {\n    form.name: form\n    for form in (\n",
            'FORMS = {\n    form.name: form\n    for form in (\n        Form("words", True, ".words", "", _words, "", ""),\n',
        ),
        ('_TRACES = (*_TABLES, "md")', '_TRACES = (*_TABLES, "md", "words")'),
    ),
}
QUESTION = {
    "cli/app.py": (COMMANDS, COMMAND["cli/app.py"][1].replace("both", "slope")),
    "cli/commands/slope.py": COMMAND["cli/commands/both.py"]
    .replace("both", "slope")
    .replace('"grad"', '"slope"'),
    "results.py": (
        "class JvpResult(",
        '''class SlopeResult(Derivative):
    """The sum of the derivatives by all inputs."""

    question, shown = "slope", ("slope",)
    __slots__ = ("slope",)
    slope: Value


class JvpResult(''',
    ),
    "questions/answers/slope.py": '''
from gradcli.questions.asked.linearized import linearize
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.results import SlopeResult


def slope(loaded: Loaded, request: Request) -> SlopeResult:
    """The sum of the derivatives by all inputs."""
    run = linearize(loaded, request)
    found = run.linearized.pull([run.cotangent()])
    return run.result(SlopeResult, slope=float(sum(run.by_name(found).values())), warnings=())
''',
    "questions/derivatives.py": (
        "    def vjp(",
        '''    def slope(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        of: str | None = None,
        options: Options | None = None,
    ) -> Result:
        """The sum of the derivatives by all inputs."""
        from gradcli.questions.answers.slope import slope

        return self._ask(slope, request(inputs, {}, options, of=of))

    def vjp(''',
    ),
}


@pytest.mark.parametrize(
    ("added", "files", "arguments", "shown"),
    [
        (
            COMMAND,
            2,
            ["both", "x*z", "x=3", "z=2", "-f", "plain"],
            "result\t6.0\ngrad.x\t2.0\ngrad.z\t3.0\n",
        ),
        (OPTION, 2, ["grad", "x*z", "x=3", "z=2", "--twice", "-r"], "4.0\n6.0\n"),
        (FORM, 1, ["grad", "x*z", "x=3", "z=2", "-f", "words"], "result grad.x grad.z\n"),
        (QUESTION, 5, ["slope", "x*z", "x=3", "z=2", "-f", "csv"], "result,slope\n6.0,5.0\n"),
    ],
    ids=["command", "option", "form", "question"],
)
def test_a_new_one_touches_few_files(added, files, arguments, shown, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "gradcli", ignore=shutil.ignore_patterns("__pycache__"))
    for name, change in added.items():
        path = tmp_path / "gradcli" / name
        if isinstance(change, str):
            path.write_text(change, "utf-8")
            continue
        for old, new in [change] if isinstance(change[0], str) else change:
            text = path.read_text("utf-8")
            assert text.count(old) == 1, (name, old)
            path.write_text(text.replace(old, new), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", *arguments],
        cwd=tmp_path,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, shown, "")
    assert len(added) == files
