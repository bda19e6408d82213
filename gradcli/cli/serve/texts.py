"""The JSON of answers: the fields of the commands, after the question's `id`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gradcli.errors import Diagnostic, GradError
from gradcli.formats.files.packed import packed
from gradcli.formats.texts.json_text import array, diagnostic_json, json_object, warning_json
from gradcli.formats.texts.literal import literal, quote
from gradcli.formats.writers.findings import input_json
from gradcli.formats.writers.forms import parts_of
from gradcli.render.looks import USUAL
from gradcli.results import Derivative, Place, RunResult, Several

if TYPE_CHECKING:
    from gradcli.program import Program, Repeated

_FLAG = re.compile(r"`?--(wrt|of|cotangent|tangent)\b(?: (?:NAME=)?VALUE)?`?")
_INPUT = re.compile(r"(\w+)=VALUE")


def answer(result: Any, *, in_base64: bool) -> dict[str, str]:
    """The fields of an answer, as JSON texts."""
    fields: dict[str, str] = parts_of(
        result.view, with_packed(result) if in_base64 else result, USUAL
    ).json()
    printed = getattr(result, "printed", ())
    if printed and "printed" not in fields:
        fields["printed"] = literal(list(printed))
    return fields


def with_packed(result: Any) -> Any:
    """A result with objects in place of its arrays of floats."""
    if isinstance(result, Several):
        return Several(tuple(map(with_packed, result.answers)))
    if isinstance(result, RunResult):
        bindings = tuple(
            _changed(b, value=packed(b.value), grad=packed(b.grad)) for b in result.bindings
        )
        return _changed(result, result=packed(result.result), bindings=bindings)
    assert isinstance(result, Derivative), "no other question is asked"
    shown = {name: packed(value) for name, value in result.answer.items()}
    return _changed(result, value=packed(result.value), **shown)


def _changed(result: Any, /, **fields: Any) -> Any:
    """A copy of a result with other values of some fields."""
    return type(result)(**{name: getattr(result, name) for name in result._fields} | fields)


def failure(error: GradError) -> dict[str, str]:
    """The fields of the answer to a question that failed: the error, other errors if there are
    several, and the status with which a command would exit.
    """
    first, *others = map(diagnostic_json, map(_in_words_of_questions, error.diagnostics))
    further = {"further": array(others)} if others else {}
    return {"error": first, **further, "status": str(error.status)}


def _in_words_of_questions(said: Diagnostic) -> Diagnostic:
    """An error that names the fields of questions, not the options of commands."""
    said.message = _by_fields(said.message)
    said.notes = tuple(map(_by_fields, said.notes))
    if said.help is not None:
        said.help = _by_fields(said.help)
        if said.code == "missing-input":
            names = ", ".join(f'"{name}": VALUE' for name in _INPUT.findall(said.help))
            said.help = f"add {names} to `inputs`"
    return said


def _by_fields(text: str) -> str:
    return _FLAG.sub(lambda found: f"`{found[1]}{'s' * (found[1] == 'tangent')}`", text)


def description(programs: Mapping[str, Program], questions: tuple[str, ...]) -> dict[str, str]:
    """The fields of the answer that describes programs."""
    return {
        "schema": quote("gradcli.describe/1"),
        "programs": json_object({name: _described(p) for name, p in programs.items()}),
        "questions": literal(list(questions)),
    }


def _described(program: Program) -> str:
    found = program.check()
    return json_object(
        {
            "file": quote(program.source.name),
            "inputs": array(input_json(program.source.name, i) for i in found.inputs),
            "required": literal(list(program.required)),
            "wrt": literal(list(program.watchable)),
            "of": literal(list(program.names)),
            "output": literal(program.output),
        }
    )


def writer() -> Callable[[Sequence[float]], Sequence[str]]:
    """The fastest function that is installed for the texts of finite numbers as `repr` has them."""
    if find_spec("orjson") is None:
        return _texts
    from orjson import dumps

    def texts(numbers: Sequence[float]) -> Sequence[str]:
        text: str = dumps(numbers).decode()
        if "e" in text or "0.0000" in text:  # `repr` may write an exponent, or another one
            return _texts(numbers)
        return text[1:-1].split(",")

    return texts


def _texts(numbers: Sequence[float]) -> Sequence[str]:
    return [*map(float.__repr__, numbers)]


def pattern(question: str, found: Repeated) -> str:
    """The fields of the answers to a question, with `%s` for each number, in their order."""
    fields = {
        "schema": quote(f"gradcli.{question}/1"),
        "output": quote(found.output),
        **{name: "".join(_patterns(value)) for name, value in found.fields.items()},
        "warnings": array(map(warning_json, found.warnings)).replace("%", "%%"),
    }
    return json_object(fields)


def _patterns(value: Any) -> Iterator[str]:
    """The JSON of a value, with `%s` for its numbers."""
    if isinstance(value, Place):
        yield "%s"
    elif isinstance(value, dict):
        for i, (name, part) in enumerate(value.items()):
            yield f"{',' if i else '{'}{quote(name)}:"
            yield from _patterns(part)
        yield "}" if value else "{}"
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield "," if i else "["
            yield from _patterns(part)
        yield "]" if value else "[]"
    else:
        yield literal(value, json=True)
