"""Programs that draw run as without their plots, and say so once."""

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

PLOTS = """
import numpy as np
import matplotlib.pyplot as plt
import matplotlib
from d2l import torch as d2l
plt.rcParams["figure.figsize"] = (8, 4)
plt.style.use("ggplot")
x = np.linspace(0, 1, 5)
plt.figure(figsize=(8, 4))
plt.plot(x, x ** 2, "r-", label="f")
line, = plt.plot(x, x)
line.set_data(x, x)
fig, ax = plt.subplots()
ax.scatter(x, x)
ax.set_title("a")
fig, axes = plt.subplots(2, 2, figsize=(3, 3))
axes[0][1].fill(x, x)
axes[1, 0].fill(x, x)
for a in axes.flatten():
    a.set_ylim(0, 1)
n, bins, patches = plt.hist(x)
colors = plt.cm.viridis(x)
plt.plot(x, color=colors[0])
fig, row = plt.subplots(ncols=3)
for a in row:
    a.set_xlabel("x")
ax = plt.figure().add_subplot(111, projection="3d")
ax.plot_surface(x, x, x, cmap=plt.cm.viridis)
d2l.set_figsize()
d2l.plot(x, [x, x], "x", "f(x)", legend=["a", "b"])
d2l.plt.legend()
plt.show()
print(x.sum().item())
"""


def test_plots_are_left_out_with_one_note():
    printed = []
    done = load(PLOTS).run(options=Options(echo=printed.append))
    assert printed == ["2.5\n"]
    assert [warning.code for warning in done.warnings] == ["plots-left-out"]
    assert not [d for d in load(PLOTS).check({}).findings if d.severity == "error"]


def test_an_unknown_function_of_plots_is_refused():
    with pytest.raises(GradError, match="plott"):
        load("import matplotlib.pyplot as plt\nplt.plott(1)\n").run()


class Drawn:
    """Takes down what it is told, and gives names for what has been drawn."""

    def __init__(self):
        self.settings, self.told = {}, []

    def call(self, drawn, name, args, named):
        self.told.append((drawn, name, args, named))
        return "title" if name == "title" else {"subplots": ("f", 3)}.get(name, Artist(name))

    def get(self, drawn, name):
        return Artist(f"{drawn}.{name}")

    def at(self, drawn, index):
        return Artist(f"{drawn}[{index}]")


class Artist:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


def test_who_draws_is_told_plain_data_and_what_it_gave():
    plots = Drawn()
    text = """
import matplotlib.pyplot as plt
x = tensor([1.0, 2.0], requires_grad=True)
ax = plt.gca()
ax.plot(x, [x.sum(), 2], {"a": (1, None)}, c="r")
ax.spines["top"].set_color(ax)
plt.rcParams["font.size"] = 3
plt.figure().gca()[1].set(a=1)
assert plt.title("a") == "title" and plt.subplots() == ("f", 3)
"""
    load(text).run(options=Options(plots=plots))
    told = [(str(drawn), name, *rest) for drawn, name, *rest in plots.told]
    assert told[0] == ("pyplot", "gca", [], {})
    drawn, name, (x, mixed, nested), named = told[1]
    assert (drawn, name, x.tolist(), named) == ("gca", "plot", [1.0, 2.0], {"c": "r"})
    assert (mixed, nested) == ([3.0, 2], {"a": (1, None)})
    assert told[2][:2] == ("gca.spines[top]", "set_color")
    assert [str(a) for a in told[2][2]] == ["gca"]
    assert told[5] == ("gca[1]", "set", [], {"a": 1})
    assert plots.settings == {"font.size": 3}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--rows", "r.csv"), "`--plots` does not go with --rows"),
        (("--compile", "always"), "leave out `--plots`"),
        ((), "pip install 'gradcli[plot]'"),
    ],
)
def test_plots_that_cannot_be_drawn(cli, tmp_path, monkeypatch, given, said):
    if "always" in given:
        pytest.importorskip("matplotlib.pyplot")
    else:
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("x\n1\n")
    status, out, err = cli("run", "x ** 2", *given, "--plots", tmp_path / "p")
    assert (status in (2, 3), out) == (True, "")
    assert said in err
