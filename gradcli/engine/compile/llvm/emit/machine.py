"""Compile LLVM text to machine code in this process."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from gradcli.engine.compile.typed import NotCompilable

_POINTER = 8  # bytes of each number that code and Python share


class Machine:
    """Machine code of a module: its functions `call` and `rows`, which run without Python's lock.
    The code lives as long as this object.

    Fields:
        effort: LLVM's optimization level: 1 allocates registers well, 0 compiles in a third of the
            time.
    """

    def __init__(self, text: str, effort: int) -> None:
        if ctypes.sizeof(ctypes.c_void_p) != _POINTER:
            raise NotCompilable("machine code needs a 64-bit processor")
        _prepare()
        module = llvm.parse_assembly(text)
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),  # a virtual machine may lack some
            opt=effort,
        )
        module.triple = target.triple
        module.data_layout = str(target.target_data)
        shorten(module, target, effort)
        self._engine = llvm.create_mcjit_compiler(module, target)
        self._engine.finalize_object()
        self.call: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(
            self._engine.get_function_address("call")
        )
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        self.rows: Any = ctypes.CFUNCTYPE(
            word, pointer, pointer, pointer, word, word, pointer, pointer, pointer
        )(self._engine.get_function_address("rows"))


def shorten(module: Any, target: Any, effort: int) -> None:
    """Optimize a module without changing a bit of its results."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    if effort:
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=effort)
    passes.run(module, llvm.create_pass_builder(target, options))


@cache
def _prepare() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
