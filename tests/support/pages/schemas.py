"""Check JSON that gradcli prints against docs/gradcli.schema.json, and that the schema lists every
field.
"""

import json
from functools import cache
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "gradcli.schema.json"
TYPES = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
KEYWORDS = {"$ref", "anyOf", "type", "required", "properties", "additionalProperties", "items"}
KEYWORDS |= {"const", "enum"}


_BEGINNINGS = ('{"schema":"gradcli.', '{"row":', '{"severity":', '{"id":', '{"error":')
_NAMED = {"value": "value_alone"}  # what is a value in all others


@cache
def definitions():
    return json.loads(PAGE.read_text("utf-8"))["$defs"]


def printed(text):
    """The JSON objects of gradcli among lines."""
    for line in text.splitlines():
        if line.startswith(_BEGINNINGS):
            yield json.loads(line)


def hold(found):
    """Check an object against its definition."""
    if "severity" in found:
        name = "diagnostic"
    else:
        known = found.get("schema", "")
        bad = "bad_question" if "status" in found else "bad_row"
        name = known[len("gradcli.") : -len("/1")] or ("bad_group" if "by" in found else bad)
        name = _NAMED.get(name, name)
    wrong = [*faults(found, definitions()[name], name)]
    assert not wrong, wrong


def faults(value, schema, path):
    """Places where a value breaks a schema or has a field that the schema lacks."""
    assert schema.keys() <= KEYWORDS, f"{path}: a keyword that is not looked at"
    if "$ref" in schema:
        yield from faults(value, definitions()[schema["$ref"].rpartition("/")[2]], path)
    if "anyOf" in schema and all(any(faults(value, s, path)) for s in schema["anyOf"]):
        yield f"{path}: none of several"
    if "const" in schema and value != schema["const"]:
        yield f"{path}: not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: not one of {schema['enum']}"
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_of(value, kind) for kind in kinds):
        yield f"{path}: no {kinds}"
    elif isinstance(value, dict) and "object" in kinds:
        yield from (
            f"{path}.{name} is missing" for name in {*schema.get("required", ())} - {*value}
        )
        known, rest = schema.get("properties", {}), schema.get("additionalProperties")
        for name, part in value.items():
            if name in known or rest is not None:
                yield from faults(part, known.get(name, rest), f"{path}.{name}")
            elif known:
                yield f"{path}.{name} is not told of"
    elif isinstance(value, list) and "items" in schema:
        for place, part in enumerate(value):
            yield from faults(part, schema["items"], f"{path}.{place}")


def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))
