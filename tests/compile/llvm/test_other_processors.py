"""Machine code for systems and processors other than this one: LLVM can write it, and it calls
nothing by name, so that nothing has to be there. What runs it is the same everywhere.
"""

import re

import pytest

llvm = pytest.importorskip("llvmlite.binding")

from support.programs.array_programs import GIVEN, HEAD, PROGRAMS  # noqa: E402  # what stands behind the extra
from support.programs.scalar_programs import Writer  # noqa: E402

from gradcli.engine.compile import backends  # noqa: E402
from gradcli.engine.compile.llvm.emit import machine  # noqa: E402
from gradcli.errors import GradError  # noqa: E402
from gradcli.program import Options, load  # noqa: E402

SYSTEMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
)
NAMED = re.compile(  # as what is called, or as whose address is taken
    r"^\s+(?:callq?|bl|b|jmpq?)\s+\"?([A-Za-z_][\w.]*)|\$([A-Za-z_][\w.]*)|([A-Za-z_][\w.]*)@GOT",
    re.MULTILINE,
)
INNER = re.compile("[lL](BB|CPI|JTI|loh|tmp|func)")  # what LLVM calls parts of a function
LABEL = re.compile(r"^\"?([A-Za-z_][\w.$]*)(?:@\w+)?\"?:", re.MULTILINE)
ALWAYS = Options(compile="always", grad_fn=False)


@pytest.fixture(scope="module")
def texts():
    """What LLVM is given for some programs of numbers and of arrays, with the effort."""
    found, make = [], machine.Machine.__init__

    def noted(self, text, effort):
        found.append((text, effort))
        make(self, text, effort)

    patch = pytest.MonkeyPatch()
    patch.setattr(machine.Machine, "__init__", noted)
    patch.setattr(backends, "has_machine_code", lambda: True)
    programs = [(Writer(seed).program(), {"x": 0.7, "b": -1.25, "n": 30}) for seed in range(12)]
    programs += [(HEAD + body, GIVEN) for body in [*PROGRAMS.values()][:6]]
    for program, given in programs:
        try:
            load(program).grad(given, options=ALWAYS)
        except GradError:
            continue  # no program that has a gradient
    patch.undo()
    assert len(found) > 8
    return found


def called(text, system, effort):
    """The names that machine code calls, and does not have."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(system).create_target_machine(opt=effort)
    except RuntimeError:
        pytest.skip("this LLVM writes no code for other processors")
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    machine.shorten(module, target, effort)
    assert target.emit_object(module)
    assembly = target.emit_assembly(module)
    names = {name for found in NAMED.findall(assembly) for name in found if name}
    own = set(LABEL.findall(assembly))
    return {name for name in names if name not in own and not INNER.match(name)}


@pytest.mark.parametrize("system", SYSTEMS)
def test_code_calls_nothing_by_name(system, texts):
    for text, effort in texts:
        assert called(text, system, effort) == set()


BY_NAME = {  # what no processor has an instruction for
    "fmod": "define double @call(double %x, double %y) {\n  %r = frem double %x, %y\n"
    "  ret double %r\n}",
    "log": "declare double @llvm.log.f64(double)\ndefine double @call(double %x) {\n"
    "  %r = call double @llvm.log.f64(double %x)\n  ret double %r\n}",
}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", BY_NAME)
def test_a_call_by_name_is_seen(name, system):
    assert {found.strip("_") for found in called(BY_NAME[name], system, 1)} == {name}
