"""Commands of the tests' own tools: `python tests NAME ...` runs `tests/support/*/NAME.py`."""

import runpy
import sys
from pathlib import Path

SUPPORT = Path(__file__).parent / "support"


def main() -> None:
    """Run the tool that the first argument names with the other arguments."""
    tools = {path.stem: path for path in SUPPORT.glob("*/*.py")}
    if len(sys.argv) < 2 or sys.argv[1] not in tools:
        commands = [name for name, path in tools.items() if "__main__" in path.read_text("utf-8")]
        sys.exit(f"usage: python tests NAME ...\nNAME is one of {', '.join(sorted(commands))}")
    path = tools[sys.argv[1]]
    del sys.argv[0]
    runpy.run_module(f"support.{path.parent.name}.{path.stem}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
