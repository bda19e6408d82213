"""How a line is split into a program, inputs and names, and what the help of a command keeps."""

import inspect

import pytest

from gradcli.cli.app import build, commands
from gradcli.cli.line.arguments import split, split_files, split_names
from gradcli.cli.line.command import help_text
from gradcli.errors import UsageError

SPLIT = [
    ([], [], {}),
    (["a.grad"], ["a.grad"], {}),
    (["x=1", "a.grad", "y=2"], ["a.grad"], {"x": "1", "y": "2"}),
    (["x=1", "x=2"], [], {"x": "2"}),
    (["x="], [], {"x": ""}),
    (["x=a=b"], [], {"x": "a=b"}),
    (["2=x", "=1", "="], ["2=x", "=1", "="], {}),
    (["x.y=1", "x"], ["x.y=1", "x"], {}),
]


@pytest.mark.parametrize(("arguments", "files", "texts"), SPLIT)
def test_an_input_is_a_name_with_an_equals_sign(arguments, files, texts):
    assert split_files(arguments) == (files, texts)
    if len(files) < 2:
        assert split(arguments) == (files[0] if files else None, texts)


TWO = [
    (["a", "b"], ""),
    (["a", "b", "x=1"], ""),
    (["a", "=", "1"], ", without blanks"),
    (["x", "=1"], ", without blanks"),
    (["a", "2="], ", without blanks"),
    (["a", "2=1"], ""),
]


@pytest.mark.parametrize(("arguments", "more"), TWO)
def test_two_programs_are_refused(arguments, more):
    with pytest.raises(UsageError) as caught:
        split(arguments)
    (found,) = caught.value.diagnostics
    assert found.message == f"two programs, `{arguments[0]}` and `{arguments[1]}`"
    assert found.help == f"an input is written NAME=VALUE{more}"


NAMES = [
    (None, None),
    ([], None),
    (["a"], ["a"]),
    (["a, b", "c"], ["a", "b", "c"]),
    (["b,a,b", "a"], ["b", "a"]),
]


@pytest.mark.parametrize(("options", "names"), NAMES)
def test_names_come_once_each_in_their_order(options, names):
    assert split_names(options, "--wrt") == names


@pytest.mark.parametrize("options", [[""], ["a,"], ["a", " "], [",a"]])
def test_an_empty_name_is_refused(options):
    with pytest.raises(UsageError) as caught:
        split_names(options, "--wrt")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("usage", "an empty name in --wrt")
    assert found.help == "names are written --wrt a,b"


def test_a_function_without_a_docstring_has_no_help():
    assert help_text(lambda: None) == ""


@pytest.mark.parametrize("name", commands())
def test_the_help_keeps_the_lines_of_the_examples(cli, name):
    text = build(name).help
    lines = cli(name, "--help")[1].splitlines()
    _, _, examples = inspect.cleandoc(text).partition("Examples:\n")
    assert examples
    for line in examples.splitlines():
        assert f"    {line.strip()}" in lines, line
