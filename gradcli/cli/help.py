"""`gradcli help`."""

from gradcli.cli.line.command import command
from gradcli.cli.line.options import MESSAGES, Line
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.shipped import TOPICS, page, show
from gradcli.cli.terminal.terminal import write_output
from gradcli.errors import nearest


@command("topic", *MESSAGES)
def help(line: Line) -> None:
    """Pages of the documentation, and the help of a command.

    Examples:
      gradcli help
      gradcli help grad
      gradcli help language
      gradcli help exit-status
    """
    topic, commands = line.topic, line.whole.names()
    if topic is None or topic in commands:
        line.whole.run([*filter(None, [topic]), "--help"])
        if topic is None:
            write_output(f"\nPages, shown by `gradcli help PAGE`:\n  {', '.join(TOPICS)}\n")
        return
    if topic not in TOPICS:
        hint = nearest(topic, [*TOPICS, *commands])
        raise usage(f"there is no page `{topic}`", hint or f"pages are {', '.join(TOPICS)}")
    show(page(topic), line.color)
