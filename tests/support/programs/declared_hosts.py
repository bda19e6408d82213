"""What the built-ins that work on the program's own values declare, as text: a line for each.

The analysis of a program, what a run records and what code may do once go by these declarations; many
of them change no result if they are wrong, but the time or the memory of a run.

`python tests declared_hosts` writes the golden file anew.
"""

from support.processes.house import ROOT

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.fast.call import by_name
from gradcli.engine.run.session.state import Session
from gradcli.engine.static.hosts import Ahead, hosted
from gradcli.engine.static.value import UNSURE, Value, unknown
from gradcli.engine.values.data import Quiet
from gradcli.errors import GradError

GOLDEN = ROOT / "tests" / "golden" / "declared_hosts.txt"
FLAGS = ("gathers", "any_name", "keeps", "pure", "sees")


def declarations():
    """The line of each built-in, in the order of their names: its call, what it declares, what the
    analysis of a program infers for unknown arguments, and how a call with texts ends.
    """
    named = {op.name: op for op in map(ops.__getitem__, ops) if op.host.call is not None}
    return [_declaration(named[name]) for name in sorted(named)]


def _declaration(op):
    host = op.host
    words = [flag for flag in FLAGS if getattr(host, flag)]
    words += ["method"] * op.method + ["in code"] * (host.traced is not None)
    words += [f"of {host.part}"] * (host.part is not None)
    words += [f"differentiates {host.transform}"] * (host.transform is not None)
    words += [f"by {' '.join(host.by)}"] * bool(host.by)
    required = 1 if op.variadic else len(op.args) - op.optional
    inferred = _or_refusal(lambda: _shown(hosted(op, [unknown()] * required, {}, Ahead())))
    return f"{op.usage}: {', '.join(words)}; {inferred}; {_of_texts(op, required)}"


def _of_texts(op, count):
    def call():
        with Quiet():
            by_name(op, None)(Session(), *["a"] * count)
        return "texts are taken"

    return _or_refusal(call)


def _or_refusal(call):
    try:
        return call()
    except GradError as e:
        return e.diagnostics[0].code


def _shown(value):
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    if not isinstance(value, Value):
        return type(value).__name__
    if value.known is not UNSURE:
        return repr(value.known)
    return " ".join(map(str, filter(None, (value.kind, value.dtype, value.shape)))) or "unknown"


def main():
    """Write the golden file anew."""
    GOLDEN.write_text("".join(f"{line}\n" for line in declarations()), "utf-8")


if __name__ == "__main__":
    main()
