"""What an editor shows of the text under the pointer, as Markdown."""

from __future__ import annotations

from gradcli.editor.document import Document
from gradcli.errors import UsageError
from gradcli.program import operation
from gradcli.results import Operation

_MOST_KINKS = 6


def hover(document: Document, offset: int) -> tuple[str, int, int] | None:
    """Markdown about the name or expression at an offset, with the start and end of that."""
    found = document.name_at(offset)
    if found is None:
        value = document.value_at(offset)
        if value is None or value.kind is None:
            return None
        text = document.source.text[value.span.start : value.span.end]
        return _code(f"{text}: {value.text}"), *value.span
    (_, name, start, end), is_attribute = found
    definition = None if is_attribute else document.known_at(offset).get(name)
    text = ""
    if definition is None:
        text = about_operation(name)
    elif definition.kind in ("function", "class"):
        head = document.source.text[definition.start : definition.line_end].partition(":")[0]
        word = "def" if definition.kind == "function" else "class"
        text = _code(f"{word} {head}")
    else:
        value = document.value_of(name, offset)
        kind = "" if definition.kind == "variable" else f"{definition.kind} "
        text = _code(f"{kind}{name}: {'?' if value is None else value.text}")
    return (text, start, end) if text else None


def about_operation(name: str) -> str:
    """The page of a built-in operation, as Markdown; "" if there is none of that name."""
    try:
        return _page(operation(name))
    except UsageError:
        return ""


def _page(op: Operation) -> str:
    parts = [_code(op.signature), op.meaning]
    if op.derivative:
        formulas = (f"    g_{name} = {formula}" for name, formula in op.derivative.items())
        parts.append("\n".join(["derivative:\n", *formulas]))
    elif not op.differentiable:
        parts.append("It has no derivative.")
    if op.kinks:
        kinks = (f"    {kink.call}: {_gradient(kink.gradient)}" for kink in op.kinks[:_MOST_KINKS])
        parts.append("\n".join(["gradient at kinks, ties and edges:\n", *kinks]))
    if op.aliases:
        parts.append("also " + ", ".join(f"`{alias}`" for alias in op.aliases))
    return "\n\n".join([*parts, f"source: {op.source}"] if op.source else parts)


def _gradient(gradient: object) -> str:
    values = gradient.values() if isinstance(gradient, dict) else ()
    return ", ".join(map(str, values))


def _code(text: str) -> str:
    return f"```python\n{text}\n```"
