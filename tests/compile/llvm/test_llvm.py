"""Machine code of typed programs under attack: limits, threads, interrupts, sizes, nesting."""

import ctypes
import gc
import os
import pickle
import signal
import struct
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.checks.validate_typed import faults
from support.programs.typed_programs import (
    chain,
    filling,
    guarded,
    in_python,
    nested,
    sum_of_sines,
    telling,
    turns,
)

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.llvm import run, worker
from gradcli.engine.compile.llvm.code import Code
from gradcli.engine.compile.llvm.emit import primitives
from gradcli.engine.compile.llvm.lower import Module
from gradcli.engine.compile.python import code as python
from gradcli.engine.values.data import np

PROGRAMS = {
    "loop with its pass back": (sum_of_sines, [(1e-3, 1.0, n) for n in (0, 1, 2, 100)]),
    "text": (telling, [(0,), (1,), (50,)]),
    "stack": (filling, [(0,), (1,), (1000,)]),
    "nested": (lambda: nested(10), [(0.0,), (5.5,), (9.0,), (10.0,)]),
    "chain": (lambda: chain(100), [(0.1,)]),
    "leaving": (guarded, [(4.0, 2**63 - 1, True), (-1.0, 0, False), (float("nan"), -1, False)]),
    "python": (in_python, [(1,), (20,)]),
}
LONG = 10**12


@pytest.fixture(scope="module")
def endless():
    return Code(turns(lambda h, i: ()))


def outcome(made, inputs):
    told = []
    try:
        found = made.call(inputs, Control(echo=told.append))
    except Left as left:
        return left.reason
    return [(type(x), struct.pack("d", x) if type(x) is float else x) for x in found], told


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_what_python_code_gives(name):
    make, given = PROGRAMS[name]
    program = make()
    assert faults(program) == []
    compiled, slow = Code(program), python.Code(program)
    for inputs in given:
        assert outcome(compiled, inputs) == outcome(slow, inputs)


@pytest.mark.parametrize(
    "inputs", [(1.5, 2**63, True), (1.5, -(2**63) - 1, True), (1.5, 2.0, True), ("x", 1, True)]
)
def test_inputs_that_are_no_numbers_of_64_bits(inputs):
    with pytest.raises(Left, match="number"):
        Code(guarded()).call(inputs, Control())


@pytest.mark.parametrize("count", [1, 7, 2_000_000])
def test_turns_are_limited(endless, count):
    """N of them are enough for N turns, one less is not; a call takes what it has done."""
    control = Control(turns=count)
    assert endless.call((count,), control) == (count,)
    assert control.turns == 0
    with pytest.raises(Left, match="steps"):
        endless.call((count + 1,), Control(turns=count))
    assert endless.call((count,), Control(turns=count + 1)) == (count,)


@pytest.mark.parametrize("count", [10, 100_000])
def test_the_stack_is_limited(count):
    made = Code(filling())
    assert made.call((count,), Control(memory=16 * count)) == (count,)
    with pytest.raises(Left, match="memory"):
        made.call((count + 1,), Control(memory=16 * count))
    with pytest.raises(Left, match="memory"):
        made.call((1,), Control(memory=15))


def test_more_memory_is_asked_for_where_it_is_needed():
    made, asked = Code(filling()), []

    def more():
        asked.append(1)
        return 16 * 90_000

    small = 1 << 16
    made.call((small // 16,), Control(memory=small, more=more))
    assert not asked
    made.call((small // 16 + 90_000,), Control(memory=small, more=more))
    assert asked
    with pytest.raises(Left, match="memory"):
        made.call((200_000,), Control(memory=small, more=lambda: 0))


def test_calls_in_threads_and_without(monkeypatch):
    """What follows a long call begins in a thread of its own, and only that."""
    made, begun = Code(turns(lambda h, i: ())), []
    wait = worker.wait
    monkeypatch.setattr(
        "gradcli.engine.compile.llvm.code.wait", lambda *args: begun.append(1) or wait(*args)
    )
    for count, threads in ((10, 0), (3_000_000, 1), (10, 2), (10, 2), (3_000_000, 3)):
        assert made.call((count,), Control()) == (count,)
        assert len(begun) == threads


def test_another_thread_stops_it(endless):
    control = Control()
    stop = threading.Timer(0.2, lambda: setattr(control.stop, "value", 1))
    began = time.process_time()
    stop.start()
    with pytest.raises(Left, match="stopped"):
        endless.call((LONG,), control)
    assert time.process_time() - began < 5


class Stopped(BaseException):
    """What a limit raises in the thread that waits."""


@pytest.mark.parametrize("long", ["loop", "python", "rows"])
def test_an_interrupt_stops_it(long):
    """Ctrl-C, or a limit: it is raised where the code was called, and the code has ended."""
    before = threading.active_count()

    def ring(signum, frame):
        raise Stopped

    old = signal.signal(signal.SIGALRM, ring)
    made = Code(in_python() if long == "python" else turns(lambda h, i: ()))
    control = Control()
    count = np.full(1000, LONG)
    ask = partial(made.call, (LONG,), control)
    if long == "rows":
        ask = partial(made.rows, [count], control)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Stopped):
            ask()
    finally:
        signal.signal(signal.SIGALRM, old)
    assert control.stop.value == 0
    assert made.call((3,), control) == (3,)
    assert threading.active_count() == before


@pytest.mark.parametrize("name", ["value", "_served"])
def test_an_error_at_the_start_of_a_python_function_that_code_calls(name, monkeypatch):
    """As an interrupt comes there: the function returns nothing, and the code bails out."""
    dropped = []

    def trace(frame, event, argument):
        if frame.f_code.co_name == name:
            raise Stopped

    monkeypatch.setattr("sys.unraisablehook", lambda found: dropped.append(found.exc_type))
    with monkeypatch.context() as patch:
        patch.setattr(primitives, "defined", lambda call: None)
        code = Code(in_python() if name == "value" else filling())
    before = sys.gettrace()
    try:
        sys.settrace(trace)
        with pytest.raises(Left):
            code.call((20,), Control())
    finally:
        sys.settrace(before)
    assert dropped == [Stopped]
    assert code.call((20,), Control()) == (20,)


def test_an_error_right_after_a_stack_has_moved(monkeypatch):
    """Its old memory is not freed again."""
    moved, freed = [], []

    def realloc(base, size, realloc=run._realloc):
        made = realloc(base, size)
        moved.append(base)
        if len(moved) == 2:
            raise Stopped
        return made

    monkeypatch.setattr(run, "_realloc", realloc)
    monkeypatch.setattr(run, "_free", freed.append)
    monkeypatch.setattr(run, "_KEPT", 0)
    with pytest.raises(Stopped):
        Code(filling()).call((100_000,), Control())
    assert moved[1]
    assert moved[1] not in freed


def test_texts_are_told_while_it_runs_in_order():
    """More of them than are kept at once, and none twice."""
    told = []
    count = 6000
    assert Code(telling()).call((count,), Control(echo=told.append)) == (count,)
    assert told == [f"{i} {i / 3} {i != 0}" for i in range(count)]


def test_a_text_comes_before_the_end():
    """Of a loop that goes on until its first text has come."""
    control = Control()
    came = []

    def echo(text):
        came.append(text)
        control.stop.value = 1

    control.echo = echo
    with pytest.raises(Left, match="stopped"):
        Code(telling()).call((LONG,), control)
    assert came[0] == "0 0.0 False"


@pytest.mark.parametrize("count", [3, 5000])
def test_what_echo_raises_comes_to_the_caller(count):
    def echo(text):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        Code(telling()).call((count,), Control(echo=echo))


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_rows(count):
    """Any number of them; a row that is left is told."""
    x = np.arange(count) - 1.0
    n, flags = np.arange(count), np.arange(count) % 3 == 0
    (root, same, opposite), left = Code(guarded()).rows([x, n, flags], Control())
    assert left.tolist() == (x < 0).tolist()
    assert root[~left].tolist() == np.sqrt(x[~left]).tolist()
    assert (same[~left] == n[~left]).all()
    assert (opposite[~left] == ~flags[~left]).all()
    assert [a.dtype.char for a in (root, same, opposite, left)] == ["d", "l", "?", "?"]


def test_columns_that_do_not_lie_in_order():
    x = np.arange(20.0)[::-2]
    made = Code(chain(3))
    (out,), left = made.rows([x], Control())
    assert out.tolist() == (x + 3).tolist()
    assert not left.any()


def test_rows_have_so_many_turns_each(endless):
    (out,), left = endless.rows([np.array([1, 5, 3, 6])], Control(turns=5))
    assert out.tolist() == [1, 5, 3, 0]
    assert left.tolist() == [False, False, False, True]


def test_rows_that_print_are_left():
    _, left = Code(telling()).rows([np.array([1, 5])], Control())
    assert left.all()


def test_rows_with_a_stack_have_it_for_themselves():
    (out,), left = Code(filling()).rows([np.array([100_000, 1, 100])], Control(memory=16 * 100_000))
    assert out.tolist() == [100_000, 1, 100]
    assert not left.any()


def test_several_threads_at_once():
    """They get what one gets, by values and by rows."""
    made = Code(sum_of_sines())
    wanted = made.call((1e-3, 1.0, 5000), Control())
    x = np.full(20, 1e-3)
    found = []

    def ask():
        found.append(made.call((1e-3, 1.0, 5000), Control()))
        results, _ = made.rows([x, np.ones(20), np.full(20, 5000)], Control())
        found.append(tuple(float(r[7]) for r in results))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [wanted] * 12


def test_deep_nesting():
    """An if in an if 1,000 deep."""
    made = Code(nested(1000))
    assert made.call((999.5,), Control()) == (999.5,)
    assert made.call((999.0,), Control()) == (1998.0,)
    assert made.call((0.0,), Control()) == (0.0,)


def test_its_size_is_linear():
    """2,000 instructions are ten times 200 of them."""
    few, many = (len(Module(chain(n)).text) for n in (200, 2000))
    assert many < 11 * few
    assert Code(chain(2000)).call((0.5,), Control()) == (2000.5,)


@pytest.mark.long
def test_a_large_program():
    assert Code(chain(100_000)).call((0.5,), Control()) == (100_000.5,)


def test_a_process_that_is_forked_has_the_code(endless):
    read, write = os.pipe()
    if not (child := os.fork()):
        os.write(write, repr(endless.call((3_000_000,), Control())).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"(3000000,)"


def test_a_copy_is_made_again():
    made = pickle.loads(pickle.dumps(Code(sum_of_sines())))
    assert outcome(made, (1e-3, 1.0, 10)) == outcome(Code(sum_of_sines()), (1e-3, 1.0, 10))


def test_runs_leave_nothing_behind(endless):
    """Nothing waits for the collector, which is off while programs run."""
    made = Code(telling())
    columns = np.arange(3)
    endless.rows([columns], Control())
    gc.collect()
    gc.disable()
    try:
        for count in (3, 5000):
            made.call((count,), Control())
            endless.call((5_000_000,), Control())
            with suppress(Left):
                endless.call((5_000_000,), Control(turns=3_000_000))
            endless.rows([columns], Control())
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_no_multiplication_and_addition_are_one():
    """Not where the processor has an instruction for both: it rounds once and not twice."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text = Module(sum_of_sines()).text
    try:
        target = llvm.Target.from_triple("aarch64-linux-gnu").create_target_machine(opt=2)
    except RuntimeError:
        pytest.skip("this LLVM writes no code for other processors")
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    from gradcli.engine.compile.llvm.emit.machine import shorten

    shorten(module, target, 1)
    assembly = target.emit_assembly(module)
    assert "fmul" in assembly
    assert "fmadd" not in assembly


def test_nothing_is_written_beside_what_is_given(monkeypatch):
    """Columns, results and stacks between guards, whose bytes stay as they are."""
    guard = 0x5A5A5A5A5A5A5A5A
    sizes = []

    def guarded_room(address, size):
        sizes.append(size)
        room = realloc(address, size + 64)
        ctypes.memset(room + size, 0x5A, 64)
        return room

    realloc = run._realloc
    monkeypatch.setattr(run, "_realloc", guarded_room)
    ends = []
    monkeypatch.setattr(run, "_KEPT", 0)
    monkeypatch.setattr(
        run, "_free", lambda at: ends.append(at and ctypes.string_at(at + sizes[-1], 64))
    )
    made = Code(filling())
    for count in (0, 1, 2, 4096, 5000):
        cells = np.full(count + 8, guard)
        cells[4 : count + 4] = np.arange(count) % 3
        before = cells.copy()
        made.rows([cells[4 : count + 4]], Control())
        assert cells.tolist() == before.tolist()
        made.call((count,), Control())
    assert set(ends) == {None, b"\x5a" * 64}


def test_memory_of_stacks_is_kept_for_the_next_run(monkeypatch):
    monkeypatch.setattr(run, "_KEPT", 1 << 22)
    taken, freed = [], []
    realloc, free = run._realloc, run._free
    monkeypatch.setattr(run, "_realloc", lambda at, size: taken.append(size) or realloc(at, size))
    monkeypatch.setattr(run, "_free", lambda at: freed.append(at) or free(at))
    made, most = Code(filling()), Control(memory=1 << 21)
    made.call((100_000,), Control())
    assert taken[-1] == 1 << 21
    for count, control in ((100_000, Control()), (100, Control()), (100_000, most)):
        before = len(taken)
        made.call((count,), control)
        assert len(taken) == before
    made.call((10,), Control(memory=1000))  # what is kept is more than it may take
    assert taken[-1] == 1000
    assert not freed
    made.call((300_000,), Control())
    assert len(freed) == 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_llvm_finds_nothing_wrong(name):
    import llvmlite.binding as llvm

    llvm.parse_assembly(Module(PROGRAMS[name][0]()).text).verify()


def test_threads_may_compile_at_once():
    found = []
    threads = [
        threading.Thread(target=lambda k=k: found.append(Code(chain(k)).call((0.0,), Control())))
        for k in range(1, 9)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(found) == [(float(k),) for k in range(1, 9)]
