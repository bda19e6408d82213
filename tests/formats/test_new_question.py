"""A result of a question that no form knows: all forms of output follow from its class."""

import json

import pytest

from gradcli.formats.writers.forms import FORMS, parts_of
from gradcli.render.derivatives.answers import derivative_view
from gradcli.results import Derivative

KINDS = Derivative.__subclasses__()


class LaplacianResult(Derivative):
    """The trace of the second derivatives."""

    question, shown = "laplacian", ("grad", "laplacian", "blocks", "mode")
    __slots__ = ("grad", "laplacian", "blocks", "mode")


RESULT = LaplacianResult("y", 3.0, {"x": [1.0, 2.0]}, 2.5, None, "reverse")


def parts(result):
    return parts_of(result.view, result, None)


def test_values_by_name():
    assert parts(RESULT).fields() == {"y": 3.0, "grad.x": [1.0, 2.0], "laplacian": 2.5}
    assert parts(RESULT).found() == {"laplacian": 2.5}
    blocks = LaplacianResult("y", 3.0, None, None, {"x": {"z": 1.0}}, "forward")
    assert parts(blocks).found() == {"blocks.x.z": 1.0}


def test_json():
    assert json.loads(FORMS["json"].whole(parts(RESULT), "")) == {
        "schema": "gradcli.laplacian/1",
        "output": "y",
        "value": 3.0,
        "grad": {"x": [1.0, 2.0]},
        "laplacian": 2.5,
        "mode": "reverse",
        "warnings": [],
    }


def test_for_people():
    lines = derivative_view(RESULT, precision=6, width=80)
    text = ["".join(piece for piece, _ in line) for line in lines]
    assert text == ["y = 3", "", "grad.x = [1, 2]", "", "laplacian = 2.5", "", "by reverse mode"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_shown_are_fields(kind):
    assert set(kind.shown) <= set(kind.__slots__)
    assert kind.__name__.lower().removeprefix("sparse").startswith(kind.question)
