"""The text of arrays as NumPy and JAX print them, for programs that import one of these and not
PyTorch.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import NUMBERS, Data, dtype_of
from gradcli.engine.values.limits import QUESTION

if TYPE_CHECKING:
    from collections.abc import Iterator


class ArrayPrinting:
    """Print options of arrays, by the names of `np.set_printoptions`.

    Fields:
        library: Whose arrays the program's are: "numpy", "jax", or "torch" if they are tensors.
        suppress: True if small numbers are printed without exponents.
    """

    __slots__ = ("edgeitems", "library", "linewidth", "precision", "suppress", "threshold")

    def __init__(
        self,
        library: str,
        precision: int = 8,
        threshold: float = 1000,
        edgeitems: int = 3,
        linewidth: int = 75,
        suppress: bool = False,
    ) -> None:
        self.library = library
        self.precision = precision
        self.threshold = threshold
        self.edgeitems = edgeitems
        self.linewidth = linewidth
        self.suppress = suppress

    def of(self, library: str) -> ArrayPrinting:
        """These options for the arrays of a library."""
        found = ArrayPrinting(library)
        for name in ("precision", "threshold", "edgeitems", "linewidth", "suppress"):
            setattr(found, name, getattr(self, name))
        return found


USUAL = {library: ArrayPrinting(library) for library in ("torch", "numpy", "jax")}


def array_printing() -> ArrayPrinting:
    """The current run's settings for printing arrays."""
    return QUESTION.array_printing or USUAL["torch"]


@contextmanager
def printed_as(library: str) -> Iterator[None]:
    """A block in which texts are made as in a program with the arrays of a library, by the options
    of the run.
    """
    outer = QUESTION.array_printing
    QUESTION.array_printing = array_printing().of(library)
    try:
        yield
    finally:
        QUESTION.array_printing = outer


def array_text(data: Data) -> str:
    """An array as `print` shows it, such as `[1.  2.5]`; a single number as Python's."""
    if type(data) in NUMBERS or data.shape == ():
        return str(data)
    with _numpy_printing():
        return str(data)


def array_repr(data: Data) -> str:
    """An array inside a list: `array([1. , 2.5])`, `Array([1. , 2.5], dtype=float64)`."""
    dtype = dtype_of(data)
    is_number = type(data) in NUMBERS or data.shape == ()
    if array_printing().library == "jax":
        return f"Array({_jax_body(data)}, dtype={dtype})"
    if is_number:
        return f"np.{data}_" if dtype == "bool" else f"np.{dtype}({data})"
    with _numpy_printing():
        return repr(data)


def _jax_body(data: Any) -> str:
    from gradcli.engine.values.data import np

    data = np.asarray(data)
    with _numpy_printing():
        body: str = np.array2string(data, separator=", ", prefix="Array(", suffix=")")
    return body if data.size else f"[], shape={data.shape}"


def _numpy_printing() -> Any:
    """A block in which NumPy prints by the options of the run."""
    from gradcli.engine.values.data import np

    options = array_printing()
    return np.printoptions(
        precision=options.precision,
        threshold=sys.maxsize if options.threshold == inf else int(options.threshold),
        edgeitems=options.edgeitems,
        linewidth=options.linewidth,
        suppress=options.suppress,
    )
