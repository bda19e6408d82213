"""Files by name: paths of this machine, and URLs that fsspec knows, such as `s3://`."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple, TypeVar

from gradcli.errors import Diagnostic, InputError
from gradcli.formats.texts.file import replacing

Found = TypeVar("Found")

MANIFEST = "_gradcli.json"
"""The file that tells what a folder of results has."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::?//")
_PIECE = 2**22  # bytes that are read from a store at once
_HELP = "`pip install 'gradcli[cluster]'` installs fsspec"


class Facts(NamedTuple):
    """The size of a file in bytes, and what tells that it was changed: a time or a tag."""

    size: int
    changed: str


def is_url(name: str) -> bool:
    """True for a URL, which fsspec opens."""
    return _SCHEME.match(name) is not None


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts names as people do: `part2` before `part10`."""
    return [(int(x), "") if x.isdecimal() else (-1, x) for x in re.split(r"(\d+)", name)]


def system(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there.

    Raises:
        InputError: If fsspec, or the library for this kind of URL, is not installed.
        OSError: If it cannot be reached.
    """
    try:
        import fsspec
    except ImportError:
        message = f"`{url}` is read by fsspec, which is not installed"
        raise InputError(Diagnostic("missing-extra", message, help=_HELP)) from None
    try:
        found: tuple[Any, str] = _tried(lambda: fsspec.core.url_to_fs(url))
    except ImportError as error:
        scheme = url.partition(":")[0]
        message = f"`{scheme}://` needs a library that is not installed: {error}"
        raise InputError(Diagnostic("missing-extra", message)) from None
    return found


def open_url(url: str) -> Any:
    """A URL's file, open for reading. Errors as of `system`."""
    files, path = system(url)
    return _tried(lambda: files.open(path, "rb", block_size=_PIECE))


def open_url_buffered(url: str) -> IO[bytes]:
    """The same with the methods of a buffered file. Errors as of `system`."""
    return io.BufferedReader(open_url(url), _PIECE)


def facts(name: str) -> Facts:
    """Size and time of a file. Errors as of `system`."""
    if not is_url(name):
        found = os.stat(name)
        return Facts(found.st_size, str(found.st_mtime_ns))
    files, path = system(name)
    info = _tried(lambda: files.info(path))
    keys = ("ETag", "etag", "LastModified", "last_modified", "updated", "mtime", "created")
    return Facts(info.get("size") or 0, str(next((info[k] for k in keys if info.get(k)), "")))


def matching(pattern: str) -> list[str]:
    """The files that a pattern such as `*.csv` matches, in natural order; itself if it is a name.
    Errors as of `system`.
    """
    if is_url(pattern):
        if pattern.startswith("http") or not any(sign in pattern for sign in "*["):
            return [pattern]
        files, path = system(pattern)
        found = _tried(lambda: files.glob(path))
        return sorted(map(files.unstrip_protocol, found), key=natural) or [pattern]
    if not any(sign in pattern for sign in "*?[") or os.path.exists(pattern):
        return [pattern]
    import glob

    return sorted(glob.glob(pattern, recursive=True), key=natural) or [pattern]


def is_folder(name: str) -> bool:
    """True for a folder of this machine, and for any name that ends as that of a folder."""
    return name.endswith(("/", os.sep)) or (not is_url(name) and os.path.isdir(name))


def inside(folder: str) -> list[str]:
    """The files in a folder and its folders, in natural order; not hidden ones, those whose names
    begin with `_`, and folders in it that have results of gradcli. Errors as of `system`.
    """
    if is_url(folder):
        files, path = system(folder)
        found = _tried(lambda: [*map(files.unstrip_protocol, files.find(path))])
        folder = files.unstrip_protocol(path)
    else:
        found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    start = len(folder.rstrip("/"))
    below = {name: name[start:].replace(os.sep, "/").split("/")[1:] for name in found}
    results = [parts[:-1] for parts in below.values() if parts[-1] == MANIFEST and parts[1:]]
    seen = [
        name
        for name, parts in below.items()
        if not any(part[:1] in "._" for part in parts)
        and not any(parts[: len(several)] == several for several in results)
    ]
    return sorted(seen, key=natural)


def read_whole(name: str) -> bytes | None:
    """The bytes of a small file; None if there is none. Errors as of `system`."""
    try:
        if not is_url(name):
            with open(name, "rb") as file:
                return file.read()
        files, path = system(name)
        data: bytes = _tried(lambda: files.cat_file(path))
    except FileNotFoundError:
        return None
    return data


@contextmanager
def putting(name: str) -> Iterator[IO[bytes]]:
    """A temporary file that replaces one of a name once it is complete: beside it, or at a URL by
    one upload. After an error nothing is changed. Errors as of `system`.
    """
    if not is_url(name):
        with replacing(name) as file:
            yield file
        return
    from tempfile import NamedTemporaryFile

    files, path = system(name)
    with NamedTemporaryFile() as file:
        yield file.file
        file.flush()
        _tried(lambda: files.put_file(file.name, path))


def make_folder(name: str) -> None:
    """Make a folder, if files there need one. Errors as of `system`."""
    if not is_url(name):
        os.makedirs(name or ".", exist_ok=True)
        return
    files, path = system(name)
    if {"file", "memory"} & {files.protocol, *files.protocol}:
        _tried(lambda: files.makedirs(path, exist_ok=True))


def remove(name: str) -> None:
    """Remove a file, if it is there. Errors as of `system`."""
    with suppress(FileNotFoundError):
        if not is_url(name):
            os.unlink(name)
            return
        files, path = system(name)
        _tried(lambda: files.rm_file(path))


def joined(folder: str, names: Sequence[str]) -> str:
    """The name of a file in a folder."""
    if is_url(folder):
        return "/".join([folder.rstrip("/"), *names])
    return os.path.join(folder, *names)


def _tried(work: Callable[[], Found]) -> Found:
    """The result of a work with a store, each of whose errors becomes an OSError."""
    try:
        return work()
    except FileNotFoundError as error:
        raise FileNotFoundError(2, "no such file") from error
    except (OSError, ImportError):
        raise
    except Exception as error:  # each store's library has its own
        raise OSError(f"{error}" or type(error).__name__) from error
