"""`gradcli jvp`, `vjp` and `hvp`: derivatives times a direction or weights."""

from gradcli.cli import options as o
from gradcli.cli.answer import answer
from gradcli.cli.emit import SUFFIXES
from gradcli.cli.inputs import constant, directions, load, split_names
from gradcli.cli.messages import Telling
from gradcli.cli.output import choose
from gradcli.cli.records import batch
from gradcli.cli.terminal import write_message


def jvp(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    rows: o.Rows = None,
    columns: o.Columns = None,
    on_error: o.OnError = o.OnErrorName.STOP,
    jobs: o.Jobs = 1,
    tangent: o.Tangent = None,
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
    """Derivative of a result along a direction (forward mode).

    Examples:
      gradcli jvp cooling.grad --tangent k=1
      gradcli jvp -e 'sin(x) * k' 'x=[1, 2]' k=3 --tangent 'x=[1, 0]' --tangent k=0.5
    """
    from gradcli.program import Options

    telling = Telling(quiet, diagnostics.value, color.value)
    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    records = batch(rows, columns, on_error.value, jobs)
    beside = [*(f"--tangent {text}" for text in tangent or ())]
    program, inputs = load(arguments, expression, values_file, records, beside)
    direction = directions(tangent)
    settings = Options(seed=seed, echo=write_message, check_nan=check_nan, graph=False)
    answer(
        lambda given: program.jvp(given, tangents=direction, of=of, options=settings),
        program,
        inputs,
        records,
        target,
        telling,
        precision=precision,
    )


def vjp(
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
    """Weights of a result carried back to the inputs (reverse mode).

    Examples:
      gradcli vjp model.grad --of residuals --cotangent @weights.npy --wrt theta
      gradcli vjp -e 'sin(x) * k' 'x=[1, 2]' k=3 --cotangent '[1, 10]'
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
        lambda given: program.vjp(given, wrt=names, cotangent=weights, of=of, options=settings),
        program,
        inputs,
        records,
        target,
        telling,
        precision=precision,
    )


def hvp(
    arguments: o.Arguments = None,
    expression: o.Expressions = None,
    values_file: o.ValuesFile = None,
    rows: o.Rows = None,
    columns: o.Columns = None,
    on_error: o.OnError = o.OnErrorName.STOP,
    jobs: o.Jobs = 1,
    tangent: o.Tangent = None,
    wrt: o.Wrt = None,
    cotangent: o.Cotangent = None,
    mode: o.Mode = o.ModeName.AUTO,
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
    """Product of a result's second derivatives with a direction.

    Examples:
      gradcli hvp loss.grad --tangent w=@direction.npy --mode reverse
      gradcli hvp -e 'sum(x ** 3)' 'x=[1, 2]' --tangent 'x=[1, 0]'
    """
    from gradcli.program import Options

    telling = Telling(quiet, diagnostics.value, color.value)
    target = choose(
        form.value, json=json, raw=raw, output=output, color=color.value, suffixes=SUFFIXES
    )
    names = split_names(wrt, "--wrt")
    records = batch(rows, columns, on_error.value, jobs)
    beside = [f"--cotangent {cotangent}", *(f"--tangent {text}" for text in tangent or ())]
    program, inputs = load(arguments, expression, values_file, records, beside)
    direction = directions(tangent)
    weights = constant(cotangent, "--cotangent")
    settings = Options(seed=seed, echo=write_message, check_nan=check_nan, graph=False)
    answer(
        lambda given: program.hvp(
            given,
            tangents=direction,
            wrt=names,
            cotangent=weights,
            mode=mode.value,
            of=of,
            options=settings,
        ),
        program,
        inputs,
        records,
        target,
        telling,
        precision=precision,
    )
