"""NumPy's files: `.npy` for one array, `.npz` for several by name."""

from __future__ import annotations

import io
from collections.abc import Mapping

from gradcli.results import Value


def npy(value: Value) -> bytes:
    """One array as the bytes of an `.npy` file."""
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, np.asarray(value), allow_pickle=False)
    return buffer.getvalue()


def npz(values: Mapping[str, Value]) -> bytes:
    """Arrays by name as the bytes of an `.npz` file."""
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{name: np.asarray(v) for name, v in values.items()})
    return buffer.getvalue()
