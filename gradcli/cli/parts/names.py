"""The names of the files that parts are written into."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from gradcli.formats.files.compressed import bare_name
from gradcli.formats.readers.parts import Part
from gradcli.formats.writers.forms import FORMS

_TYPED = ("parquet", "arrow", "npy", "npz")  # forms with a compression of their own


def outputs_of(parts: Sequence[Part], form: str) -> list[str]:
    """The name of each part's file: that of its own file with the form's suffix, in the same
    folders, with the number of a part of a file.
    """
    names = [part.name.replace(os.sep, "/") for part in parts]
    folders = [name.split("/")[:-1] for name in names]
    first, last = min(folders), max(folders)
    same = (a == b for a, b in zip(first, last, strict=False))
    over = len([*takewhile(bool, same)])
    own = ["/".join(name.split("/")[over:]) for name in names]
    of_form = FORMS[form].suffix or ".txt"
    found = [_output(name, part, form, of_form) for name, part in zip(own, parts, strict=True)]
    several = {name for name, count in Counter(found).items() if count > 1}
    return [
        f"{name}{made[len(_stem(name)) :]}" if made in several else made
        for name, made in zip(own, found, strict=True)
    ]


def _stem(name: str) -> str:
    return os.path.splitext(bare_name(name))[0]


def _output(name: str, part: Part, form: str, suffix: str) -> str:
    bare = bare_name(name)
    packed = "" if form in _TYPED else name[len(bare) :]
    number = "" if part.number is None else f".{part.number:04d}"
    return f"{_stem(name)}{number}{suffix}{packed}"
