"""The LLVM back end: machine code for typed programs, made in this process.

`lower` emits the LLVM module of a program with the help of `emit` and `arrays`, `emit.machine`
compiles it, and `code` and `run` run it.
"""
