"""A question of a client: its fields, checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from gradcli.errors import Diagnostic, UsageError, nearest
from gradcli.formats.files.packed import is_packed, unpacked
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.program import Program

_ARGUMENTS = {
    "describe": (),
    "value": ("of",),
    "run": (),
    "grad": ("wrt", "of", "cotangent"),
    "vjp": ("wrt", "of", "cotangent"),
    "jvp": ("of", "tangents"),
    "jacobian": ("wrt", "of", "mode"),
    "hessian": ("wrt", "of", "cotangent", "diagonal", "mode"),
    "hvp": ("wrt", "of", "cotangent", "tangents", "mode"),
}
"""The questions, with the fields that each has beside those of all."""

QUESTIONS = (*_ARGUMENTS,)
"""The names of the questions."""

_EVERY = ("id", "question", "program")
_AT = ("inputs", "many", "seed", "arrays")
_CHOICES = {"mode": ("auto", "forward", "reverse"), "arrays": ("lists", "base64")}
_SEEDS = range(2**128)


class Asked(Record):
    """A question.

    Fields:
        name: What is asked: one of `QUESTIONS`.
        program: The name of the program; "" for all, which only `describe` can be asked of.
        inputs: Values by name.
        many: Values by name of which each item is asked of; None if it is asked once.
        arguments: What else it has, as `Program`'s method of its name takes it.
        seed: The seed of random numbers; None for one of the server's.
        packed: True if arrays of the answer are written as base64.
    """

    __slots__ = ("name", "program", "inputs", "many", "arguments", "seed", "packed")
    name: str
    program: str
    inputs: dict[str, Any]
    many: dict[str, Any] | None
    arguments: dict[str, Any]
    seed: int | None
    packed: bool

    @property
    def is_several(self) -> bool:
        """True if it is about several results."""
        return type(self.arguments.get("of")) is list

    @property
    def is_plain(self) -> bool:
        """True if all that may differ between it and others of its fields are numbers."""
        others = {n: x for n, x in self.arguments.items() if n not in ("wrt", "tangents")}
        are_texts = all(type(x) is str for x in others.values())
        is_once = self.many is None and self.seed is None and not self.packed
        return is_once and are_texts and self.name not in ("describe", "run")


def question(asked: Any, programs: Mapping[str, Program]) -> Asked:
    """The question in a JSON value.

    Args:
        asked: The value.
        programs: The programs by name.

    Raises:
        UsageError: If a field is missing, unknown or of a wrong type.
        InputError: If an array is broken.
    """
    if type(asked) is not dict:
        raise _bad("a question is a JSON object", _EXAMPLE)
    asked = {field: value for field, value in asked.items() if value is not None}
    name = _known("question", asked.get("question"), QUESTIONS)
    at = () if name == "describe" else _AT
    _check_fields(asked, name, (*_EVERY, *_ARGUMENTS[name], *at))
    for field, choices in _CHOICES.items():
        if field in asked:
            _known(field, asked[field], choices)
    if type(asked.get("diagonal", False)) is not bool:
        raise _bad("`diagonal` is true or false")
    seed = asked.get("seed")
    if seed is not None and (type(seed) is not int or seed not in _SEEDS):
        raise _bad("`seed` is a whole number from 0 to 2**128 - 1")
    if name in ("jvp", "hvp") and "tangents" not in asked:
        raise _bad(f"`{name}` needs `tangents`", 'as in `"tangents": {"x": 1}`')
    arguments = {field: asked[field] for field in _ARGUMENTS[name] if field in asked}
    for field in ("wrt", "of"):
        if field in arguments:
            arguments[field] = _names(field, arguments[field])
    if "tangents" in arguments:
        arguments["tangents"] = _values("tangents", arguments["tangents"])
    if is_packed(arguments.get("cotangent")):
        arguments["cotangent"] = unpacked("`cotangent`", arguments["cotangent"])
    if "many" in asked and (name == "run" or type(arguments.get("of")) is list):
        what = "`run`" if name == "run" else "several results"
        raise _bad(f"`many` does not go with {what}", "ask for the `value` of one")
    many = _values("many", asked["many"]) if "many" in asked else None
    inputs = _values("inputs", asked.get("inputs", {}))
    twice = next((n for n in many or () if n in inputs), None)
    if twice is not None:
        raise _bad(f"`{twice}` is in `inputs` and in `many`")
    return Asked(
        name=name,
        program=_program(asked.get("program"), programs, needed=name != "describe"),
        inputs=inputs,
        many=many,
        arguments=arguments,
        seed=seed,
        packed=asked.get("arrays") == "base64",
    )


_EXAMPLE = 'as in `{"question": "grad", "inputs": {"x": 2}}`'


def _bad(message: str, help: str | None = None) -> UsageError:
    return UsageError(Diagnostic("bad-question", message, help=help))


def _known(field: str, value: Any, choices: Collection[str]) -> str:
    """The value of a field that has few."""
    if type(value) is str and value in choices:
        return value
    every = ", ".join(choices)
    if value is None and field == "question":
        raise _bad("the question has no field `question`", f"it is one of {every}")
    if type(value) is not str:
        raise _bad(f"`{field}` is a text", f"it is one of {every}")
    near = nearest(value, choices)
    raise _bad(f"there is no {field} `{value:.40}`", near or f"it is one of {every}")


def _check_fields(asked: Mapping[str, Any], name: str, known: Collection[str]) -> None:
    wrong = next((field for field in asked if field not in known), None)
    if wrong is not None:
        every = ", ".join(known)
        near = nearest(wrong, known)
        raise _bad(f"`{name}` has no field `{wrong:.40}`", near or f"its fields are {every}")


def _names(field: str, value: Any) -> Any:
    """A name, or a list of names."""
    if type(value) is str or (
        type(value) is list and value and all(type(name) is str for name in value)
    ):
        return value
    raise _bad(f"`{field}` is a name or a list of names")


def _values(field: str, value: Any) -> dict[str, Any]:
    """Values by name, with arrays unpacked."""
    if type(value) is not dict:
        raise _bad(f"`{field}` is an object of values by name", f'as in `"{field}": {{"x": 2}}`')
    return {
        name: unpacked(f"`{name}`", found) if is_packed(found) else found
        for name, found in value.items()
    }


def _program(value: Any, programs: Mapping[str, Program], *, needed: bool) -> str:
    """The name of the program that is asked."""
    names = ", ".join(f"`{name}`" for name in programs)
    if value is None and len(programs) == 1:
        return next(iter(programs))
    if value is None and not needed:
        return ""
    if value is None:
        raise _bad("the question names no `program`", f"the programs are {names}")
    if type(value) is not str:
        raise _bad("`program` is a name", f"the programs are {names}")
    if value not in programs:
        near = nearest(value, programs)
        raise _bad(f"there is no program `{value:.40}`", near or f"the programs are {names}")
    return value
