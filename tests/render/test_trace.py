"""What a person sees of a trace: golden files at several widths."""

import pytest
from support.pages.trace_views import GOLDEN, PROGRAMS, WIDTHS, traced, view

from gradcli.render.text import plain_text
from gradcli.render.trace import trace_view


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_trace_looks_as_its_golden_file_says(name):
    found = traced(name)
    wanted = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert view(found) == wanted, "`python tests trace_views` writes it anew"
    for width in (20, *WIDTHS):
        lines = trace_view(found, precision=17, width=width)
        assert max(map(len, plain_text(lines).splitlines())) <= width


def test_every_golden_file_has_a_program():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(PROGRAMS)
