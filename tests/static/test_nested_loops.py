"""Work of checking loops in loops: it grows as the square of their depth, not by a factor a level."""

import pytest

from gradcli.engine.static import elaborate, liveness
from gradcli.program import check_source, load
from gradcli.source import Source

HEAD = "input n: int\ninput x: float\ns = x\n"


def _nested(heads, lines):
    depth = len(heads)
    begun = [f"{'  ' * k}{head}" for k, head in enumerate(heads)]
    return "\n".join((HEAD, *begun, *(f"{'  ' * depth}{line}" for line in lines), "s", ""))


def _for(k):
    return f"for i{k} in range(n):"


def _while(k):
    return f"while s < {k + 2}.0:"


def _mixed(k):
    return (_for(k), _while(k), f"if s > {k}.0:")[k % 3]


def _clauses(depth):
    clauses = " ".join(f"for i{k} in range(n)" for k in range(depth))
    return f"{HEAD}s = [x {clauses}]\ns\n"


def _comprehensions(depth):
    ends = "".join(f" for i{k} in range(n)]" for k in range(depth))
    return f"{HEAD}s = {'[' * depth}x{ends}\ns\n"


def _chain(depth):
    """Names that take each other's values, so that a fixed point takes as many rounds."""
    first = "".join(f"a{k} = {k}\n" for k in range(depth))
    moves = [f"a{k} = a{k + 1}" for k in range(depth - 1)]
    return first + _nested(list(map(_for, range(depth))), moves)


PROGRAMS = {
    "for": lambda depth: _nested(list(map(_for, range(depth))), ["s = s + x"]),
    "while": lambda depth: _nested(list(map(_while, range(depth))), ["s = s + x"]),
    "mixed": lambda depth: _nested(list(map(_mixed, range(depth))), ["s = s + x"]),
    "left": lambda depth: _nested(
        list(map(_for, range(depth))), ["if s > 9.0:", "  break", "s = s + x"]
    ),
    "clauses": _clauses,
    "chain": _chain,
}


def _count(monkeypatch, owner, name, visits):
    before = getattr(owner, name)

    def counted(self, *args):
        visits.append(1)
        return before(self, *args)

    monkeypatch.setattr(owner, name, counted)


@pytest.fixture
def work(monkeypatch):
    """A function that counts the visits of instructions while a program is checked."""
    visits = []
    for owner, name in ((elaborate._Walk, "_do"), (liveness._Search, "_before")):
        _count(monkeypatch, owner, name, visits)

    def count(text):
        visits.clear()
        found = check_source(Source("p.grad", text), {}).findings
        assert not [finding for finding in found if finding.severity == "error"]
        return len(visits)

    return count


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_the_depth_is_four_times_the_work(work, name):
    made = PROGRAMS[name]
    assert work(made(24)) <= 5 * work(made(12))


@pytest.mark.parametrize(("name", "depth"), [*((name, 40) for name in PROGRAMS), ("while", 95)])
def test_the_deepest_loops_that_a_program_may_have_are_checked(work, name, depth):
    assert work(PROGRAMS[name](depth)) < 8 * depth**2


@pytest.mark.parametrize("depth", [12, 36])
def test_lists_in_loops_are_followed_up_to_a_bound(work, depth):
    """Each turn makes new lists, so that the inner loops begin anew."""
    assert work(_comprehensions(depth)) < 60_000
    assert work(_nested(list(map(_for, range(depth))), ["s = s + x", "v = [s]"])) < 60_000


def test_loops_beyond_the_bound_are_unknown(monkeypatch):
    text = _nested([_for(0), _for(1)], ["s = s + x", "m = s"])
    known = [line for line in load(text).listing().splitlines() if "# " in line]
    monkeypatch.setattr(elaborate, "_MOST_ROUNDS", 0)
    monkeypatch.setattr(elaborate, "_ROUNDS", 0)
    bounded = [line for line in load(text).listing().splitlines() if "# " in line]
    assert len(known) == len(bounded)
    assert any("float64" in a and "?" in b for a, b in zip(known, bounded, strict=True) if a != b)


def test_what_is_known_in_an_inner_loop_does_not_leak_into_another_call():
    """A function's loop is settled for each call of it."""
    text = (
        f"{HEAD}def f(p):\n  for k in range(n):\n    p = p * 1.0\n  return p\n"
        "a = s\nb = ones(3)\nfor i in range(n):\n  a = f(x)\n  b = f(ones(3))\nb @ ones(4)\n"
    )
    found = check_source(Source("p.grad", text), {}).findings
    assert "shape-mismatch" in [finding.code for finding in found]


def test_faults_in_the_innermost_of_deep_loops_are_found():
    lines = ["s = s + x", "ones(3) @ ones(4)"]
    found = check_source(Source("p.grad", _nested(list(map(_for, range(40))), lines)), {}).findings
    assert [f.code for f in found if f.code == "shape-mismatch"] == ["shape-mismatch"]
