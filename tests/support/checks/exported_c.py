"""Compile exported C, and call it."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

from gradcli.engine.compile.export.languages.c_header import works
from gradcli.engine.compile.export.written import size_text

CC = shutil.which("cc")
FLAGS = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
_TYPES = {"float": ctypes.c_double, "int": ctypes.c_int64, "bool": ctypes.c_bool}
_DTYPES = {"float": np.float64, "int": np.int64, "bool": np.bool_}
_MOST = 10_000_000  # numbers of work memory


def library(folder: Path, files: dict[str, str], flags=()) -> ctypes.CDLL:
    """The library that one call of the compiler makes of all C files."""
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    made = folder / "exported.so"
    sources = [str(folder / name) for name in files if name.endswith(".c")]
    command = [CC, *FLAGS, *flags, "-shared", "-fPIC", "-o", str(made), *sources, "-lm"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not found.returncode, found.stderr
    return ctypes.CDLL(str(made))


def count(x, sizes) -> int:
    """The value of a polynomial of sizes."""
    return x if type(x) is int else eval(size_text(x), {}, sizes)


def called(loaded: ctypes.CDLL, unit, values, work=None):
    """The status and the outputs of a function for values of its inputs by name."""
    args, sizes = [], {}
    for p in unit.parameters:
        x = values[p.of]
        if p.shape:
            kept = np.ascontiguousarray(x, _DTYPES[p.type]).ravel()
            sizes |= {v.name: n for v, n in zip(p.shape, np.shape(x), strict=True) if v in p.sizes}
            assert kept.size == np.prod([count(y, sizes) for y in p.shape])
            args.append(ctypes.c_void_p(kept.ctypes.data))
            args[-1].kept = kept
            args += [ctypes.c_size_t(sizes[v.name]) for v in p.sizes]
        else:
            args.append(_TYPES[p.type](np.asarray(x).item()))
    outputs = {o.name: np.full(count(o.size, sizes), 7.25) for o in unit.outputs}
    args += [ctypes.c_void_p(o.ctypes.data) for o in outputs.values()]
    if works(unit):
        if work is None:
            work = 100_000 if unit.tape.per_turn else max(0, count(unit.work, sizes))
        memory = np.zeros(work)
        args += [ctypes.c_void_p(memory.ctypes.data), ctypes.c_size_t(work)]
    function = getattr(loaded, unit.name)
    function.restype = ctypes.c_int
    return function(*args), outputs
