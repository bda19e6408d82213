"""The scalar form: ops' values on numbers as functions of basic blocks over typed primitives."""
