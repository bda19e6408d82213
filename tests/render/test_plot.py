"""Pictures of curves, which need the extra `plot`, and the axes that they have."""

import html
import math
import re

import pytest
from support.pages.plot_views import GOLDEN, PROGRAMS, WIDTHS, plotted, view

from gradcli.render.plot import plot_view, remarks
from gradcli.render.text import plain_text
from gradcli.render.ticks import bounds, gaps, pieces, ticks


@pytest.mark.parametrize("name", PROGRAMS)
def test_curves_look_as_their_golden_file_says(name):
    pytest.importorskip("plotille")
    found = plotted(name)
    wanted = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert view(found) == wanted, "`python tests plot_views` writes it anew"
    for width in (30, *WIDTHS):
        assert max(map(len, plain_text(plot_view(found, width=width)).splitlines())) <= width


@pytest.mark.parametrize(
    ("form", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_pictures_are_the_same_each_time(form, start):
    pytest.importorskip("matplotlib")
    from gradcli.render.figure import picture

    for name in ("not finite", "two"):
        drawn = picture(plotted(name), form)
        assert drawn.startswith(start)
        assert picture(plotted(name), form) == drawn


def test_a_picture_has_the_names_of_the_program():
    pytest.importorskip("matplotlib")
    from gradcli.render.figure import picture

    text = picture(plotted("jumps"), "svg").decode()
    for label in ("x (s)", "v (m/s)", "d v / d x", "jump at x = 2"):
        assert f">{label}<" in text, label


@pytest.mark.parametrize("width", [30, 60, 80, 120])
@pytest.mark.parametrize("name", PROGRAMS)
def test_notes_are_wrapped_and_never_cut(name, width):
    pytest.importorskip("plotille")
    found = plotted(name)
    shown = " ".join(plain_text(plot_view(found, width=width)).split())
    for sign, _, text in remarks(found):
        assert f"{sign} {text}" in shown


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_picture_has_all_notes(name):
    pytest.importorskip("matplotlib")
    from gradcli.render.figure import picture

    found = plotted(name)
    svg = picture(found, "svg").decode()
    shown = " ".join(" ".join(re.findall("<(?:text|tspan)[^>]*>([^<]+)<", svg)).split())
    for _, _, text in remarks(found):
        assert text in html.unescape(shown), shown


def test_every_golden_file_has_a_program():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(PROGRAMS)


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0, 6, 4, [0, 2, 4, 6]),
        (-1.3, 2.2, 5, [-1, 0, 1, 2]),
        (0.1, 0.34, 3, [0.1, 0.2, 0.3]),
        (1e-9, 5e-9, 3, [2e-9, 4e-9]),
        (0, 1e300, 3, [0, 5e299, 1e300]),
        (-1e6, 1e6, 3, [-1e6, 0, 1e6]),
    ],
)
def test_ticks_are_round(low, high, most, expected):
    assert ticks(low, high, most) == pytest.approx(expected)


def test_what_is_far_off_is_left_out():
    assert bounds([*range(100), 1e9]) == (0, pytest.approx(140, abs=5))
    assert bounds([1.0, 2.0, math.nan, math.inf]) == (1.0, 2.0)
    assert bounds([3.0, 3.0]) == (pytest.approx(2.7), pytest.approx(3.3))
    assert bounds([math.nan]) is None


def test_curves_are_parted_where_they_are_not_whole():
    assert gaps([0, 1, 2, 3], [math.nan, math.inf, 1, math.nan]) == [(0, 1), (3, 3)]
    assert pieces([0, 1, 2, 3], [5, math.nan, 6, 7], [2.5]) == [[(0, 5)], [(2, 6)], [(3, 7)]]
