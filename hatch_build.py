"""Build hook: puts the manual pages into the wheel, for `man gradcli` after `pip install`."""

import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ManualPages(BuildHookInterface):
    """Writes the manual pages from the help of the commands."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from gradcli.cli.manual import SECTION, pages

        folder = Path(mkdtemp())
        for name, text in pages().items():
            path = folder / name
            path.write_text(text, "utf-8")
            build_data["shared_data"][str(path)] = f"share/man/man{SECTION}/{name}"
