"""`gradcli jacobian` and `hessian`."""

from gradcli.cli.asking.inquiry import ask
from gradcli.cli.line.arguments import split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, RESULT, ROWS, Line
from gradcli.cli.line.output import choose
from gradcli.cli.terminal.failures import usage
from gradcli.formats.writers.forms import SPARSE, alternatives


@command(
    *PROGRAM,
    *ROWS,
    "wrt",
    "mode",
    "sparse",
    "several",
    *RESULT,
    *LIMITS,
    *MESSAGES,
    view="derivative",
)
def jacobian(line: Line) -> None:
    """Value and Jacobian of a program's result.

    Examples:
      gradcli jacobian 'stack([x * y, x + y])' x=2 y=3
      gradcli samples two_bodies -o .
      gradcli jacobian two_bodies.grad --wrt velocity --mode forward --json
      gradcli jacobian two_bodies.grad --wrt velocity -o jacobian.npy
      gradcli jacobian 'x[1:] - x[:-1]' 'x=[1, 2, 4, 8]' --sparse -o jacobian.npz
    """
    ask(line, _question(line, "jacobian"), bar="directions")


@command(
    *(*PROGRAM, *ROWS, "wrt", "cotangent", "diagonal", "mode", "sparse", "several"),
    *(*RESULT, *LIMITS, *MESSAGES),
    view="derivative",
)
def hessian(line: Line) -> None:
    """Value, gradient and second derivatives of a program's result.

    Examples:
      gradcli hessian 'x ** 2 * y' x=2 y=3
      gradcli samples rosenbrock -o .
      gradcli hessian rosenbrock.grad --diagonal -r
      gradcli hessian 'sum((x[1:] - x[:-1]) ** 2)' 'x=[1, 2, 4]' --sparse -f csv
    """
    ask(line, _question(line, "hessian"), bar="directions")


def _question(line: Line, name: str) -> str:
    """The question of a command, that about entries with --sparse.

    Raises:
        UsageError: If --sparse comes with an option that it does not go with.
    """
    if not line.sparse:
        return name
    if line.rows:
        raise usage("`--sparse` does not go with --rows", "ask for one point at a time")
    if line.diagonal:
        raise usage("`--sparse` and `--diagonal` exclude each other")
    if len(split_names(line.several, "--of") or ()) > 1:
        raise usage("`--sparse` takes one result", "name one with --of")
    target = choose(line)
    if target.form not in (*SPARSE, "auto"):
        help = f"it writes {alternatives(SPARSE)}; `-o FILE.npz` is for scipy.sparse"
        raise usage(f"`--sparse` does not go with {target.form} output", help)
    return f"sparse_{name}"
