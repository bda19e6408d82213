"""Words of other languages and notations, with their equivalents here."""

from __future__ import annotations

import builtins
import sys

_CONSTANTS = {
    **dict.fromkeys(("true", "TRUE"), "True"),
    **dict.fromkeys(("false", "FALSE"), "False"),
    **dict.fromkeys(("null", "NULL", "nil", "none", "undefined"), "None"),
    **dict.fromkeys(("Infinity", "infinity", "INFINITY"), "inf"),
    **dict.fromkeys(("NaN", "NAN"), "nan"),
    **dict.fromkeys(("π", "Pi", "PI"), "pi"),
}
_MODULES = frozenset(
    {
        *("np", "numpy", "jnp", "jax", "anp", "tf", "nn", "optim", "plt", "scipy", "sp", "pd"),
        *("os", "sys", "time", "random", "itertools", "functools", "collections"),
    }
)
_FUNCTIONS = {
    "ln": "log",
    "lg": "log10",
    "arctg": "atan",
    "fabs": "abs",
    "power": "pow",
    "sgn": "sign",
    "sqr": "square",
    "tg": "tan",
}


def constant(name: str) -> str | None:
    """The constant that a name means in other languages; such a name is never an input."""
    return _CONSTANTS.get(name)


def function(name: str) -> str | None:
    """The built-in that a function's name in other languages means."""
    return _FUNCTIONS.get(name)


def module(name: str) -> bool:
    """True if a name that only occurs before a `.` is that of a well-known module."""
    return name in _MODULES


_NO_FILES = "a program opens no files: "
_READING = f"{_NO_FILES}`-i FILE` gives it values by name, `--rows FILE` runs it once a record"
_WRITING = f"{_NO_FILES}`-o w.npz` writes its results"
_COMPLEX = "there are no complex numbers"
_LONG = "floats have at most 64 bits here: write `np.float64`"
_MATRIX = "`np.array` makes arrays: `a @ b` is their product, `a.T`, `np.linalg.inv(a)`"
_STRUCTURED = "an array holds numbers: a dictionary or a list of arrays holds several fields"
_WAYS_OUT = {
    **dict.fromkeys(("numpy.matrix", "numpy.mat", "numpy.asmatrix", "numpy.bmat"), _MATRIX),
    **dict.fromkeys(("numpy.recarray", "numpy.rec", "numpy.record", "numpy.void"), _STRUCTURED),
    **dict.fromkeys(("torch.load", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt"), _READING),
    **dict.fromkeys(("numpy.fromfile", "numpy.memmap", "pickle.load", "json.load"), _READING),
    **dict.fromkeys(("torch.save", "numpy.save", "numpy.savez", "numpy.savetxt"), _WRITING),
    **dict.fromkeys(("pickle.dump", "json.dump", "numpy.savez_compressed"), _WRITING),
    **dict.fromkeys(("numpy.longdouble", "autograd.numpy.longdouble"), _LONG),
    "open": f"{_READING}, `-o FILE` writes its results",
}
_OF_COMPLEX = frozenset(
    {
        *("complex", "complex32", "complex64", "complex128", "cfloat", "cdouble", "chalf"),
        *("view_as_complex", "view_as_real", "polar", "conj", "real", "imag", "angle"),
        *("iscomplexobj", "iscomplex", "fft", "ifft", "rfft", "irfft", "fft2", "ifft2"),
        *("fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn", "hfft", "ihfft", "csingle"),
        *("clongdouble", "eig", "eigvals", "roots"),
    }
)


def way_out(path: str) -> str | None:
    """What to do instead of a member of a library that opens files or makes complex numbers; `path`
    is its full name.
    """
    root, _, name = path.rpartition(".")
    if root == "pandas" and name.startswith("read_"):
        return _READING
    found = _WAYS_OUT.get(path)
    return _COMPLEX if found is None and name in _OF_COMPLEX else found


def is_of_python(module: str) -> bool:
    """True for a module of Python's standard library."""
    return module in sys.stdlib_module_names


def of_python(name: str) -> bool:
    """True if Python has a built-in of that name."""
    return hasattr(builtins, name)
