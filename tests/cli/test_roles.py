"""What users of four kinds do in their first hours, as a shell runs it."""

import csv
import gzip
import math
import random
import shutil

import pytest


@pytest.fixture
def bash(tmp_path, forked):
    """Run a script in a folder, gradcli on the path; gives its output if it succeeds."""

    def run(script, status=0):
        done = forked.shell(f"set -euo pipefail\n{script}", tmp_path)
        assert done.returncode == status, done.stderr
        return done.stdout, done.stderr

    return run


# the student --------------------------------------------------------------------------------------

STUDENT = """
gradcli grad 'x**2' x=3
gradcli grad 'x^2' x=3 || echo "status $?"
gradcli gra 'x**2' x=3 || echo "status $?"
gradcli samples two_paths -o .
gradcli run two_path.grad || echo "status $?"
gradcli run two_paths.grad
gradcli grad two_paths.grad --wrt c,d
gradcli graph two_paths.grad
gradcli gradcheck two_paths.grad -q && echo right
gradcli grad two_paths.grad a=5 --wrt b -r
"""

STUDENT_SEES = """\
result	9.0
grad.x	6.0
status 5
status 2
two_paths.grad
status 2
6.0
e	6.0
grad.c	2.0
grad.d	3.0
              op            value  gradient  line
e = c * d     MulBackward0  6      1         8
├─ c = a + b  AddBackward0  3      2         6
│  ├─ a                     2      2         3
│  └─ b                     1      5         4
└─ d = b + 1  AddBackward0  2      3         7
   └─ ↑ b
right
8.0
"""


def test_a_student_looks_at_derivatives(bash):
    out, err = bash(STUDENT)
    assert out == STUDENT_SEES
    helps = [line for line in err.splitlines() if line.startswith("  = help: ")]
    assert helps == [
        "  = help: write `x**2`",
        "  = help: did you mean `grad`?",
        "  = help: did you mean `two_paths.grad`?",
    ]


# the engineer -------------------------------------------------------------------------------------

PRESSURE = "p = 6.112 * exp(17.62 * T / (243.12 + T)) * rh / 100\np\n"
ENGINEER = """
gradcli grad pressure.grad --rows 'sensors/*.csv.gz' --map T='Temp (C)' --keep id --na NA \\
    --on-error skip -o answers.csv 2> told.txt || echo "status $?"
tail -n 1 told.txt
(echo id,site,p,slope; join -t, <(zcat sensors/*.gz | grep -v '^id,' | cut -d, -f1,2 | sort -t, -k1,1) \\
    <(tail -n +2 answers.csv | cut -d, -f2,3,4 | sort -t, -k1,1)) > joined.csv
wc -l < joined.csv
"""


@pytest.mark.parametrize("count", [400, pytest.param(100_000, marks=pytest.mark.long)])
def test_an_engineer_joins_answers_to_the_ids_of_the_rows(bash, tmp_path, count):
    draw = random.Random(5)
    (tmp_path / "pressure.grad").write_text(f"input T: float\ninput rh: float\n{PRESSURE}")
    (tmp_path / "sensors").mkdir()
    rows = [
        (f"m{i:06}", f"site {i % 9}", f"{draw.uniform(-20, 40):.2f}", f"{draw.uniform(5, 99):.1f}")
        for i in range(count)
    ]
    rows[count // 4] = (*rows[count // 4][:2], "NA", "50")
    rows[count // 2] = (*rows[count // 2][:2], "broken", "50")
    for part in range(2):
        own = rows[part * count // 2 : (part + 1) * count // 2]
        with gzip.open(tmp_path / "sensors" / f"{part}.csv.gz", "wt") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [("id", "site", "Temp (C)", "rh"), *own]
            )
    out, _ = bash(ENGINEER)
    status, left, lines = out.splitlines()
    assert status == "status 4"
    assert left.startswith(f"gradcli: warning[rows-left-out]: 1 of {count:,} rows left out")
    assert int(lines) == count
    with open(tmp_path / "joined.csv", encoding="utf-8", newline="") as file:
        joined = {row["id"]: row for row in csv.DictReader(file)}
    for name, site, temperature, humidity in rows:
        if temperature == "broken":
            assert name not in joined
            continue
        found = joined[name]
        t = math.nan if temperature == "NA" else float(temperature)
        p = 6.112 * math.exp(17.62 * t / (243.12 + t)) * float(humidity) / 100
        slope = p * 17.62 * 243.12 / (243.12 + t) ** 2
        assert found["site"] == site
        for mine, theirs in ((p, found["p"]), (slope, found["slope"])):
            assert math.isclose(mine, float(theirs), rel_tol=1e-12) or math.isnan(mine)


# the scientist ------------------------------------------------------------------------------------

FIT = """param a = 1.0
param b = 0.5
input t = [0.0]
input y = [0.0]
pred = a * exp(-b * t)
res = pred - y
loss = sum(res ** 2)
loss
"""
SCIENTIST = """
gradcli check fit.grad
a=2.98 b=0.69
for step in 1 2 3; do
    read -r a b < <( (gradcli grad fit.grad -i data.csv a=$a b=$b -r
                      gradcli hessian fit.grad -i data.csv a=$a b=$b -r) | tr '\\n' ' ' |
        awk -v a=$a -v b=$b '{d = $3 * $6 - $4 * $5
            printf "%.17g %.17g\\n", a - ($6 * $1 - $4 * $2) / d, b - ($3 * $2 - $5 * $1) / d}')
done
printf '%.4f %.4f\\n' $a $b
gradcli jacobian fit.grad -i data.csv a=$a b=$b --of res -f csv -o jacobian.csv
head -n 1 jacobian.csv
gradcli run fit.grad -i data.csv a=$a b=$b --show t,pred,res -o curve.csv
wc -l < curve.csv
gradcli run fit.grad -i data.csv a=$a b=$b --json | gradcli run 'sqrt(sum(res ** 2))' -i - -r
"""


def test_a_scientist_fits_a_curve_to_data(bash, tmp_path):
    (tmp_path / "fit.grad").write_text(FIT)
    times = [0.25 * i for i in range(21)]
    lines = [f"{t},{3.0 * math.exp(-0.7 * t)!r}" for t in times]
    (tmp_path / "data.csv").write_text("\n".join(["t,y", *lines, ""]))
    out, err = bash(SCIENTIST)
    fitted, head, count, rest = out.splitlines()
    assert (fitted, head, count, err) == ("3.0000 0.7000", "res,jacobian.a,jacobian.b", "22", "")
    assert float(rest) < 1e-9
    with open(tmp_path / "jacobian.csv", encoding="utf-8", newline="") as file:
        rows = [{key: float(x) for key, x in row.items()} for row in csv.DictReader(file)]
    for t, row in zip(times, rows, strict=True):
        assert math.isclose(row["jacobian.b"], -3.0 * t * math.exp(-0.7 * t), abs_tol=1e-9)


# the builder of tools -----------------------------------------------------------------------------

MAKEFILE = """SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

all: slopes.ndjson report.md broken.ok
slopes.ndjson report.md: model.grad points.ndjson
\tgradcli grad $< --rows points.ndjson -o $@
checked: model.grad
\tgradcli check $< && gradcli gradcheck $< x=2 -q && touch $@
broken.json: model.grad
\tgradcli grad $< x=2 y=3 -o $@
broken.ok: checked
\t! $(MAKE) -s broken.json 2> broken.txt
\ttouch $@
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_a_builder_of_tools_makes_files(bash, tmp_path):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / "model.grad").write_text("input x = 1.0\ny = x ** 2 + 3 * x\ny\n")
    (tmp_path / "points.ndjson").write_text('{"x": 1}\n{"x": 2}\n')
    bash("make -s")
    assert (tmp_path / "slopes.ndjson").read_text().count('"schema":"gradcli.grad/1"') == 2
    assert (tmp_path / "report.md").read_text().startswith("| y | grad.x |\n|---:|---:|\n| 4.0 |")
    assert not (tmp_path / "broken.json").exists()
    assert "error[unknown-input]" in (tmp_path / "broken.txt").read_text()
    assert bash("make -s")[0] == ""
