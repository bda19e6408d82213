"""Machine code of LLVM's text, in this process."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite.binding as llvm


class Machine:
    """A module as machine code: its functions `call` and `rows`, which run without Python's lock.
    The code is there as long as this is.

    Most of the time goes into good use of registers. Only in a loop it is worth that: numbers go
    from turn to turn there, else from one function of the C library to the next.
    """

    def __init__(self, text: str, loops: bool) -> None:
        _prepare()
        module = llvm.parse_assembly(text)
        target = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(), opt=1 if loops else 0
        )
        module.triple = target.triple
        module.data_layout = str(target.target_data)
        shorten(module, target, loops)
        self._engine = llvm.create_mcjit_compiler(module, target)
        self._engine.finalize_object()
        self.call: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(
            self._engine.get_function_address("call")
        )
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        self.rows: Any = ctypes.CFUNCTYPE(
            word, pointer, pointer, pointer, word, word, pointer, pointer, pointer
        )(self._engine.get_function_address("rows"))


def shorten(module: Any, target: Any, loops: bool) -> None:
    """Make a module's functions shorter; no number that they give becomes another."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    if loops:
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=1 if loops else 0)
    passes.run(module, llvm.create_pass_builder(target, options))


@cache
def _prepare() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
