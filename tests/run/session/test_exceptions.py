"""An error that the language raises by itself has the class that it has in Python or PyTorch."""

import io
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from textwrap import indent

import pytest
from support.programs.failing_programs import python_programs, torch_programs

from gradcli.errors import GradError
from gradcli.program import Options, load

PYTHON, TORCH = python_programs(), torch_programs()
OWN_WORDS = ("TypeError", "AttributeError")
"""Classes whose text is gradcli's message."""
FAMILY = {
    "KeyError": ("LookupError", "Exception"),
    "IndexError": ("LookupError", "Exception"),
    "ZeroDivisionError": ("ArithmeticError", "Exception"),
    "OverflowError": ("ArithmeticError", "Exception"),
    "UnboundLocalError": ("NameError", "Exception"),
    "RecursionError": ("RuntimeError", "Exception"),
    "NotImplementedError": ("RuntimeError", "Exception"),
    "UnicodeError": ("ValueError", "Exception"),
}
SIBLINGS = ("KeyError", "IndexError", "ValueError", "TypeError", "AttributeError", "StopIteration")


def _caught(program, handlers):
    return f"try:\n{indent(program, '    ')}\n{handlers}"


def _seen(program):
    """What a handler sees: the class, and the exception's parts."""
    shown = "print(type(e).__name__); print((str(e), e.args, repr(e)))"
    return _caught(program, f"except Exception as e:\n    {shown}\n")


def _python(program):
    out = io.StringIO()
    with redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(program, "program", "exec")
        # a thread of its own handles no exception, as the one that runs the tests may
        with ThreadPoolExecutor(1) as thread:
            thread.submit(exec, code, {"__name__": "__main__"}).result()
    return out.getvalue().splitlines()


def _printed(program):
    return list(load(program).run().printed)


KINDS = {program: _python(_seen(program))[0] for program in PYTHON} | dict(TORCH)
DIFFERENT = (  # texts of Python's that say less, or change from version to version
    *("deque().remove", "int(float(", "round(float(", '"{".format', '"%q"', '"%" %'),
    *("strict=True", "dict([", "def f():\n    del z"),
)
NEW_WORDS = ("max([])", "min([])", "max(())") if sys.version_info >= (3, 12) else ()
"""Of which later Pythons have another text than 3.11, which programs get on every Python."""
WORDED = [
    p
    for p in PYTHON
    if KINDS[p] not in OWN_WORDS and not any(d in p for d in (*DIFFERENT, *NEW_WORDS))
]


def test_there_are_many_of_each_kind():
    assert len(PYTHON) >= 150
    assert len(TORCH) >= 100
    assert set(KINDS.values()) >= {*FAMILY, *SIBLINGS, "RuntimeError", "AssertionError"}


@pytest.mark.parametrize("program", KINDS)
def test_the_class_is_python_s_or_pytorch_s(program):
    kind = KINDS[program]
    assert _printed(_seen(program))[0] == kind
    siblings = [s for s in SIBLINGS if s != kind and s not in FAMILY.get(kind, ())]
    passed = f"except ({', '.join(siblings)}):\n    print('a sibling')\n"
    for base in (kind, *FAMILY.get(kind, ("Exception",))):
        handlers = f"{passed}except {base} as e:\n    print('{base}', isinstance(e, {base}))\n"
        assert _printed(_caught(program, handlers)) == [f"{base} True"]


@pytest.mark.parametrize("program", WORDED)
def test_the_text_is_python_s(program):
    assert _printed(_seen(program)) == _python(_seen(program))


@pytest.mark.parametrize("args", ["", "'a'", "'a', 2", "[1, 'b']", "('c',)", "None, {'k': 1.5}"])
def test_the_text_of_arguments_is_python_s(args):
    program = f"print(ValueError({args}), repr(TypeError({args})), KeyError({args}))"
    assert _printed(program) == _python(program)


def test_an_argument_that_is_a_tensor_is_shown_as_by_print():
    program = "e = ValueError(torch.tensor([1.0, 2.0]))\nprint(e, repr(e), [e], f'{e}')"
    shown = "tensor([1., 2.])"
    assert _printed(program) == [f"{shown} ValueError({shown}) [ValueError({shown})] {shown}"]


def test_a_class_that_needs_arguments_is_not_raised_without():
    own = "class Bad(ValueError):\n    def __init__(self, message):\n        super().__init__(message)\n"
    handlers = "except TypeError as e:\n    print(type(e).__name__, isinstance(e, ValueError))"
    assert _printed(own + _caught("raise Bad", handlers)) == ["TypeError False"]


@pytest.mark.parametrize("line", ["t // 0", "t % 0", "t // t", "t.fmod(0)", "t.floor_divide_(0)"])
def test_ints_of_a_tensor_by_zero_are_pytorch_s_error(line):
    """A RuntimeError whose text is the name of Python's class, as PyTorch 2.13 raises it."""
    text = f"t = tensor([0, 1])\ntry:\n    {line}\nexcept RuntimeError as e:\n    print(type(e), e)"
    printed = load(text).run(options=Options(echo=lambda text: None)).printed
    assert printed == ("<class 'RuntimeError'> ZeroDivisionError",)
    assert load("try:\n    1 // 0\nexcept ZeroDivisionError:\n    x = 2\nx").run().result == 2


RAISED_AGAIN = """
def again():
    raise
try:
    again()
except RuntimeError as e:
    print(e)
try:
    try:
        1 // 0
    except ZeroDivisionError:
        again()
except ZeroDivisionError as e:
    print(e)
"""


def test_raise_alone_does_not_see_what_its_host_is_handling():
    plain = _printed(RAISED_AGAIN)
    assert len(plain) == 2
    try:
        raise StopIteration
    except StopIteration:
        assert _printed(RAISED_AGAIN) == _python(RAISED_AGAIN) == plain
        with pytest.raises(GradError) as refused:
            load("raise").run()
    assert refused.value.diagnostics[0].code == "unhandled-exception"
