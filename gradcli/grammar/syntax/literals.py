"""Values of literals: numbers, strings with their escapes, the parts of f-strings, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault
from gradcli.source import Span

LARGEST = 2**63 - 1

_BASES = {"0x": 16, "0b": 2, "0o": 8}
# Patterns are compiled where they are used: most programs hold no escape.
_STRING = r"""([a-zA-Z]*)("{3}|'{3}|"|')"""
_ESCAPE = (
    r"(?s)\r\n?|\\(?:(\r\n?|\n)|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r"|N\{([^}]*)\}|(.))"
)
_SIMPLE = {
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


def identifier(text: str, span: Span) -> str:
    """A name in Python's normal form (NFKC); look-alikes of plain letters are refused."""
    if text.isascii():
        return text
    from gradcli.grammar.syntax.unreadable import checked_name

    return checked_name(text, span)


# --- numbers ----------------------------------------------------------------------------------


def number(span: Span, text: str) -> int | float:
    """Value of a number that the lexer has passed."""
    if len(text) < 19 and text.isdigit() and (text[0] != "0" or text == "0"):
        return int(text)
    digits = text.replace("_", "").lower()
    base = _BASES.get(digits[:2])
    if base is not None:
        significant = digits[2:].lstrip("0")
        return _int(span, text, significant, base)
    if digits.isdigit():
        significant = digits.lstrip("0")
        if significant and significant != digits:
            message = f"`{_short(text)}` begins with a zero"
            help = f"write `{_short(significant)}`, or `0o{_short(significant)}` for base 8"
            raise Fault("bad-number", message, *span, help=help)
        return _int(span, text, significant, 10)
    value = float(digits)
    if value == float("inf"):
        message = f"`{_short(text)}` is too large for a float"
        raise Fault("bad-number", message, *span, notes=("the largest is about 1.8e308",))
    return value


def size(span: Span, text: str) -> int:
    """A size in a declared type: an int."""
    value = number(span, text)
    if isinstance(value, float):
        raise Fault("bad-declaration", f"a size is a whole number, not `{text}`", *span)
    if value > LARGEST:
        raise too_large(span, text)
    return value


def _int(span: Span, text: str, digits: str, base: int) -> int:
    """An int up to 2**63, which is legal behind a minus only: `-9223372036854775808`."""
    if len(digits) > 64 or (value := int(digits or "0", base)) > LARGEST + 1:
        raise too_large(span, text)
    return value


def too_large(span: Span, text: str) -> Fault:
    """The fault of a number outside 64 bits."""
    message = f"`{_short(text)}` does not fit an int of 64 bits"
    note = f"the largest is {LARGEST}; a float has more range: `1e20`"
    return Fault("bad-number", message, *span, notes=(note,))


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}...{text[-10:]}"


# --- strings ----------------------------------------------------------------------------------


def plain_string(span: Span, text: str) -> str:
    """Value of a string literal as written."""
    raw, start, end = _content(text)
    return _decode(text[start:end], span.start + start, raw)


def _content(text: str) -> tuple[bool, int, int]:
    """True if a string is raw, and where its content starts and ends."""
    opening = re.match(_STRING, text)
    assert opening is not None
    return "r" in opening[1].lower(), opening.end(), len(text) - len(opening[2])


def _decode(content: str, start: int, raw: bool) -> str:
    if raw or "\\" not in content:
        return _with_line_feeds(content)

    def value(found: re.Match[str]) -> str:
        line_end, octal, *hexes, name, other = found.groups()
        if found[0][0] == "\r":
            return "\n"
        if line_end is not None:
            return ""
        if other is not None:
            if other in _SIMPLE:
                return _SIMPLE[other]
            if other in "xuUN":
                raise bad_escape(found)
            return found[0]
        if name is not None:
            import unicodedata

            try:
                return unicodedata.lookup(name)
            except KeyError:
                raise bad_escape(found) from None
        code = int(octal, 8) if octal else int(next(h for h in hexes if h), 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise bad_escape(found)
        return chr(code)

    def bad_escape(found: re.Match[str]) -> Fault:
        message = f"`{found[0]}` does not name a character"
        return Fault("bad-string", message, start + found.start(), start + found.end())

    return re.sub(_ESCAPE, value, content)


def _with_line_feeds(text: str) -> str:
    """The text with every line end as LF, as Python reads it."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


# --- f-strings --------------------------------------------------------------------------------

Piece = ast.Literal | ast.Formatted


def format_string(span: Span, text: str, part: Callable[[int, int], ast.Expr]) -> tuple[Piece, ...]:
    """Parts of an f-string; `part` parses the expression between two offsets of the program."""
    raw, start, end = _content(text)
    scanner = _Scanner(text, span.start, raw, part)
    pieces, _ = scanner.pieces(start, end, 0)
    return pieces


def merge(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Pieces with adjacent texts joined and empty ones left out."""
    merged: list[Piece] = []
    for piece in pieces:
        before = merged[-1] if merged else None
        if isinstance(piece, ast.Literal) and isinstance(before, ast.Literal):
            span = Span(before.span.start, piece.span.end)
            merged[-1] = ast.Literal(span, f"{before.value}{piece.value}")
        elif not (isinstance(piece, ast.Literal) and piece.value == ""):
            merged.append(piece)
    return tuple(merged)


class _Scanner:
    """Splits one f-string, whose text starts at `base` in the program."""

    def __init__(
        self, text: str, base: int, raw: bool, part: Callable[[int, int], ast.Expr]
    ) -> None:
        self.text = text
        self.base = base
        self.raw = raw
        self.part = part

    def pieces(self, at: int, end: int, level: int) -> tuple[tuple[Piece, ...], int]:
        """Pieces from `at` on: at level 0 up to `end`, in a format spec up to the closing `}`."""
        text = self.text
        found: list[Piece] = []
        begin = at
        while at < end:
            char = text[at]
            if char == "\\" and not self.raw:
                named = text.find("}", at, end) if text.startswith("\\N{", at) else -1
                lone = text[at + 1] in "{}"
                at = named + 1 if named >= 0 else at + 1 if lone else at + 2
            elif char == "{" and level == 0 and text.startswith("{{", at):
                found.append(self.literal(begin, at + 1))
                at = begin = at + 2
            elif char == "{":
                found.append(self.literal(begin, at))
                formatted, at = self.formatted(at, end, level)
                found.append(formatted)
                begin = at
            elif char == "}" and level:
                break
            elif char == "}":
                if not text.startswith("}}", at):
                    message = "a single `}` in an f-string; write `}}` for the character"
                    raise self.fault(message, at, at + 1)
                found.append(self.literal(begin, at + 1))
                at = begin = at + 2
            else:
                at += 1
        found.append(self.literal(begin, min(at, end)))
        return merge(found), at

    def literal(self, start: int, end: int) -> ast.Literal:
        span = Span(self.base + start, self.base + end)
        return ast.Literal(span, _decode(self.text[start:end], span.start, self.raw))

    def formatted(self, opened: int, end: int, level: int) -> tuple[ast.Formatted, int]:
        """The part in braces that starts at `opened`, and the offset after it."""
        text = self.text
        stop = self.expression_end(opened, end)
        if level > 1:
            raise self.fault("a format is nested too deep", opened, stop)
        at = stop
        debug = ""
        if text[at] == "=":
            at = _skip_blanks(text, at + 1)
            debug = text[opened + 1 : at]
        if not text[opened + 1 : stop].strip():
            raise self.fault("the braces are empty", opened, stop + 1)
        conversion = ""
        if text[at] == "!":
            conversion = text[at + 1 : at + 2]
            if conversion not in ("r", "s", "a"):
                raise self.fault("`!` must be followed by `r`, `s` or `a`", at, at + 2)
            at += 2
        spec: tuple[Piece, ...] = ()
        if text[at] == ":":
            spec, at = self.pieces(at + 1, end, level + 1)
        if at >= end:
            raise self.unclosed(opened)
        if text[at] != "}":
            raise self.fault("the braces should be closed here", at, at + 1)
        value = self.part(self.base + opened + 1, self.base + stop)
        span = Span(self.base + opened, self.base + at + 1)
        return ast.Formatted(span, value, debug, conversion, spec), at + 1

    def expression_end(self, opened: int, end: int) -> int:
        """Offset of the `=`, `!`, `:` or `}` that ends the expression in the braces."""
        text = self.text
        depth = 0
        at = opened + 1
        while at < end:
            char = text[at]
            if char in "\"'":
                at = self.string_end(at, end)
                continue
            if char in "([{":
                depth += 1
            elif char in ")]" or (char == "}" and depth > 0):
                depth -= 1
            elif char in "}!:=" and depth <= 0:
                after = text[at + 1 : at + 2]
                if char == "=" and after != "=" and text[at - 1] not in "=!<>":
                    if text[_skip_blanks(text, at + 1)] in "!:}":
                        return at
                elif (char == "!" and after != "=") or char in "}:":
                    return at
            at += 1
        raise self.unclosed(opened)

    def string_end(self, at: int, end: int) -> int:
        """Offset after the string that starts at a quote."""
        text = self.text
        quote = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
        close = text.find(quote, at + len(quote), end)
        if close < 0:
            raise self.fault("a string in an f-string is not closed", at, at + len(quote))
        return close + len(quote)

    def unclosed(self, opened: int) -> Fault:
        return self.fault("`{` is not closed in the f-string", opened, opened + 1)

    def fault(self, message: str, start: int, end: int) -> Fault:
        return Fault("bad-string", message, self.base + start, self.base + end)


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t") and at < len(text):
        at += 1
    return at
