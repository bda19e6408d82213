"""Choose the message for text that begins no token: stray characters, open strings, look-alikes."""

from __future__ import annotations

import re

from gradcli.grammar.syntax.faults import Fault
from gradcli.source import Span

UNSUPPORTED = {
    "__debug__": "leaving assertions out",
    "async": "coroutines",
    "await": "coroutines",
}
"""Python's words that mean nothing here, with what they are for there."""

_FORBIDDEN = re.compile("[\0\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_NUMBER = re.compile(r"0[xXbBoO]\w*|(?:[eE][+-]|[\w.])+")
_STRING = re.compile(r"""[a-zA-Z]{0,2}("{3}|'{3}|"|')""")
_WORD = re.compile(r"[^\W\d]\w*")

# Each letter is followed by the plain letter that it looks like: Cyrillic, then Greek.
_PAIRS = (
    "\u0430a\u0441c\u0435e\u0456i\u0458j\u043eo\u0440p\u0455s\u0443y\u0445x"
    "\u0501d\u04bbh\u051bq\u051dw\u0410A\u0412B\u0421C\u0415E\u041dH\u0406I"
    "\u0408J\u041aK\u041cM\u041eO\u0420P\u0405S\u0422T\u0423Y\u0425X"
    "\u0391A\u0392B\u0395E\u0396Z\u0397H\u0399I\u039aK\u039cM\u039dN\u039fO"
    "\u03a1P\u03a4T\u03a5Y\u03a7X\u03bfo"
)
_LOOKALIKES = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
_QUOTES = {
    **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2018\u2019\u201a\u00b4", "'"),
}
_SIGNS = {
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014", "-"),
    **dict.fromkeys("\u00d7\u00b7\u22c5", "*"),
    "\u00f7": "/",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2260": "!=",
    "\uff08": "(",
    "\uff09": ")",
    "\uff0c": ",",
    "\uff1d": "=",
}
_POWERS = {"\u00b2": 2, "\u00b3": 3}
_INVISIBLE = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")


def fault(text: str, at: int, end: int) -> Fault:
    """The fault of text that begins no token."""
    char = text[at]
    word = _WORD.match(text, at, end)
    if word is not None and word[0] in UNSUPPORTED:
        message = f"`{word[0]}` is not part of the language"
        note = f"in Python it is for {UNSUPPORTED[word[0]]}"
        return Fault("unsupported", message, *word.span(), notes=(note,))
    if char.isdigit() or (char == "." and text[at + 1 : at + 2].isdigit()):
        return _number(text, at, end)
    string = _STRING.match(text, at, end)
    if string is not None:
        return _string(text, at, end, string)
    if char == "!":
        message, instead = "`!` is not an operator", (Span(at, at + 1), "not ")
        return Fault("bad-character", message, at, at + 1, instead=instead)
    if char == "\\":
        message = "a `\\` joins lines and must be the last character of its line"
        return Fault("bad-character", message, at, at + 1)
    if char in "$?":
        help = "a choice is written `a if c else b`" if char == "?" else None
        return Fault("bad-character", f"`{char}` is not an operator", at, at + 1, help=help)
    return _character(char, at)


def _number(text: str, at: int, end: int) -> Fault:
    found = _NUMBER.match(text, at, end)
    stop = found.end() if found is not None else at + 1
    shown = text[at:stop] if stop - at <= 40 else f"{text[at : at + 20]}..."
    notes: tuple[str, ...] = ()
    help = None
    if re.fullmatch(r"[0-9_.eE+-]*[jJ]", shown):
        notes = ("there are no complex numbers",)
    elif re.fullmatch(r"[0-9_.]*[0-9.][eE][+-]?", shown):
        notes = ("the `e` must be followed by the power of ten",)
    elif re.fullmatch(r"0[xXbBoO]", shown):
        notes = (f"`{shown}` must be followed by digits",)
    elif re.fullmatch(r"[1-9][0-9]*(?![eE][0-9])[^\W\d_]\w*", shown):
        digits = re.match("[0-9]+", shown)
        assert digits is not None
        notes = ("a name does not begin with a digit",)
        help = f"for a product write `{digits[0]} * {shown[digits.end() :]}`"
    return Fault("bad-number", f"`{shown}` is not a number", at, stop, notes=notes, help=help)


def _string(text: str, at: int, end: int, opening: re.Match[str]) -> Fault:
    quote = opening[1]
    prefix = opening[0][: -len(quote)]
    if prefix.lower() not in ("", "r", "u", "f", "fr", "rf"):
        message = f"a string cannot have the prefix `{prefix}`"
        return Fault("bad-string", message, at, opening.end())
    message = f"the string that starts with `{quote}` is never closed"
    help = None
    if len(quote) == 1:
        message = f"the string is not closed with `{quote}` on its line"
        help = f"put a string of several lines between `{quote * 3}`"
    line_end = re.compile(r"[^\r\n]*").match(text, at, end)
    stop = line_end.end() if line_end is not None and len(quote) == 1 else opening.end()
    return Fault("bad-string", message, at, stop, help=help)


def _character(char: str, at: int) -> Fault:
    message = f"{describe(char)} is not part of the language"
    help = plain = None
    if char in _QUOTES:
        help = f"write the plain quote `{_QUOTES[char]}`"
    elif char in _SIGNS:
        plain = _SIGNS[char]
        help = f"write `{plain}`"
    elif char.isspace():
        help = "put a plain space there"
    elif char == "\u00b0":
        help = "angles are in radians: `deg2rad(90)` is that of 90 degrees"
    elif char in _INVISIBLE:
        help = "it cannot be seen: delete it"
    instead = None if plain is None else (Span(at, at + 1), plain)
    return Fault("bad-character", message, at, at + 1, help=help, instead=instead)


def describe(char: str) -> str:
    """A character for a message: itself if it is visible, with its code and name."""
    import unicodedata

    name = unicodedata.name(char, "").lower()
    code = f"U+{ord(char):04X}"
    if char.isprintable() and not char.isspace():
        return f"`{char}` ({code}, {name})" if name else f"`{char}` ({code})"
    return f"the character {code} ({name})" if name else f"the character {code}"


def check_characters(text: str) -> None:
    """Refuse characters that are illegal even in a comment or a string."""
    found = _FORBIDDEN.search(text)
    if found is None:
        return
    char, at = found[0], found.start()
    if char == "\0":
        message = "a NUL character (U+0000): this is no text"
        raise Fault("bad-character", message, at, at + 1)
    if "\ud800" <= char <= "\udfff":
        escaped = "\udc80" <= char <= "\udcff"  # Python's stand-in for a byte that is not UTF-8
        what = f"byte 0x{ord(char) - 0xDC00:02X}" if escaped else "half a character"
        raise Fault("bad-encoding", f"{what} is not UTF-8", at, at + 1)
    message = f"{describe(char)} makes text look other than it is"
    raise Fault("bad-character", message, at, at + 1, help="delete it")


def checked_name(text: str, span: Span) -> str:
    """A name with letters beyond ASCII in Python's normal form (NFKC).

    Raises:
        Fault: It cannot be a name, or has letters that look like plain ones.
    """
    import unicodedata

    name = unicodedata.normalize("NFKC", text)
    if not text.isidentifier():
        at = next(i for i, c in enumerate(text) if not f"x{c}".isidentifier())
        message = f"{describe(text[at])} cannot be part of a name"
        place, help, instead = Span(span.start + at, span.start + at + 1), None, None
        if text[at] in _POWERS:
            help = f"write `** {_POWERS[text[at]]}`"
            instead = (place, f" ** {_POWERS[text[at]]}")
        raise Fault("bad-character", message, *place, help=help, instead=instead)
    odd = next((i for i, c in enumerate(text) if c in _LOOKALIKES), None)
    if odd is not None and all(c.isascii() or c in _LOOKALIKES for c in text):
        plain = "".join(_LOOKALIKES.get(c, c) for c in text)
        message = f"{describe(text[odd])} only looks like `{_LOOKALIKES[text[odd]]}`"
        start = span.start + odd
        help, instead = f"write `{plain}`", (span, plain)
        raise Fault("bad-character", message, start, start + 1, help=help, instead=instead)
    return name
