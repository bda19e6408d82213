"""Answers questions, each a line of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcli.cli.serve.question import QUESTIONS, Asked, question
from gradcli.cli.serve.texts import answer, description, failure, pattern, writer
from gradcli.cli.terminal.failures import bug, lacks_memory, out_of_memory
from gradcli.errors import Diagnostic, GradError, InputError, LimitError
from gradcli.formats.files.packed import is_packed, unpacked
from gradcli.formats.readers.json_values import json_reader, json_value
from gradcli.formats.texts.json_text import json_object
from gradcli.formats.texts.literal import literal, quote
from gradcli.source import Source

if TYPE_CHECKING:
    from gradcli.program import Given, Options, Program

_NAME = "<question>"
_NONE = object()
_NOT_SOON = (
    *(ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError, InputError),
)
_NOTHING: dict[str, Any] = {}
_COLON = ord(":")
_TOO_LONG = "the question has more than 1 GiB"
_MOST = 64  # kinds of questions whose code is kept at hand


class Plan(NamedTuple):
    """How questions of one kind are answered by code alone.

    Fields:
        fields: The fields of the questions that have no numbers.
        found: The numbers of an answer.
        pattern: Its text.
        colons: The colons in the question without its `id`: more are those of a key that it has
            twice, which the reader of JSON does not tell.
    """

    fields: Mapping[str, Any]
    found: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[float] | None]
    pattern: str
    colons: int


class Service:
    """Answers questions about some programs.

    Args:
        programs: The programs by name.
        given: Values that inputs have in each question, by the name of the program.
        options: How questions are run.

    Fields:
        programs: The programs by name.
        plans: How questions are answered by code alone, by their kind; the latest kinds.
    """

    def __init__(
        self,
        programs: Mapping[str, Program],
        given: Mapping[str, Mapping[str, Given]],
        options: Options,
    ) -> None:
        self.programs, self._given, self._options = programs, given, options
        self._read, self._texts = json_reader(), writer()
        self.plans: dict[Any, Plan] = {}
        self._last = Plan({}, lambda inputs, along: None, "", 0)

    def prepare(self) -> None:
        """Import what questions need, for processes that are forked from this one."""
        for program in self.programs.values():
            program.prepare()

    def answer(self, line: bytes | None, stuck: Callable[[GradError], None] | None = None) -> str:
        """The answer to the question in a line: an object in JSON, without an end of line.

        Args:
            line: The line, which is not blank; None for one that is too long.
            stuck: Takes the error of a limit in a call that cannot be stopped; does not return.
        """
        if line is None:
            return self.failed(None, InputError(Diagnostic("bad-input", _TOO_LONG)))
        try:
            asked = self._read(line)
            begun = _begun(asked.pop("id", _NONE))
            inputs, along = asked.pop("inputs", _NOTHING), asked.pop("tangents", _NOTHING)
            plan = self._last
            numbers = None
            if asked == plan.fields:  # as most questions are: no key is made
                numbers = plan.found(inputs, along)
            if numbers is None:
                inputs, along = _unpacked(inputs), _unpacked(along)
                plan = self._last = self.plans[_key(asked, inputs, along)]
                numbers = plan.found(inputs, along)
            if (
                numbers is not None
                and begun is not None
                and line.count(_COLON) == plan.colons + begun.count(":")
            ):
                return begun + plan.pattern % (*self._texts(numbers),)
        except _NOT_SOON:
            pass  # there is no code for questions of this kind, or it is wrong
        return self._at_length(line, stuck)

    def failed(self, line: bytes | None, error: GradError) -> str:
        """The answer to the question in a line, if that is an error."""
        id: dict[str, str] = {}
        with suppress(Exception):
            id = {} if line is None else _id(self._read(line), line)
        return json_object({**id, **failure(error)})

    def _at_length(self, line: bytes, stuck: Callable[[GradError], None] | None) -> str:
        """The answer, or the error for which there is none. Arguments as of `answer`."""
        id: dict[str, str] = {}
        try:
            value = json_value(Source(_NAME, _decoded(line)))
            id = _id(value, line)
            asked = question(value, self.programs)
            fields = self._answered(asked, stuck)
            if asked.is_plain:
                self._prepare(asked, value, line)
        except GradError as error:
            fields = failure(error)
        except Exception as error:
            lacking = lacks_memory(error)
            said = LimitError(out_of_memory()) if lacking else GradError(bug(error))
            fields = failure(said)
        return json_object({**id, **fields})

    def _answered(self, asked: Asked, stuck: Callable[[GradError], None] | None) -> dict[str, str]:
        """The fields of the answer. `stuck` is as of `answer`."""
        if asked.name == "describe":
            programs = {n: p for n, p in self.programs.items() if asked.program in ("", n)}
            return description(programs, QUESTIONS)
        program = self.programs[asked.program]
        options = self._options.changed(stuck=stuck)
        if asked.seed is not None:
            options = options.changed(seed=asked.seed)
        given = {**self._given[asked.program], **_named(asked.inputs, "inputs")}

        def found() -> dict[str, str]:
            result = _result(program, asked, given, options)
            return answer(result, in_base64=asked.packed)

        return program.within(options, found)

    def _prepare(self, asked: Asked, value: dict[str, Any], line: bytes) -> None:
        """Make a plan for questions of the kind of one that has been answered, if there is code."""
        begun = _begun(value.pop("id", _NONE))
        inputs = _unpacked(value.pop("inputs", None) or _NOTHING)
        along = _unpacked(value.pop("tangents", None) or _NOTHING)
        key = _key(value, inputs, along)
        if begun is None or key in self.plans:
            return
        program, given = self.programs[asked.program], self._given[asked.program]
        held = given.keys() - asked.inputs.keys()
        found = program.repeated(
            asked.name,
            {**given, **_named(asked.inputs, "inputs")},
            held=held,
            options=self._options,
            **_arguments(asked),
        )
        if found is None:
            return
        if len(self.plans) >= _MOST:
            self.plans.pop(next(iter(self.plans)))
        colons = line.count(b":") - begun.count(":")
        self.plans[key] = Plan(value, found, pattern(asked.name, found)[1:], colons)


def _result(program: Program, asked: Asked, given: Mapping[str, Given], options: Options) -> Any:
    """The result of a question about a program at some inputs."""
    arguments = _arguments(asked)
    if asked.many is not None:
        return program.batch(asked.name, asked.many, given, options=options, **arguments)
    if asked.is_several:
        return program.several(given, question=asked.name, options=options, **arguments)
    return getattr(program, asked.name)(given, options=options, **arguments)


def _unpacked(values: dict[str, Any]) -> dict[str, Any]:
    """Values by name, with their arrays unpacked."""
    if not any(type(value) is dict for value in values.values()):
        return values
    return {n: unpacked(n, value) if is_packed(value) else value for n, value in values.items()}


def _key(asked: dict[str, Any], inputs: Mapping[str, Any], along: Mapping[str, Any]) -> Any:
    """The kind of a question: its fields, the names of its values, and their lengths."""
    fields = ((n, (*x,) if type(x) is list else x) for n, x in asked.items())
    lengths = *map(_length, inputs.values()), *map(_length, along.values())
    return *fields, (*inputs,), (*along,), lengths


def _length(value: Any) -> Any:
    return len(value) if type(value) is list else getattr(value, "shape", None)


def _begun(id: Any) -> str | None:
    """The beginning of an answer with the question's id, if that is a text, an int or not there;
    None for others, which are read digit by digit.
    """
    if type(id) is int:
        return f'{{"id":{id},'
    if type(id) is str:
        return f'{{"id":{quote(id)},'
    return "{" if id is _NONE else None


def _id(value: Any, line: bytes) -> dict[str, str]:
    """The id of a question, as JSON."""
    if type(value) is not dict or "id" not in value:
        return {}
    id = value["id"]
    if type(id) is not str and id is not None:
        id = json.loads(line)["id"]  # with all digits
    return {"id": literal(id, json=True)}


def _decoded(line: bytes) -> str:
    """The text of a line.

    Raises:
        InputError: If it is not UTF-8.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        message = f"byte 0x{line[error.start]:02X} of the question is not UTF-8"
        raise InputError(Diagnostic("bad-input", message)) from None


def _named(values: Mapping[str, Any], field: str) -> dict[str, Given]:
    """Values by name, with the field that has them for messages."""
    from gradcli.program import Given

    return {name: Given(value, f"{name} in `{field}`") for name, value in values.items()}


def _arguments(asked: Asked) -> dict[str, Any]:
    """The arguments of the program's method."""
    from gradcli.program import Given

    found = {**asked.arguments}
    if "tangents" in found:
        found["tangents"] = _named(found["tangents"], "tangents")
    if "cotangent" in found:
        found["cotangent"] = Given(found["cotangent"], "`cotangent`")
    return found
