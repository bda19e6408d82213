"""How arguments and options write names and values."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.cli.failures import usage


def split(arguments: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """FILE, if there is one, and the texts of the inputs by name; the last of a name counts."""
    file = None
    texts = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if equals and name.isidentifier():
            texts[name] = text
        elif file is None:
            file = argument
        else:
            raise usage(
                f"two programs, `{file}` and `{argument}`", "an input is written NAME=VALUE"
            )
    return file, texts


def split_names(options: Sequence[str] | None, flag: str) -> list[str] | None:
    """The names of a repeatable option that takes `NAME,..`, each once; None without one."""
    if not options:
        return None
    names = [name.strip() for option in options for name in option.split(",")]
    if not all(names):
        raise usage(f"an empty name in {flag}", f"names are written {flag} a,b")
    return list(dict.fromkeys(names))
