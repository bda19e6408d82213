"""Dtypes of fewer bits, int32 to uint8 and float16: dtypes, values and texts of results are PyTorch's,
as `reference/narrow.py` recorded them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.result_dtypes import ARRAYS_FIRST, INPUTS, OPS, known, letters
from support.programs.dtype_calls import EXPRESSIONS, NARROW, narrow_calls

from gradcli.engine.run.session.state import Session
from gradcli.engine.static.value import inferred
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Quiet, plain
from gradcli.program import Options, load

RECORDED = json.loads((Path(__file__).parent / "narrow.json").read_text("utf-8"))
DEPARTS = {  # in how many calls, and why
    "huber_loss": (1, INPUTS),
    "l1_loss": (1, ARRAYS_FIRST),
    "mse_loss": (1, ARRAYS_FIRST),
    "rms_norm": (1, INPUTS),
    "smooth_l1_loss": (1, ARRAYS_FIRST),
    "soft_margin_loss": (1, INPUTS),
    "where": (2, "PyTorch still takes a condition of uint8, and warns"),
}
OTHERWISE = {  # texts, and why
    ("float16", "x.prod()"): "PyTorch rounds each product of two",
    ("float16", "x % -1"): "the sign of a zero",
    ("int32", "x ** 3"): "a power that needs more than 64 bits is refused",
}


@by_family(OPS)
def test_dtypes_are_pytorchs(op):
    session = Session()
    row = RECORDED["dtypes"].get(op.name, "")
    expected = row.split() if " " in row else row
    asked = list(narrow_calls(op))
    assert not row or len(expected) == len(asked), "run reference/narrow.py"
    departing, wrong = [], []
    for i, (forms, args, params) in enumerate(asked):
        given = [Tensor(plain(a)) if isinstance(a, np.ndarray) else a for a in args]
        values = [None if a is None else known(a) for a in args]
        bound = {k.removeprefix("*"): v for k, v in {**op.params, **params}.items()}
        with Quiet():
            got = letters(lambda: session.do(op, given, bound))  # noqa: B023  # asked at once
            told = letters(lambda: inferred(op, values, bound))  # noqa: B023
        refused = not row or expected[i] == "-"
        if not refused and got != expected[i]:
            departing.append(f"{op.name} of {', '.join(forms)}: {got}, PyTorch {expected[i]}")
        if got != "-" and told not in (got, "?") and not (refused and told == "-"):
            wrong.append(f"{op.name} of {', '.join(forms)}: {got}, check {told}")
    count, _ = DEPARTS.get(op.name, (0, ""))
    assert not wrong, "\n".join(wrong[:20])
    assert len(departing) == count, f"{len(departing)} depart:\n" + "\n".join(departing[:30])


@pytest.mark.parametrize("dtype", NARROW)
def test_numbers_at_the_ends_are_pytorchs(dtype):
    ends = np.finfo(dtype) if dtype == "float16" else np.iinfo(dtype)
    texts = dict(zip(EXPRESSIONS, RECORDED["texts"][dtype], strict=True))
    expected = {e: text for e, text in texts.items() if text != "-"}
    lines = [f"x = tensor([{ends.max}, {ends.min}, 5, 0], dtype={dtype})"]
    lines += [f"try: print({e})\nexcept Exception: print('-')\nprint('==')" for e in expected]
    printed = []
    load("\n".join(lines)).run(options=Options(echo=printed.append))
    found = "".join(printed).split("\n==\n")
    wrong = [
        f"{e}: {got}, PyTorch {text}"
        for (e, text), got in zip(expected.items(), found, strict=False)
        if (got == text) == ((dtype, e) in OTHERWISE)
    ]
    assert len(found) == len(expected) + 1
    assert not wrong, "\n".join(wrong)


WRITES = ("x.fill_({})", "x[0] = {}", "x[x > 0] = {}", "x = x.masked_fill(x > 0, {})",
          "x = x.index_fill(0, torch.tensor([0]), {})", "x = x.scatter(0, torch.tensor([0]), {})")  # fmt: skip


@pytest.mark.parametrize("write", WRITES)
def test_a_number_that_does_not_fit_is_not_written(write):
    for dtype, number, expected in (
        ("uint8", 300, "refused"), ("uint8", -2.5, "refused"), ("uint8", -2, 254), ("int8", 128, "refused"),
        ("int16", float("nan"), "refused"), ("int8", -128, -128), ("int32", 2.5, 2),
    ):  # fmt: skip
        lines = [f"x = torch.tensor([1, 2], dtype=torch.{dtype})", "try:"]
        lines += [f"    {write.format(number)}\n    print(x[0].item())"]
        printed = load("\n".join([*lines, "except RuntimeError:", "    print('refused')"])).run()
        assert list(printed.printed) == [str(expected)], (dtype, number)
