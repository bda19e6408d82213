"""NumPy's files: `.npy` for one array, `.npz` for several by name."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from gradcli.errors import Diagnostic, UsageError
from gradcli.formats.texts.refusal import first_names, refused
from gradcli.results import Value

if TYPE_CHECKING:
    from zipfile import ZipFile

    import numpy as np

Found = TypeVar("Found")

MAGIC = b"\x93NUMPY"
_LARGEST = 2**31  # bytes of an array in an `.npz`
_HEADER = 2**16  # bytes: the longest header that NumPy reads


def npy(value: Value) -> bytes:
    """One array as the bytes of an `.npy` file."""
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, _array("the result", value), allow_pickle=False)
    return buffer.getvalue()


def one_array(values: Mapping[str, Value], path: str) -> Value:
    """The only value among several by name.

    Raises:
        UsageError: If there is more than one, or none.
    """
    if len(values) != 1:
        names = ", ".join(values) or "nothing"
        message = f"`{path}` holds one array, and the result has {names}"
        help = f"`{path.removesuffix('.npy')}.npz` holds several"
        raise UsageError(Diagnostic("usage", message, help=help))
    return next(iter(values.values()))


def npz(values: Mapping[str, Value]) -> bytes:
    """Arrays by name as the bytes of an `.npz` file."""
    import numpy as np

    buffer = io.BytesIO()
    arrays = {name: _array(f"`{name}`", value) for name, value in values.items()}
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _array(name: str, value: Value) -> np.ndarray[Any, Any]:
    """A value as an array.

    Raises:
        UsageError: If it cannot be one.
    """
    import numpy as np

    try:
        found = np.asarray(value)
    except ValueError:  # lists of different lengths
        found = None
    if found is None or found.dtype.hasobject:
        message = f"{name} is not an array: an array holds numbers, in rows of one length"
        help = "JSON holds values of any kind: `-o FILE.json`"
        raise UsageError(Diagnostic("usage", message, help=help))
    return found


def read_npy(name: str, data: bytes) -> np.ndarray[Any, Any]:
    """The array in an `.npy` file; the header must match the length of the data.

    Raises:
        InputError: If the file is broken, or holds anything but numbers.
    """
    import numpy as np

    shape, fortran, dtype, start = _header(name, data, len(data))
    flat = np.frombuffer(data, dtype, offset=start)
    try:
        return flat.reshape(shape, order="F" if fortran else "C").copy()
    except ValueError:  # no elements, but more or larger dimensions than NumPy allows
        raise refused(f"`{name}` is not a valid .npy file: its shape is broken") from None


def _header(name: str, data: bytes, size: int) -> tuple[tuple[int, ...], bool, Any, int]:
    """Shape, order, dtype and data offset of the array in an `.npy` file.

    Args:
        name: The file's name in messages.
        data: The header, and possibly more.
        size: The file's length, header included.

    Raises:
        InputError: If the header is broken or implies another length.
    """
    from tokenize import TokenError

    import numpy as np

    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if reader is None:
            raise refused(f"`{name}` is an .npy of version {version[0]}.{version[1]}, not 1 or 2")
        shape, fortran, dtype = reader(file)
    except (ValueError, TypeError, SyntaxError, EOFError, TokenError, RecursionError):
        raise refused(f"`{name}` is not a valid .npy file: its header is broken") from None
    if dtype.hasobject:
        raise refused(f"`{name}` holds pickled objects, which are not read")
    if dtype.kind not in "fiub":
        what = {"U": "texts", "S": "texts", "c": "complex numbers", "V": "records"}
        raise refused(f"`{name}` holds {what.get(dtype.kind, 'dates')}, not numbers")
    if any(type(n) is not int or n < 0 for n in shape):
        raise refused(f"`{name}` is not a valid .npy file: its shape is broken")
    start = file.tell()
    wanted = math.prod(shape) * dtype.itemsize
    if wanted != size - start:
        raise refused(
            f"`{name}` is cut short or broken: its header announces {wanted} bytes, "
            f"and {size - start} follow"
        )
    return shape, fortran, dtype, start


def read_npz(name: str, data: bytes, key: str | None) -> np.ndarray[Any, Any]:
    """The array of an `.npz` with a key, or its only array.

    Raises:
        InputError: If there is none, or the file is broken.
    """
    return _opened(name, data, lambda archive: _member(name, archive, key))


def npz_names(name: str, data: bytes) -> tuple[str, ...]:
    """The keys of an `.npz`.

    Raises:
        InputError: If it is broken.
    """
    return _opened(name, data, lambda archive: tuple(_keys(name, archive)))


def _opened(name: str, data: bytes, look: Callable[[ZipFile], Found]) -> Found:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return look(archive)
    except NotImplementedError:
        raise refused(f"`{name}` is compressed in a way that is not read") from None
    except RuntimeError:  # raised by the zip module for lack of a password
        raise refused(f"`{name}` is encrypted, which is not read") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, OSError, ValueError):
        raise refused(f"`{name}` is not a valid .npz file") from None


def _keys(name: str, archive: ZipFile) -> list[str]:
    names = [n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")]
    if not names:
        raise refused(f"`{name}` holds no array")
    return list(dict.fromkeys(names))


def _member(name: str, archive: ZipFile, key: str | None) -> np.ndarray[Any, Any]:
    names = _keys(name, archive)
    if key is None and len(names) == 1:
        key = names[0]
    if key not in names:
        what = "needs a key" if key is None else f"has no array `{key}`"
        raise refused(f"`{name}` {what}", help=f"write @{name}:KEY, of {first_names(names)}")
    info = archive.getinfo(f"{key}.npy")
    if info.file_size > _LARGEST:
        raise refused(f"`{key}` in `{name}` is {info.file_size} bytes long")
    full = f"{name}:{key}"
    with archive.open(info) as member:
        _header(full, member.read(_HEADER), info.file_size)
    return read_npy(full, archive.read(info))
