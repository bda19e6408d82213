"""The shortest texts of many floats by machine code, which runs without Python's lock.

The digits are those of Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2021). A
float is multiplied by a power of ten that is known to 128 bits, and so are both ends of the
interval of numbers that read back as the float. If a multiple of ten lies in the interval, it is
the shortest; else the closer of two numbers is. `repr` gives the same digits.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

_MOST = 25  # characters of the longest text, and a delimiter
_LEAST_POWER, _MOST_POWER = -292, 324  # of ten
_ONE = Lock()  # the code is made once


def is_there() -> bool:
    """True if machine code can be made here: by llvmlite, for a 64-bit processor."""
    return sys.maxsize > 2**32 and find_spec("llvmlite") is not None


def lines(rows: Any, delimiter: str) -> tuple[Any, Any]:
    """The texts of a matrix of floats, as `repr` writes them: a row a line, with delimiters between
    numbers. Their bytes, and the places of the line ends, as arrays.
    """
    import numpy as np

    matrix = np.ascontiguousarray(rows, np.float64)
    count, width = matrix.shape
    signs, ends = np.empty(_MOST * matrix.size, np.uint8), np.empty(count, np.int64)
    with _ONE:
        write = _code()
    into = signs.ctypes.data, ends.ctypes.data
    size = write(matrix.ctypes.data, count, width, ord(delimiter), *into)
    return signs[:size], ends


@cache
def _code() -> Any:
    """The function `lines` of the code."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    powers = map(_power, range(_LEAST_POWER, _MOST_POWER + 1))
    tables = [
        _table("powers", "i128", powers),
        _table("tens", "i64", (10**k for k in range(20))),
        _table("pairs", "i8", b"".join(b"%02d" % k for k in range(100))),
    ]
    code = Path(__file__).with_suffix(".ll").read_text("utf-8")
    module = llvm.parse_assembly("".join([*tables, code]))
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=1
    )
    module.triple, module.data_layout = target.triple, str(target.target_data)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    passes.run(module, llvm.create_pass_builder(target, options))
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    word, pointer = ctypes.c_int64, ctypes.c_void_p
    made = ctypes.CFUNCTYPE(word, pointer, word, word, ctypes.c_uint8, pointer, pointer)
    found: Any = made(engine.get_function_address("lines"))
    found.engine = engine  # the code lives as long
    return found


def _table(name: str, kind: str, numbers: Iterable[int]) -> str:
    """A constant array of ints in LLVM's language."""
    elements = [f"{kind} {number}" for number in numbers]
    found = ", ".join(elements)
    return f"@{name} = internal constant [{len(elements)} x {kind}] [{found}]\n"


def _power(k: int) -> int:
    """The power of ten as an int of 128 bits, rounded up, without its power of two."""
    if k < 0:
        size: int = 10**-k
        return -(-(1 << (127 + size.bit_length())) // size)
    size = 10**k
    places = 128 - size.bit_length()
    return size << places if places >= 0 else -(-size >> -places)
