"""Sparse matrices of derivatives beside dense ones."""

import numpy as np

from gradcli.program import Options


def dense(block):
    """A block with zeros where it has no entry, and where it has one."""
    values, there = np.zeros(block.shape), np.zeros(block.shape, np.bool_)
    values[block.row, block.col] = block.data
    there[block.row, block.col] = True
    return values, there


def fault(block, expected):
    """What a block has that the dense one has not, or the other way round; None if nothing."""
    expected = np.asarray(expected, np.float64).reshape(block.shape)
    values, there = dense(block)
    if len(block.data) != there.sum():
        return "an entry is there twice"
    if (expected[~there] != 0).any():
        return f"misses {np.argwhere((expected != 0) & ~there)[0]}"
    if values[there].tobytes() != expected[there].tobytes():
        wrong = np.argwhere(there & (values != expected))
        return f"differs at {wrong[:1]}"
    return None


def pairs(sparse, full):
    """The blocks of a sparse answer with those of the dense one, by name."""
    if hasattr(sparse, "hessian"):
        for name, row in sparse.hessian.items():
            for other, block in row.items():
                yield f"{name}.{other}", block, full.hessian[name][other]
    else:
        for name, block in sparse.jacobian.items():
            yield name, block, full.jacobian[name]


def faults(program, question, given, compile="never", **asked):
    """What a sparse answer does otherwise than the dense one of the same mode, and the answer."""
    options = Options(compile=compile)
    sparse = getattr(program, f"sparse_{question}")(given, options=options, **asked)
    asked["mode"] = sparse.mode
    full = getattr(program, question)(given, options=options, **asked)
    found = {name: fault(block, expected) for name, block, expected in pairs(sparse, full)}
    said = {name: what for name, what in found.items() if what is not None}
    codes = [[w.code for w in each.warnings] for each in (sparse, full)]
    if codes[0] != codes[1]:
        said["warnings"] = codes
    if np.asarray(sparse.value).tobytes() != np.asarray(full.value).tobytes():
        said["value"] = sparse.value, full.value
    return said, sparse
