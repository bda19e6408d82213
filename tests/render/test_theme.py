"""The colours of a terminal can be read on light and on dark backgrounds."""

import pytest
from rich.style import Style

from gradcli.render.theme import STYLES, text_of

BACKGROUNDS = {
    "black": (0, 0, 0),
    "dark grey": (0x28, 0x2C, 0x34),
    "Solarized dark": (0x00, 0x2B, 0x36),
    "Solarized light": (0xFD, 0xF6, 0xE3),
    "white": (255, 255, 255),
}


def luminance(colour):
    """Relative luminance, as WCAG 2.1 defines it."""
    parts = [c / 255 for c in colour]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(k * c for k, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


COLOURS = {name: Style.parse(style).color for name, style in STYLES.items()}


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_every_colour_is_readable(background):
    """A contrast of 3, which WCAG asks of large texts and of parts of an interface."""
    found = {
        name: round(contrast(colour.get_truecolor(), BACKGROUNDS[background]), 2)
        for name, colour in COLOURS.items()
        if colour is not None
    }
    assert found
    assert min(found.values()) >= 3, found


def test_the_brightness_is_not_the_terminal_s_choice():
    """It chooses that of the first 16 colours."""
    assert all(colour is None or colour.number >= 16 for colour in COLOURS.values())
    assert text_of([[("no", "error")]], colour=True) == "\x1b[1;38;5;196mno\x1b[0m\n"


def test_colours_that_nobody_can_read_are_found():
    """Those of xterm."""
    yellow, blue = (205, 205, 0), (0, 0, 238)
    assert contrast(yellow, BACKGROUNDS["white"]) < 3
    assert contrast(blue, BACKGROUNDS["black"]) < 3
