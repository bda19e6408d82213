"""The ops program as text: the golden files of what the lowering makes."""

import pytest
from support.programs.ir_programs import FORMS, GOLDEN, lowered, sources

from gradcli.ir.text import text
from gradcli.source import Source

SOURCES = dict(sources())


@pytest.mark.parametrize("name", SOURCES)
def test_a_program_is_lowered_to_what_its_golden_file_says(name):
    wanted = (GOLDEN / f"{name}.txt").read_text("utf-8")
    assert text(lowered(SOURCES[name])) == wanted, "`python tests ir_programs` writes it anew"


def test_every_golden_file_has_a_program():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(SOURCES)


def test_slots_of_one_name_are_told_apart_and_a_place_is_given():
    lines = text(lowered(Source("t", "def f(x):\n    return x\nx = f(2)\n"))).splitlines()
    assert "x.2 = call f(2)".ljust(48) + "  # 3:5-3:9" in lines, lines
    assert any(line.startswith("f = define f(x.3):") for line in lines), lines


def test_what_nests_deeply_is_printed():
    deep = " and ".join(f"x > {i}" for i in range(500))
    printed = text(lowered(Source("t", f"{deep}\n")))
    assert printed.count("= and ") == 499


def test_all_records_are_in_the_golden_files():
    from gradcli.ir import program as ir
    from gradcli.ir import visit

    seen = {type(i) for name in FORMS for i in visit.everything(lowered(SOURCES[f"form-{name}"]))}
    kinds = {k for k in vars(ir).values() if isinstance(k, type) and issubclass(k, ir.Instruction)}
    assert kinds - {ir.Instruction} == seen
