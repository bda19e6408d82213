"""Manual pages: one for each command, with all that its help says, in the language of man."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from gradcli.cli.app import build, commands
from gradcli.cli.manual import pages

ROOT = Path(__file__).parents[2]
PAGES = pages()


def shown(text):
    """The text of a page without the marks of man."""
    text = re.sub(r"\\f[BIR]|\\&", "", text)
    for mark, sign in (
        (r"\(aq", "'"),
        (r"\(ha", "^"),
        (r"\(ga", "`"),
        (r"\(ti", "~"),
        (r"\-", "-"),
    ):
        text = text.replace(mark, sign)
    return text.replace(r"\e", "\\")


def test_gradcli_and_each_command_have_a_page():
    assert PAGES.keys() == {"gradcli.1", *(f"gradcli-{name}.1" for name in commands())}
    whole = shown(PAGES["gradcli.1"])
    assert all(f"gradcli-{name}(1)" in whole for name in commands())


@pytest.mark.parametrize("name", commands())
def test_a_page_has_all_that_the_help_says(name):
    command, text = build(name), shown(PAGES[f"gradcli-{name}.1"])
    for parameter in command.params:
        assert parameter.help in text, parameter.name
        assert ", ".join(parameter.opts) in text or parameter.metavar in text
    words = " ".join(command.help.replace("\b", "").split()).casefold().replace("examples: ", "")
    said = " ".join(re.sub(r"^\.\w+.*$", "", text, flags=re.MULTILINE).split()).casefold()
    for word in words.split():
        assert word.removesuffix(".") in said


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_man_reads_every_page_without_a_warning():
    for name, text in PAGES.items():
        asked = ["groff", "-ww", "-man", "-Tutf8"]
        found = subprocess.run(asked, input=text, capture_output=True, text=True, check=True)
        assert found.stderr == "", name
        assert "SEE ALSO" in re.sub(r"\x1b\[\d*m|.\x08", "", found.stdout)


def test_no_line_is_a_request_by_accident():
    known = {"TH", "SH", "TP", "PP", "nf", "fi"}
    for name, text in PAGES.items():
        assert {line.split()[0][1:] for line in text.splitlines() if line[:1] in ".'"} <= known, (
            name
        )


def test_the_build_of_the_wheel_writes_them():
    pytest.importorskip("hatchling")
    from importlib.util import module_from_spec, spec_from_file_location

    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert "custom" in built["targets"]["wheel"]["hooks"]
    spec = spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    data = {"shared_data": {}}
    hook = module.ManualPages(str(ROOT), {}, None, None, str(ROOT), "wheel")
    hook.initialize("standard", data)
    wanted = {f"share/man/man1/{name}": text for name, text in PAGES.items()}
    assert {to: Path(path).read_text("utf-8") for path, to in data["shared_data"].items()} == wanted
