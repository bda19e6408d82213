"""Programs print what PyTorch, NumPy and JAX print for them (`reference/record.py`)."""

from pathlib import Path

import pytest
from support.programs.lesson_cases import read

from gradcli.errors import ErrorText, GradError
from gradcli.program import Options, check_source, load
from gradcli.source import Source

FILES = sorted((Path(__file__).parent / "reference").glob("*.txt"))
LONG = frozenset(
    {
        *("SGD", "SGD with momentum, dampening and weight decay", "SGD by Nesterov", "AdamW"),
        *("RMSprop"),
    }
)
"""Cases of a hundred steps that do what others do in small."""
CASES = [
    pytest.param(
        case,
        id=f"{f.stem}: {case.name}",
        marks=[pytest.mark.long] if case.name in LONG else [],
    )
    for f in FILES
    for case in read(f)
]


@pytest.mark.parametrize("case", CASES)
def test_what_is_printed(case):
    printed = []

    def shown(text):
        if not isinstance(text, ErrorText):
            printed.append(text)

    options = Options(echo=shown, compile="never")
    if case.refused:
        with pytest.raises(GradError):
            load(f"{case.program}\n").run(options=options)
    else:
        load(f"{case.program}\n").run(options=options)
        findings = check_source(Source("<case>", case.program), {}).findings
        assert not [finding for finding in findings if finding.severity == "error"]
    assert "".join(printed).splitlines() == case.printed
