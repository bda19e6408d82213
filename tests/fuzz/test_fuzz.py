"""A share of the random inputs, and those that have made gradcli fail."""

import pytest

from .case import Case
from .children import outcomes, warm_up
from .hostile import LIMITS
from .seed import seed_of_code
from .verdict import fault
from .writers import WRITERS, cases


@pytest.fixture(scope="module", autouse=True)
def warm():
    warm_up()


def wrong(given):
    """What is wrong with the outcomes of cases."""
    return [f"{found}\n{o.case}\n{o.err}" for o in outcomes(given) if (found := fault(o))]


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("count", [10, pytest.param(2_000, marks=pytest.mark.long)])
def test_random_inputs(kind, count):
    found = wrong(cases(seed_of_code(), count, [kind]))
    assert not found, "\n".join(found)


FAILED = [
    Case("a file that is read at once", ("run", "-e", "x", "x=@v"), b"", {"v": b"[1]"}),
    Case("a misspelt module of a context", ("run", "-e", "with toch.no_grad():\n    x = 1")),
    Case(
        "a misspelt module of a decorator", ("run", "-e", "@toch.no_grad()\ndef f(): return 1\nf()")
    ),
    *(
        Case(f"a mark of another module, {text.split()[0]}", ("run", "-e", text))
        for module in ("torch.no_gra", "torch.nn", "torch.inference_mode", "torch.a.b", "math.pi")
        for mark in ("no_grad", "enable_grad", "inference_mode")
        for text in (
            f"with {module}.{mark}():\n    x = 1",
            f"@{module}.{mark}()\ndef f(): return 1\nf()",
            f"class A:\n    @{module}.{mark}()\n    def f(self): return 1\nA().f()",
        )
    ),
    Case(
        "comprehensions in each other", ("run", "-e", "[x for x in " * 20_000 + "1" + "]" * 20_000)
    ),
    Case("loops of a comprehension", ("check", "-e", "[1" + " for x in [1]" * 20_000 + "]")),
    Case("loops in each other", ("run", "-e", "[" * 195 + "1" + " for x in [1]]" * 195, *LIMITS)),
    Case(
        "deep lists in code",
        ("run", "-e", "l = []\nfor i in range(500):\n    l = [l]", "--compile", "always", *LIMITS),
    ),
    Case("a list in itself", ("run", "-e", "l = []\nl.append(l)", "--compile", "always", *LIMITS)),
    Case(
        "a graph of deep lists", ("graph", "-e", "[" * 195 + "1" + " for x in [1]]" * 195, *LIMITS)
    ),
    Case(
        "a generator that goes on when it is freed",
        (
            *("run", "-e", "def g():", "-e", "    while True:", "-e", "        try: yield 1"),
            *("-e", "        except GeneratorExit: pass", "-e", "next(g())"),
        ),
    ),
    Case(
        "a generator that raises when it is freed",
        (
            *("run", "-e", "def g():", "-e", "    try: yield 1"),
            *("-e", "    finally: raise ValueError(1)", "-e", "it = g()", "-e", "next(it)"),
        ),
    ),
    Case("a shell's text ends the process otherwise than a command", ("completion",)),
]


def test_what_has_failed_does_not_fail():
    found = wrong(FAILED)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "seconds", "says"),
    [("while True: pass", 0.05, "goes on and on"), ("zeros(3 * 10 ** 9)", 5, None), ("1", 5, None)],
)
def test_what_the_fuzzer_sees(text, seconds, says, monkeypatch):
    monkeypatch.setattr("fuzz.children.SECONDS", seconds)
    monkeypatch.setattr("fuzz.children.LIMITS", {})
    (found,) = outcomes([Case("", ("run", "-e", text))])
    assert fault(found) == says
