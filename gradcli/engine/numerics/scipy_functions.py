"""SciPy's special functions, an extra that is loaded when a value is asked for."""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.piecewise import Kernel, pieces
from gradcli.engine.values.data import np
from gradcli.errors import run_error


def scipy_function(name: str, *first: Any) -> Kernel:
    """A kernel that is SciPy's function of that name, with its first arguments if it has more."""

    def kernel(x: Any, m: Any) -> Any:
        r = getattr(_special(name), name)(*first, x)
        return float(r) if m is ieee else r

    return kernel


def incomplete_gamma(x: Any, a: Any = 1.0, upper: bool = False) -> Any:
    """Regularized incomplete gamma function of the order a, on numbers or on arrays, in the
    precision of x.
    """
    name = "gammaincc" if upper else "gammainc"
    found = getattr(_special(name), name)(a, x)
    return found.astype(x.dtype) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else found


def unscaled(function: Kernel, scaled: Kernel) -> Kernel:
    """A Bessel function by the one scaled by e ** -|x| where SciPy's own is inf too early."""

    def far(x: Any, m: Any) -> Any:
        x = m.minimum(m.maximum(x, -1e3), 1e3)  # beyond, up to inf itself, it is inf
        half = m.exp(0.5 * abs(x))
        return scaled(x, m) * half * half

    return lambda x, m: pieces(x, m, (-700.0, 700.0), (far, function, far))


def _special(name: str) -> Any:
    try:
        from scipy import special  # type: ignore[import-untyped]
    except ImportError:
        raise run_error(
            "missing-extra",
            f"`{name}` is computed by SciPy, which is not installed",
            help="pip install 'gradcli[special]'",
        ) from None
    return special
