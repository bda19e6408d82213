"""Writers of cases, one for each kind of input. Each takes a random generator alone."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from support.programs.generated_programs import aliased, listed, written
from support.programs.grammar_programs import text as grammar_text

from .case import Case
from .hostile import hostile

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "run",
    "grad",
    "jvp",
    "vjp",
    "jacobian",
    "hessian",
    "hvp",
    "gradcheck",
    "check",
    "graph",
)
FORMS = ("human", "plain", "json", "ndjson", "csv", "tsv", "dot", "xml", "")

# programs -----------------------------------------------------------------------------------------


def by_grammar(chance: random.Random) -> Case:
    """A text in all forms of the language, which need not make sense."""
    return program(chance, "grammar", grammar_text(chance.getrandbits(32)).encode())


def that_works(chance: random.Random) -> Case:
    """A program that means something, asked in every way."""
    seed = chance.getrandbits(32)
    form = chance.randrange(3)
    text = written(seed)[0] if form == 0 else aliased(seed)[0] if form == 1 else listed(seed)
    return program(chance, "works", text.encode())


def mutated(chance: random.Random) -> Case:
    """A program of the samples, the docs or the tests with some of its bytes changed."""
    text = chance.choice(corpus())
    for _ in range(chance.choice((1, 1, 2, 5))):
        text = mutation(chance, text)
    return program(chance, "mutated", text)


def calls(chance: random.Random) -> Case:
    """Calls of operations with arguments that may not be for them."""
    lines = [f"x{i} = {value(chance)}" for i in range(2)]
    for i in range(2, chance.randrange(3, 6)):
        given = [
            chance.choice((*(f"x{j}" for j in range(i)), value(chance)))
            for _ in range(chance.randrange(4))
        ]
        name = chance.choice(operations())
        if given and chance.random() < 0.4:
            lines.append(f"x{i} = {given[0]}.{name}({', '.join(given[1:])})")
        else:
            given += [f"{chance.choice(KEYWORDS)}={value(chance)}"] * (chance.random() < 0.3)
            lines.append(f"x{i} = {name}({', '.join(given)})")
    lines.append(f"x{chance.randrange(len(lines))}")
    return program(chance, "calls", "\n".join(lines).encode())


def program(chance: random.Random, kind: str, text: bytes) -> Case:
    """A case that asks something of a program."""
    command = chance.choice(COMMANDS)
    argv = [command, "p.grad", *questions(chance, command)]
    return Case(kind, tuple(argv), b"", {"p.grad": text})


def questions(chance: random.Random, command: str) -> list[str]:
    """Options that the command may take."""
    found = []
    if chance.random() < 0.4:
        found += [f"{name}={value(chance)}" for name in chance.sample("xyabw", 2)]
    if command in ("jvp", "hvp") and chance.random() < 0.8:
        found += ["--tangent", f"{chance.choice('xyab')}={value(chance)}"]
    if command == "vjp" and chance.random() < 0.8:
        found += ["--cotangent", value(chance)]
    if chance.random() < 0.3:
        found += ["-f", chance.choice(FORMS)]
    return found


VALUES = (
    "0", "1", "-1", "2", "3", "0.5", "-2.5", "1e308", "inf", "nan", "True", "None", "'a'", "''", "[]",
    "[1]", "[1.0, 2.0]", "[[1.0, 2.0], [3.0, 4.0]]", "[[1], [2, 3]]", "(1, 2)", "()", "ones(2)",
    "ones(2, 3)", "zeros(0)", "zeros(2, 0)", "ones(3, 3)", "tensor(1.0)", "tensor([1, 2, 3])",
    "tensor([True, False])", "eye(2)", "tensor([1.0, nan, inf])", "ones(2, 2, 2)", "lambda v: v * v",
    "9223372036854775807", "-9223372036854775808", "10 ** 12", "1e-320", "float32", "int64", "bool",
    "tensor([2.0], requires_grad=True)", "rand(2, 2)", "arange(6).reshape(2, 3)", "slice(1)", "...",
    "ones(1).expand(4)", "ones(2, 3).T", "range(3)", "{'a': 1}", "f'{1:.2f}'", "-0.0", "ones([1] * 64)",
    "tensor([-1])", "tensor([5, 5])", "[None]", "['a']", "[ones(2), ones(3)]", "(ones(2), ones(2))",
)  # fmt: skip
KEYWORDS = (
    "dim", "keepdim", "dtype", "size", "p", "out", "x", "input", "other", "n", "k", "axis", "mode",
    "reduction", "weight", "eps", "indices", "requires_grad", "value", "descending", "correction",
)  # fmt: skip


def value(chance: random.Random) -> str:
    """An expression."""
    return chance.choice(VALUES)


@cache
def operations() -> list[str]:
    """Names of all operations."""
    from gradcli import program as stages

    found = stages.operations()
    return sorted({name for op in found for name in (op.name, *op.aliases)} - {"input"})


@cache
def corpus() -> list[bytes]:
    """Programs of the samples, the docs and the recorded ones."""
    from differential.recorded import read

    found = [path.read_bytes() for path in sorted((ROOT / "samples").glob("*.grad"))]
    for page in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"):
        blocks = re.findall(r"```(?:python|grad)?\n(.*?)```", page.read_text("utf-8"), re.S)
        found += [block.encode() for block in blocks if not block.startswith("$")]
        found += [text.encode() for text in re.findall(r"-e '([^']+)'", page.read_text("utf-8"))]
    found += [row.text.encode() for row, _ in read()[::10]]
    return found


# bytes --------------------------------------------------------------------------------------------

PIECES = (
    b"(", b")", b"[", b"]", b"{", b"}", b":", b",", b".", b"=", b"\n", b"    ", b"\t", b"\0", b"\xe9",
    b"\xff", b"#", b"'", b'"', b'"""', b"\\", b"**", b"@", b"->", b"...", b"if ", b"for i in ", b"def ",
    b"class ", b"lambda ", b"return ", b"while True:", b"import ", b"with no_grad():", b"not ", b"0x",
    b"1e999", b"None", b"x", b"f'{", b"}'", b"\r", b"\x0c", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"99999999",
    b";", b"~", b"^", b"!", b"$", b"?", b"`", b"global ", b"yield ", b"del ", b"param ", b"input ",
)  # fmt: skip


def mutation(chance: random.Random, data: bytes) -> bytes:
    """Bytes with one change."""
    if not data:
        return chance.choice(PIECES)
    at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    end = min(end, at + 40)
    match chance.randrange(8):
        case 0:
            return data[:at] + data[at + 1 :]
        case 1:
            return data[:at] + chance.choice(PIECES) + data[at:]
        case 2:
            return data[:at]
        case 3:
            return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case 4:
            return data[:at] + data[at:end] * chance.choice((2, 3, 50)) + data[end:]
        case 5:
            return data[:at] + data[end:]
        case 6:
            other = chance.randrange(len(data))
            return data[:at] + data[other : other + 30] + data[end:]
    return (
        data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]
        if at < len(data)
        else data
    )


# command lines ------------------------------------------------------------------------------------

WORDS = (
    "run", "grad", "jvp", "vjp", "jacobian", "hessian", "hvp", "gradcheck", "check", "graph", "ops",
    "explain", "help", "samples", "completion", "trace", "plot", "-e", "-i", "--rows", "--columns",
    "--on-error", "--jobs", "--show", "--graph", "-f", "--json", "-r", "-o", "--precision", "--wrt",
    "--of", "--tangent", "--cotangent", "--mode", "--diagonal", "--order", "--seed", "-q", "-v",
    "--color", "--diagnostics", "--check-nan", "--ignore", "--ir", "--code", "typed", "llvm", "--safe", "--max-steps",
    "--max-memory", "--time-limit", "--max-depth", "--kinks", "--help", "-h", "--version", "--", "-",
    "x", "x=1", "x=", "=", "x=@", "x=@p.grad", "x=@x.csv:x", "x=@x.json", "x=@none", "x=[1, 2]", "p.grad",
    "x.csv", "x.json", "none", ".", "", "x ** 2", "1 +", "json", "human", "always", "never", "auto",
    "skip", "record", "stop", "2", "0", "-1", "1e9", "1M", "10s", "99999999999999999999", "x,y", ",",
    "o.json", "o.npy", "o.csv", "o", "/dev/full", "sin", "\udc80", "a\nb", "\x1b[31m", "x" * 300,
    "syntax-error", "--nonsense", "--wr", "-ex", "-fjson", "-rq", "--format=json", "--wrt=x", "@p.grad",
)  # fmt: skip
FILES = {"p.grad": b"param x = 2.0\nx ** 2\n", "x.csv": b"x\n1\n2\n", "x.json": b'{"x": 3}'}


def command_lines(chance: random.Random) -> Case:
    """Words of command lines in any order."""
    argv = [chance.choice(WORDS[:10])] if chance.random() < 0.8 else []
    argv += ["p.grad"] if chance.random() < 0.6 else []
    argv += [chance.choice(WORDS) for _ in range(chance.choice((1, 2, 3, 5)))]
    return Case("argv", tuple(argv), chance.choice((b"", b"x\n1\n", b'{"x": 1}\n', b"x")), FILES)


# data ---------------------------------------------------------------------------------------------

ROWS = (
    b"x,y\n1,2\n3,4\n", b"x\n1\n\n2\n", b'x,"y"\n"1",2\n', b"x.0,x.1\n1,2\n", b'x\n"[1, 2]"\n',
    b"x\ty\n1\t2\n", b'{"x": 1}\n{"x": [1, 2]}\n', b'{"x": 1, "y": {"a": null}}\n', b"x\nnan\n-inf\n1e5\n",
    b'{"row": 0, "schema": "gradcli.run/1", "output": "x", "result": 1, "values": {"x": 1}}\n',
    b"row,x,error\n0,1,\n1,,bad\n", b"x;y\n1;2\n", b"x\r\n1\r\n", b"",
)  # fmt: skip
READERS = (
    "x",
    "x ** 2",
    "x + y",
    "sum(x)",
    "input x = 1.0\nx",
    "input x: float[n]\nsum(x)",
    "print(x)",
)


def rows(chance: random.Random) -> Case:
    """Rows of every form with some of their bytes changed."""
    data = chance.choice(ROWS)
    for _ in range(chance.randrange(4)):
        data = mutation(chance, data)
    text = chance.choice(READERS)
    how = chance.choice(
        (["--rows", "-"], ["--rows", "r.csv"], ["--rows", "r"], ["-i", "-"], ["x=@-"])
    )
    more = chance.choice(
        ([], [], ["--on-error", "record"], ["--on-error", "skip"], ["-f", "ndjson"], ["-r"])
    )
    files = {name: data for name in how if name.startswith("r")}
    more = [] if how[0] != "--rows" else more
    return Case("rows", (chance.choice(("run", "grad")), "-e", text, *how, *more), data, files)


def objects(chance: random.Random) -> Case:
    """JSON of any values, whole or changed, as values by name or as one."""
    data = json.dumps(nested(chance, 4)).encode()
    for _ in range(chance.choice((0, 0, 1, 3))):
        data = mutation(chance, data)
    how = chance.choice((["-i", "v.json"], ["x=@v.json"], ["x=@v"], ["-i", "v"]))
    name = "v.json" if any("json" in word for word in how) else "v"
    return Case("json", ("run", "-e", chance.choice(READERS), *how), b"", {name: data})


def nested(chance: random.Random, depth: int) -> object:
    """A value that JSON can write."""
    form = chance.randrange(9 if depth else 6)
    plain: Sequence[object] = (1, -2.5, True, None, "a", 10**20, 1e300, "NaN", "\x1b", "", 2**63)
    if form < 6:
        return chance.choice(plain)
    if form == 6:
        return {
            chance.choice(("x", "y", "a", "", "x.0", "\u202e")): nested(chance, depth - 1)
            for _ in range(3)
        }
    return [nested(chance, depth - 1) for _ in range(chance.randrange(4))]


def arrays(chance: random.Random) -> Case:
    """NumPy's files with lies in their headers."""
    from support.programs.bad_files import npy, zipped

    sizes = (0, 1, 2, 3, -1, 10**6, 10**12, 2**31, 2**63, 2**70)
    shape = tuple(chance.choice(sizes) for _ in range(chance.choice((0, 1, 1, 2, 3, 40, 70))))
    kinds = (
        "<f8",
        "<f4",
        "<i8",
        "|b1",
        "<f2",
        ">f8",
        "<u8",
        "<c16",
        "|O",
        "<U3",
        "|S0",
        "<M8[s]",
        "|V3",
        "x",
    )
    version = chance.choice((1, 1, 2, 3))
    data = npy(repr(shape), bytes(chance.choice((0, 8, 16, 24, 48))), chance.choice(kinds), version)
    for _ in range(chance.choice((0, 0, 1, 2))):
        data = mutation(chance, data)
    suffix = chance.choice(("npy", "npz", "npz", "npy", ""))
    if suffix == "npz":
        data = zipped({chance.choice(("a.npy", "b.npy", "\x1b.npy")): data})
        data = mutation(chance, data) if chance.random() < 0.4 else data
    name = f"v.{suffix}".rstrip(".")
    key = chance.choice(("", "", ":a")) if suffix == "npz" else ""
    return Case(
        "arrays", ("run", "-e", chance.choice(READERS), f"x=@{name}{key}"), b"", {name: data}
    )


WRITERS: dict[str, Callable[[random.Random], Case]] = {
    "grammar": by_grammar,
    "works": that_works,
    "mutated": mutated,
    "calls": calls,
    "argv": command_lines,
    "rows": rows,
    "json": objects,
    "arrays": arrays,
    "hostile": hostile,
}
SHARES = {
    "grammar": 3,
    "works": 1,
    "mutated": 5,
    "calls": 4,
    "argv": 3,
    "rows": 2,
    "json": 1,
    "arrays": 1,
    "hostile": 1,
}


def cases(seed: int, count: int | None = None, kinds: Sequence[str] = tuple(WRITERS)):
    """Cases of these kinds, so many or without end; the same for the same seed."""
    weights = [SHARES[kind] for kind in kinds]
    number = 0
    while count is None or number < count:
        chance = random.Random(f"{seed} {number}")
        yield WRITERS[chance.choices(kinds, weights)[0]](chance)
        number += 1
