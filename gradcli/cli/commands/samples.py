"""`gradcli samples`."""

import re
from itertools import takewhile
from pathlib import Path

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.shipped import PACKAGES, library
from gradcli.cli.terminal.shipped import samples as shipped
from gradcli.cli.terminal.terminal import write_output
from gradcli.errors import nearest


@command("sample", "folder", *MESSAGES)
def samples(line: Line) -> None:
    """List, show or copy the sample programs.

    Examples:
      gradcli samples
      gradcli samples cooling
      gradcli samples cooling -o .
      gradcli samples -o samples
    """
    known = shipped()
    name = line.sample
    if name is not None and name.partition("/")[0] in PACKAGES:
        _show_library(name)
        return
    if name is not None:
        name = name.removesuffix(".grad")
        if name not in known:
            raise usage(
                f"there is no sample `{line.sample}`",
                nearest(name, known) or "`gradcli samples` lists them",
            )
    own = (name, f"{name}.csv")  # a program and its data
    chosen = known if name is None else {n: known[n] for n in own if n in known}
    if line.folder is not None:
        _copy(list(chosen.values()), Path(line.folder))
    elif name is not None:
        write_output(known[name].read_text("utf-8"))
    else:
        write_output(_listed(known))


def _show_library(name: str) -> None:
    """Show a module of the library, or list those of a package with their first lines."""
    known = library()
    name = name.removesuffix("/").removesuffix(".grad")
    inside = {key: path for key, path in known.items() if key.startswith(f"{name}/")}
    if name in known:
        write_output(known[name].read_text("utf-8"))
    elif inside:
        write_output("".join(f"{key}\n" for key in inside))
    else:
        near = nearest(name, known)
        raise usage(
            f"the library has no `{name}`",
            near or f"`gradcli samples {name.partition('/')[0]}` lists it",
        )


def _listed(known: dict[str, Path]) -> str:
    """A line for each sample, with its first sentence."""
    room = max(map(len, known))
    return "".join(f"{name:{room}}  {_about(path)}\n" for name, path in known.items())


def _about(path: Path) -> str:
    """The first sentence of a program's comment; for data the names of the columns."""
    lines = path.read_text("utf-8").splitlines()
    if path.suffix != ".grad":
        return f"data: {lines[0]}"
    comment = takewhile(lambda line: line.startswith("#"), lines)
    text = " ".join(line.removeprefix("#").strip() for line in comment)
    return re.split(r"(?<=\w)[.:] ", f"{text} ")[0]


def _copy(files: list[Path], folder: Path) -> None:
    """Write samples into a folder, which is made if needed; existing files stay.

    Raises:
        UsageError: If a file exists already or cannot be written.
    """
    there = [file.name for file in files if (folder / file.name).exists()]
    if there:
        raise usage(f"`{folder / there[0]}` is there already", "name another folder with -o")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            (folder / file.name).write_bytes(file.read_bytes())
    except OSError as error:
        raise unwritable(f"`{folder}`", error.strerror or str(error)) from None
    write_output("".join(f"{folder / file.name}\n" for file in files))
