"""Built-ins of a range give Python's values, and go through no long one."""

from itertools import product

import pytest

from gradcli import load
from gradcli.engine.values.data import INT64_MAX
from gradcli.errors import GradError, ProgramError
from gradcli.program import Options

BOUNDS = (-9, -1, 0, 1, 2, 7)
RANGES = [range(*given) for given in product(BOUNDS, BOUNDS, (-4, -1, 1, 3))]


@pytest.mark.parametrize("name", ["sum", "any", "all", "max", "min", "reversed"])
def test_a_range_has_the_values_of_its_items(name):
    some = [r for r in RANGES if r or name not in ("max", "min")]
    shape = "list(reversed({}))" if name == "reversed" else f"{name}({{}})"
    printed = load("\n".join(f"print({shape.format(r)})" for r in some)).run().printed
    assert printed == tuple(str(eval(shape.format(r))) for r in some)


@pytest.mark.parametrize("given", [(0, 2), (0, 3), (0, -3, -1), (-3, 3)])
def test_a_sum_beyond_64_bits_is_that_of_the_items(given):
    start, stop, *step = given
    most = INT64_MAX // 2
    text = ", ".join(map(str, (start * most, stop * most, *(step or [1]))))
    some = f"range({text})[::{most - 1}]"
    assert _answer(f"sum({some})") == _answer(f"sum([*{some}])")


def _answer(text):
    try:
        return load(text).run().result
    except GradError as error:
        return error.diagnostics[0].message


LONG = {
    "max(range(10 ** 12)) * x": 10.0**12 - 1,
    "min(range(10 ** 12, 0, -1)) * x": 1.0,
    "sum(range(10 ** 9)) * x": (10**9 - 1) * 10**9 // 2 * 1.0,
    "x * any(range(10 ** 12))": 1.0,
    "x * all(range(1, 10 ** 12))": 1.0,
    "len(range(10 ** 12)) * x": 1e12,
    "range(10 ** 12)[5] * x": 5.0,
    "for i in reversed(range(10 ** 12)):\n    break\nx * i": 10.0**12 - 1,
}


@pytest.mark.parametrize("compile", ["never", "auto", "always"])
@pytest.mark.parametrize("text", LONG)
def test_a_long_range_takes_no_time(text, compile):
    options = Options(compile=compile)
    if compile == "always" and "reversed" in text:
        with pytest.raises(ProgramError, match="too many items"):
            load(f"input x = 1.0\n{text}").run(options=options)
        return
    assert load(f"input x = 1.0\n{text}").run(options=options).result == LONG[text]


@pytest.mark.parametrize("compile", ["never", "auto"])
def test_a_number_is_sought_in_a_range_at_once(compile):
    program = load("input x = 5.0\nx in range(10 ** 12)")
    assert program.run(options=Options(compile=compile)).result is True


@pytest.mark.parametrize("name", ["list", "tuple", "sorted"])
def test_code_that_is_made_goes_through_no_long_range(name):
    program = load(f"input x = 1.0\n{name}(range(10 ** 12))[0] * x")
    with pytest.raises(ProgramError, match=f"`{name}` of too many items"):
        program.run(options=Options(compile="always"))
