"""Machine code of typed programs, made by LLVM in this process.

`sources` finds the Python text of a function on numbers, `translate` says what it does in LLVM's
language by `numbers` (Python's operators) and `library` (Python's `math`), `lower` does so with a
whole program, `machine` makes code of that, `code` and `run` run it.
"""
