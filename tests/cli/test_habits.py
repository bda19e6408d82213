"""Commands, options and values that people type by habit: each is answered with what does it."""

import re
import shlex

import pytest

from gradcli.cli import habits
from gradcli.cli.app import build, commands

TYPED = {
    "version": "`gradcli --version` prints the version",
    "optimize f.grad": "did you mean `minimize`?",
    "solve f.grad": "did you mean `root`?",
    "uncertainty f.grad": "did you mean `propagate`?",
    "server f.grad": "did you mean `serve`?",
    "batch f.grad": "`gradcli run FILE --rows -` answers each line of its input",
    "shell": "did you mean `repl`?",
    "format f.grad": "did you mean `fmt`?",
    "language-server": "did you mean `lsp`?",
    "time f.grad": "`gradcli run FILE -v` tells what was compiled; a shell's `time` measures it",
    "diff f.grad": "did you mean `grad`?",
    "eval 'x'": "did you mean `run`?",
    "ls": "did you mean `samples`?",
    "init": "did you mean `samples`?",
    "log": "did you mean `trace`?",
    "show f.grad": "did you mean `graph`?",
    "jacrev f.grad": "did you mean `jacobian`?",
    "Grad f.grad": "did you mean `grad`?",
    "hesian f.grad": "did you mean `hessian`?",
    "f.grad": "`gradcli run f.grad` runs it, `gradcli grad f.grad` differentiates it",
    "'x ** 2'": "`gradcli run 'x ** 2'` runs it, `gradcli grad 'x ** 2'` differentiates it",
    # options before the command
    "--wrt x f.grad": "the command comes first: `gradcli grad --wrt x f.grad`",
    "--json run f.grad": "the command comes first: `gradcli run --json f.grad`",
    "-e 'x ** 2'": "the command comes first: `gradcli run -e 'x ** 2'`",
    "-o out.json grad f.grad": "the command comes first: `gradcli grad -o out.json f.grad`",
    "--tangent x=1 f.grad": "the command comes first: `gradcli jvp --tangent x=1 f.grad`",
    "--verbose": "the command comes first: `gradcli run --verbose`",
    "-v": "did you mean `-V`?",
    "-version": "did you mean `--version`?",
    "-help": "did you mean `--help`?",
    "'-?'": "did you mean `--help`?",
    "--usage": "did you mean `--help`?",
    # options of a command
    "run --of y f.grad": "did you mean `--show`?",
    "grad -x 3 f.grad": "an input is given as `x=3`",
    "grad f.grad -x=3": "an input is given as `x=3`",
    "grad f.grad --x 3": "an input is given as `x=3`",
    "grad f.grad --rate=3": "an input is given as `rate=3`",
    "grad f.grad --output-format json": "did you mean `--format`?",
    "grad f.grad --fmt=json": "did you mean `--format`?",
    "grad f.grad --out a.json": "did you mean `--output`?",
    "grad f.grad --save a.json": "did you mean `--output`?",
    "grad f.grad --csv": "did you mean `--format csv`?",
    "grad f.grad -json": "did you mean `--json`?",
    "grad f.grad -wrt x": "did you mean `--wrt`?",
    "grad f.grad --variables x": "did you mean `--wrt`?",
    "grad f.grad --with-respect-to x": "did you mean `--wrt`?",
    "grad f.grad -j 4": "did you mean `--jobs`?",
    "grad f.grad --threads 4": "did you mean `--jobs`?",
    "grad f.grad -p 3": "did you mean `--precision`?",
    "grad f.grad --no-color": "did you mean `--color never`?",
    "grad f.grad --timeout 3": "did you mean `--time-limit`?",
    "grad f.grad --silent": "did you mean `--quiet`?",
    "grad f.grad --debug": "did you mean `--verbose`?",
    "grad --expr 'x ** 2'": "did you mean `--expression`?",
    "grad -c 'x ** 2'": "did you mean `--expression`?",
    "grad f.grad --jit": "did you mean `--compile always`?",
    "grad f.grad --data a.csv": "did you mean `--rows`?",
    "hvp f.grad --vector x=1": "did you mean `--tangent`?",
    "vjp f.grad --grad-outputs 1": "did you mean `--cotangent`?",
    "jacobian f.grad --fwd": "did you mean `--mode forward`?",
    "plot f.grad --xlim 0 6": "did you mean `--over`?",
    "graph f.grad --svg": "did you mean `--format svg`?",
    # options of other commands
    "grad f.grad --mode forward": "`--mode` is an option of `jacobian`, `hessian`, `hvp` and others",
    "grad f.grad --forward": "`--mode` is an option of `jacobian`, `hessian`, `hvp` and others",
    "run f.grad --wrt x": "`--wrt` is an option of `grad`, `vjp`, `jacobian` and others",
    "grad f.grad --diagonal": "`--diagonal` is an option of `hessian`",
    "grad f.grad --over x=0:1": "`--over` is an option of `plot`",
    "check f.grad --jobs 2": "`--jobs` is an option of `run`, `grad`, `jvp` and others",
    # options of no command
    "grad f.grad --gpu": "programs run on the processor",
    "grad f.grad --device cuda": "programs run on the processor",
    "run f.grad --zzz": "an input is given as `zzz=VALUE`",
    "run --zzz f.grad": "try `gradcli run --help`",
    "ops --zzz": "try `gradcli ops --help`",
    # values
    "grad f.grad -f yaml": "did you mean `json`?",
    "grad f.grad -f text": "did you mean `plain`?",
    "grad f.grad -f jsn": "did you mean `json`?",
    "jacobian f.grad --mode fwd": "did you mean `forward`?",
    "grad f.grad --compile off": "did you mean `never`?",
    "grad f.grad --seed x": "write `--seed N`",
    "grad f.grad --wrt": "write `--wrt NAME,..`",
    "grad -e": "write `-e TEXT`",
    # codes
    "explain shape": "codes about it: `shape-mismatch`, `wrong-rule`",
    "explain Dtypes": "codes about it: `dtype-mismatch`",
    "explain nan": "codes about it: `pytorch-nan`, `non-finite`",
    "explain q": "`gradcli explain` lists them",
}


@pytest.mark.parametrize("typed", TYPED)
def test_a_habit_is_answered_with_what_does_it(cli, typed):
    status, out, err = cli(*shlex.split(typed))
    assert (status, out) == (2, "")
    assert err.splitlines()[1:] == [f"  = help: {TYPED[typed]}"]
    assert err.startswith("gradcli: error[usage]: ")


def test_what_is_suggested_exists():
    """Of every entry of the tables: the commands, their options and the values of these."""
    known = set(commands())
    options = {name for c in known for p in build(c).params for name in p.opts} | {"--help"}
    options |= {"--version"}
    assert set(habits.COMMANDS.values()) <= known
    assert not known & (habits.COMMANDS.keys() | habits.INSTEAD.keys())
    for meant in (*habits.OPTIONS.values(), *habits.SHOWN.values()):
        assert meant.split()[0] in options, meant
    assert not options & habits.OPTIONS_INSTEAD.keys()
    for text in (*habits.INSTEAD.values(), *habits.OPTIONS_INSTEAD.values()):
        for line in re.findall("`gradcli ([^`]*)`", text):
            words = shlex.split(line)
            assert words[0] in known | {"--version"}, line
            assert {w for w in words[1:] if w[0] == "-" and w != "-"} <= options, line
