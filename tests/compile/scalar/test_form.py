"""The scalar form knows no back end, and its functions are well formed."""

import math
import random
import re
from pathlib import Path

import pytest
from support.programs.number_cases import NUMBERS, OF_MACHINE_CODE, OPS, cases, random_number

import gradcli.engine.compile.scalar as room
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.form import (
    LIBRARY,
    PRIMITIVES,
    Bail,
    Branch,
    Do,
    Give,
    GiveUp,
    Library,
    Repeat,
    type_of,
)
from gradcli.engine.compile.scalar.forms import Forms, Unknown
from gradcli.engine.ops.catalog import ops

FILES = sorted(Path(room.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_word_of_a_back_end_is_in_the_form(file):
    words = re.findall(r"llvm|i64|double|fcmp|phi\b", file.read_text("utf-8"), re.IGNORECASE)
    assert not words


def faults(function):
    """What is wrong with a function: types, order of edges, arguments of blocks."""
    blocks = {block.label: block for block in function.blocks}
    place = {block.label: k for k, block in enumerate(function.blocks)}
    for block in function.blocks:
        for i in block.body:
            given = [type_of(x) for x in getattr(i, "args", ())]
            if isinstance(i, Do):
                wanted = PRIMITIVES[i.primitive]
                if (*given, i.target.type) != (*wanted.takes, wanted.gives):
                    yield f"{i}: types"
            elif isinstance(i, Library):
                if given != ["float"] * LIBRARY[i.function]:
                    yield f"{i}: types"
            elif isinstance(i, Bail) and type_of(i.when) != "bool":
                yield f"{i}: types"
        end = block.end
        if isinstance(end, Give | GiveUp):
            if isinstance(end, Give) and type_of(end.result) != function.type:
                yield f"{end}: type"
            continue
        for edge in (end.yes, end.no) if isinstance(end, Branch) else (end.to,):
            to = blocks[edge.label]
            if [type_of(x) for x in edge.args] != [p.type for p in to.params]:
                yield f"{edge}: arguments"
            if isinstance(end, Repeat) != (place[edge.label] <= place[block.label]):
                yield f"{edge}: leads the wrong way"


@pytest.mark.parametrize("kinds", [("float", "float"), ("int", "float"), ("int", "int")])
def test_closeness_is_that_of_python_and_has_a_form(kinds):
    number, rng = ops.math_isclose.value.number, random.Random(5)
    for _ in range(2_000):
        a, b = (random_number(rng, kind) for kind in kinds)
        for x, y in ((a, b), (a, a * (1 + 1e-9)), (a, a)):
            assert number(x, y) is math.isclose(x, y), (x, y)
            assert number(x, y, 0.1, 2) is math.isclose(x, y, rel_tol=0.1, abs_tol=2), (x, y)
    assert Forms().function("f", number, [*map(Unknown, kinds)], {}, "bool").type == "bool"


def test_the_forms_of_all_ops_are_well_formed():
    forms, wrong, made = Forms(), [], 0
    for case in cases([name for name in OPS if name not in OF_MACHINE_CODE], NUMBERS):
        given = [*map(Unknown, case.types), *case.left_out]
        try:
            f = forms.function("f", ops[case.name].value.number, given, case.params, case.kind)
        except Untranslatable:
            continue
        made += 1
        wrong += [(case.name, case.types, x) for x in faults(f)]
    wrong += [(f.name, x) for f in forms.piecewise.values() for x in faults(f)]
    assert not wrong
    assert made > 480
