"""Commands, options and values by the names that other tools have for them."""

from __future__ import annotations

COMMANDS = {
    **dict.fromkeys(("eval", "evaluate", "exec", "execute", "calc", "compute", "value"), "run"),
    **dict.fromkeys(("start", "forward", "print", "python"), "run"),
    **dict.fromkeys(("notebook", "jupyter", "nbconvert", "nbmake", "papermill"), "run"),
    **dict.fromkeys(("d", "derivative", "derive", "diff", "differentiate", "gradient"), "grad"),
    **dict.fromkeys(("backward", "backprop", "autograd", "slope", "partial"), "grad"),
    **dict.fromkeys(("gradients", "partials", "autodiff", "value_and_grad", "ad"), "grad"),
    **dict.fromkeys(("jac", "jacobi", "jacrev", "jacfwd"), "jacobian"),
    **dict.fromkeys(("hess", "curvature"), "hessian"),
    **dict.fromkeys(("vhp", "hessian-vector"), "hvp"),
    **dict.fromkeys(("tangent", "pushforward", "directional"), "jvp"),
    **dict.fromkeys(("cotangent", "pullback"), "vjp"),
    **dict.fromkeys(("lint", "validate", "parse", "typecheck", "ast", "compile"), "check"),
    **dict.fromkeys(("verify", "test", "finite-differences", "numgrad"), "gradcheck"),
    **dict.fromkeys(("optimize", "optimise", "minimise", "maximize", "fmin"), "minimize"),
    **dict.fromkeys(("solve", "newton", "zero", "fsolve", "roots"), "root"),
    **dict.fromkeys(("uncertainty", "uncertainties", "propagation", "gum", "budget"), "propagate"),
    **dict.fromkeys(("show", "draw", "tree", "dot", "viz", "visualize"), "graph"),
    **dict.fromkeys(("tape", "log", "steps", "debug"), "trace"),
    **dict.fromkeys(("chart", "figure", "curve"), "plot"),
    **dict.fromkeys(("functions", "operations", "builtins", "list", "op"), "ops"),
    **dict.fromkeys(("example", "examples", "sample", "ls", "init", "new", "demo"), "samples"),
    **dict.fromkeys(("man", "doc", "docs", "manual", "usage", "info"), "help"),
    **dict.fromkeys(("error", "errors", "codes", "why"), "explain"),
    **dict.fromkeys(("train", "learn", "regress", "regression", "nls"), "fit"),
    **dict.fromkeys(("server", "daemon", "listen", "service", "rpc"), "serve"),
    **dict.fromkeys(("completions", "autocomplete"), "completion"),
    **dict.fromkeys(("shell", "console", "interactive", "prompt", "ipython"), "repl"),
    **dict.fromkeys(("format", "formatter", "black", "ruff", "tidy"), "fmt"),
    **dict.fromkeys(("language-server", "editor", "vscode", "neovim"), "lsp"),
}
"""Commands that are meant by a name."""

INSTEAD = {
    "version": "`gradcli --version` prints the version",
    **dict.fromkeys(("batch", "map"), "`gradcli run FILE --rows -` answers each line of its input"),
    **dict.fromkeys(
        ("bench", "benchmark", "time", "profile"),
        "`gradcli run FILE -v` tells what was compiled; a shell's `time` measures it",
    ),
    **dict.fromkeys(("install", "update", "upgrade"), "`pip install --upgrade gradcli` does it"),
}
"""What does the work of commands that do not exist."""

OPTIONS = {
    **dict.fromkeys(("--nbval", "--doctest", "--compare", "--verify-outputs"), "--expect"),
    **dict.fromkeys(("--reload", "--follow", "--live"), "--watch"),
    **dict.fromkeys(("--output-format", "--out-format", "--fmt", "--type", "--as"), "--format"),
    **dict.fromkeys(("--out", "--outfile", "--output-file", "--save", "--write"), "--output"),
    **dict.fromkeys(("--respect", "--with-respect-to", "--by", "--param", "--params"), "--wrt"),
    **dict.fromkeys(("--var", "--vars", "--variable", "--variables", "--d"), "--wrt"),
    **dict.fromkeys(("--result", "--results", "--target", "--loss", "--of"), "--of"),
    **dict.fromkeys(("--debug", "--traceback", "--trace"), "--verbose"),
    **dict.fromkeys(("--silent", "--no-warnings", "-s"), "--quiet"),
    **dict.fromkeys(("--no-color", "--no-colour", "--colour", "--nocolor"), "--color never"),
    **dict.fromkeys(("--pretty", "--table"), "--format human"),
    **{f"--{form}": f"--format {form}" for form in ("csv", "tsv", "md", "ndjson", "plain")},
    **{f"--{form}": f"--format {form}" for form in ("dot", "svg", "html", "mermaid")},
    **dict.fromkeys(("--jsonl", "--jsonlines"), "--format ndjson"),
    **dict.fromkeys(("--digits", "--decimals", "--prec", "-p"), "--precision"),
    **dict.fromkeys(("--threads", "--workers", "--parallel", "--cores", "-j"), "--jobs"),
    **dict.fromkeys(("--processes", "--procs"), "--jobs"),
    **dict.fromkeys(("--timeout", "--max-time"), "--time-limit"),
    **dict.fromkeys(("--memory", "--mem", "--memory-limit"), "--max-memory"),
    **dict.fromkeys(("--steps", "--iterations", "--max-iter", "--max-iterations"), "--max-steps"),
    **dict.fromkeys(("--recursion", "--recursion-limit"), "--max-depth"),
    **dict.fromkeys(("--sandbox", "--untrusted"), "--safe"),
    **dict.fromkeys(("--data", "--records", "--batch", "--lines"), "--rows"),
    **dict.fromkeys(("--delimiter", "--sep", "-d"), "--separator"),
    **dict.fromkeys(("--charset", "--codepage", "--codec"), "--encoding"),
    **dict.fromkeys(("--expr", "--eval", "-c", "--code", "--command", "--text"), "--expression"),
    **dict.fromkeys(("--values", "--inputs", "--given", "--from-json"), "--input"),
    **dict.fromkeys(("--vector", "--direction", "--along", "--tangents"), "--tangent"),
    **dict.fromkeys(
        ("--grad-output", "--grad-outputs", "--weights", "--seed-vector"), "--cotangent"
    ),
    **dict.fromkeys(("--forward", "--fwd", "--forward-mode"), "--mode forward"),
    **dict.fromkeys(("--reverse", "--rev", "--backward", "--reverse-mode"), "--mode reverse"),
    **dict.fromkeys(("--jit", "--compiled"), "--compile always"),
    **dict.fromkeys(("--no-compile", "--no-jit", "--interpret"), "--compile never"),
    **dict.fromkeys(("--range", "--from", "--xlim", "--sweep"), "--over"),
    **dict.fromkeys(("--nan", "--nan-check", "--detect-anomaly"), "--check-nan"),
    **dict.fromkeys(("--random-seed", "--manual-seed"), "--seed"),
    **dict.fromkeys(("-?", "-help", "--usage", "--man", "--info"), "--help"),
    "-version": "--version",
}
"""Options that are meant by a name, with the value that it stands for."""

OPTIONS_INSTEAD = {
    **dict.fromkeys(("--gpu", "--cuda", "--device"), "programs run on the processor"),
}
"""What to say of options that do not exist."""

SHOWN = {"--of": "--show"}
"""Options by which a command without the first does nearly the same."""

VALUES = {
    **dict.fromkeys(("text", "txt", "tab"), "plain"),
    **dict.fromkeys(("yaml", "toml", "js"), "json"),
    **dict.fromkeys(("table", "pretty", "rich", "terminal"), "human"),
    **dict.fromkeys(("jsonl", "jsonlines", "lines"), "ndjson"),
    **dict.fromkeys(("markdown", "github"), "md"),
    **dict.fromkeys(("graphviz", "gv"), "dot"),
    **dict.fromkeys(("fwd", "jvp", "jacfwd"), "forward"),
    **dict.fromkeys(("rev", "backward", "vjp", "jacrev"), "reverse"),
    **dict.fromkeys(("on", "yes", "true", "force"), "always"),
    **dict.fromkeys(("off", "no", "none", "false"), "never"),
    **dict.fromkeys(("short", "brief", "gcc"), "concise"),
}
"""Values of options that are meant by a name."""
