"""`gradcli grad`."""

from gradcli.cli import options as o
from gradcli.cli.answer import answer
from gradcli.cli.emit import SUFFIXES
from gradcli.cli.inputs import constant, load, split_names
from gradcli.cli.messages import Telling
from gradcli.cli.output import choose
from gradcli.cli.records import batch
from gradcli.cli.terminal import write_message


def grad(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    rows: o.Rows = None,
    columns: o.Columns = None,
    on_error: o.OnError = o.OnErrorName.STOP,
    jobs: o.Jobs = 1,
    wrt: o.Wrt = None,
    cotangent: o.Cotangent = None,
    of: o.Of = None,
    form: o.Format = o.FormatName.AUTO,
    json: o.Json = False,
    raw: o.Raw = False,
    output: o.Output = None,
    precision: o.Precision = 6,
    check_nan: o.CheckNan = False,
    seed: o.Seed = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    color: o.Color = o.ColorChoice.AUTO,
    diagnostics: o.Diagnostics = o.DiagnosticsForm.FULL,
) -> None:
    """Value and gradient of a program's result.

    Examples:
      gradcli grad cooling.grad
      gradcli grad cooling.grad --wrt k,T0 k=0.2
      gradcli grad cooling.grad --rows many.csv -f ndjson | jq .grad.k
      gradcli grad cooling.grad --cotangent '[1, 0]' --of y -o gradient.npz
      echo 'x ** 2 + 3 * x' | gradcli grad x=2 -r
    """
    from gradcli.program import Options

    telling = Telling(quiet, diagnostics.value, color.value)
    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    names = split_names(wrt, "--wrt")
    records = batch(rows, columns, on_error.value, jobs)
    beside = [f"--cotangent {cotangent}"]
    program, inputs = load(arguments, expression, values_file, records, beside)
    weights = constant(cotangent, "--cotangent")
    settings = Options(seed=seed, echo=write_message, check_nan=check_nan, graph=False)
    answer(
        lambda given: program.grad(given, wrt=names, cotangent=weights, of=of, options=settings),
        program,
        inputs,
        records,
        target,
        telling,
        precision=precision,
    )
