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


INERT = """
import torch
import matplotlib as mpl
import matplotlib.pyplot as plt
import pylab
from matplotlib import animation, cm, image, style, ticker
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.pyplot import figure, show
from mpl_toolkits import mplot3d
from mpl_toolkits.axes_grid1 import make_axes_locatable
from mpl_toolkits.mplot3d import Axes3D
from IPython import get_ipython
from IPython.display import HTML, SVG, clear_output, display
import matplotlib_inline.backend_inline as inline
import seaborn as sns
import plotly.express as px
import plotly.graph_objects as go
from graphviz import Digraph
from tqdm.notebook import tnrange
mpl.rcParams["figure.dpi"] = 120
plt.rcParams["figure.figsize"] = 3, 4
plt.rcParams.update({"font.size": 3})
plt.rcParams["figure.figsize"]
fig = plt.figure(figsize=(3, 3))
ax = Axes3D(fig)
ax.frobnicate(1, 2, three=4)
ax.w_xaxis.set_pane_color((1, 1, 1, 1))
ax.spines.right.set_visible(False)
ax.some_setting = 3
plt.cm.get_cmap("viridis")(0.3)
scale = cm.viridis_r
scale(3)
LogNorm(vmin=1).vmax = 3
fig.patch.set_alpha(0)
for a in fig.axes:
    print("never")
for spine in ax.spines.values():
    spine.set_visible(False)
handles, labels = ax.get_legend_handles_labels()
first, second = plt.plot([1, 2], [3, 4], [1, 2], [3, 4])
w, h = fig.get_size_inches()
draw = ax.plot
draw([1], [2])
if plt.get_backend() == "agg":
    print("never")
fig.canvas.mpl_connect("key", lambda event: event)
make_axes_locatable(ax).append_axes("right", size="5%")
style.use("ggplot")
figure()
show()
pylab.plot([1])
display(SVG("<svg/>"), HTML(animation.FuncAnimation(fig, lambda i: i).to_jshtml()))
get_ipython().run_line_magic("matplotlib", "inline")
inline.set_matplotlib_formats("svg")
with sns.axes_style("dark"):
    sns.lineplot(x=[1], y=[2])
go.Figure(data=[go.Scatter(x=[1])]).show()
g = Digraph(format="svg")
g.node("a", label="b")
for i in tnrange(3):
    pass
print(torch.ones(2).sum().item(), i)
"""


def test_whatever_only_shows_things_is_left_out_with_one_note(cli):
    status, out, err = cli("run", "-", stdin=INERT)
    assert (status, out) == (0, "2.0 2\n")
    assert err.count("plots are left out") == 1
    assert err.count("warning") == 1
    assert not [d for d in load(INERT).check({}).findings if d.severity == "error"]


def test_notebooks_have_display_without_an_import_and_a_program_its_own():
    printed = []
    options = Options(echo=printed.append)
    assert load("display(3)\n").run(options=options).warnings[0].code == "plots-left-out"
    load("def display(x):\n    print(x)\ndisplay(3)\n").run(options=options)
    assert printed == ["3\n"]


def test_who_draws_leaves_out_what_it_does_not_know():
    plots = Drawn()
    text = """
import matplotlib.pyplot as plt
ax = plt.gca()
ax.frobnicate(1).wobble.set(a=1)
draw = ax.plot
draw(1)
"""
    done = load(text).run(options=Options(plots=plots))
    assert [name for _, name, *_ in plots.told] == ["gca", "plot"]
    assert [(d.code, d.help) for d in done.warnings] == [("plots-left-out", "the others are drawn")]


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


SHOWN = {
    "matplotlib": """
import matplotlib
import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib import cm
from matplotlib.animation import FuncAnimation
from matplotlib.colors import ListedColormap
from matplotlib.ticker import MaxNLocator
import matplotlib.patches as patches
matplotlib.use("Agg")
matplotlib.rcParams["font.size"] = 3
plt.rcParams.update({"font.size": 12})
x = linspace(0, 1, 5)
fig, ax = plt.subplots(2, 2, figsize=(8, 6), sharex=True)
ax[0, 1].plot(x, x ** 2, "r--", label="$x^2$", lw=2)
for a in ax.flat:
    a.set_title("t")
for i, a in enumerate(ax.flatten()):
    a.set_xlabel(f"x{i}")
for row in ax:
    for a in row:
        a.spines["top"].set_visible(False)
(ax1, ax2), (ax3, ax4) = ax
with plt.style.context("dark_background"):
    plt.plot(x)
ax1.xaxis.set_major_locator(plt.MaxNLocator(5))
ax1.xaxis.set_major_locator(MaxNLocator(5))
ax1.add_patch(patches.Rectangle((0, 0), 1, 1))
plt.text(0.5, 0.5, "hi", transform=ax1.transAxes)
colours = ListedColormap(["r", "b"])
animation = FuncAnimation(fig, lambda i: None, frames=3)
animation.save("a.gif")
cm.viridis(0.5)
print(x.sum().item())
""",
    "mpl_toolkits": """
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits import mplot3d
from mpl_toolkits.axes_grid1 import make_axes_locatable
fig = plt.figure()
ax = Axes3D(fig)
ax.plot_surface(zeros(2, 2), zeros(2, 2), zeros(2, 2), cmap=plt.cm.viridis)
ax.zaxis.set_major_locator(plt.MaxNLocator(3))
cax = make_axes_locatable(ax).append_axes("right", size="5%")
print(2.5)
""",
    "IPython": """
from IPython.display import display, HTML, clear_output
from IPython import display as shown
import IPython
get_ipython().run_line_magic("matplotlib", "inline")
IPython.display.set_matplotlib_formats("svg")
shown.clear_output(wait=True)
display(tensor(1.0))
display(HTML("<b>"), metadata={})
clear_output()
print(2.5)
""",
    "seaborn": """
import seaborn as sns
import seaborn
sns.set_theme(style="darkgrid")
sns.set()
palette = sns.color_palette("husl", 8)
first = palette[0]
ax = sns.lineplot(x=[1, 2], y=[3, 4], color=first)
ax.set(xlabel="a")
with sns.axes_style("white"):
    g = sns.FacetGrid([1], col="a")
    g.map(sns.histplot, "a").add_legend()
for a in g.axes.flat:
    a.set_title("t")
g.axes[0].title = "a"
g.axes["a"] = 3
print(2.5)
""",
    "graphviz": """
from graphviz import Digraph
import graphviz
dot = Digraph(format="svg", graph_attr={"rankdir": "LR"})
dot.node("a", label="x")
dot.edge("a", "b")
with dot.subgraph(name="c") as c:
    c.node("d")
dot.body.append("x")
dot.render("a", view=True)
graphviz.Source("digraph {}").view()
print(2.5)
""",
    "torchviz": """
from torchviz import make_dot
x = tensor(1.0, requires_grad=True)
make_dot(x * 2, params={"x": x}).render("a")
print(2.5)
""",
    "plotly": """
import plotly.express as px
import plotly.graph_objects as go
fig = px.scatter(x=[1], y=[2], color_discrete_sequence=px.colors.qualitative.Plotly[:2])
fig.update_layout(title="a").show()
go.Figure(data=[go.Scatter(x=[1], y=[2])]).show()
print(2.5)
""",
    "ipywidgets": """
import ipywidgets as widgets
from ipywidgets import interact
slider = widgets.FloatSlider(value=1, min=0, max=2)
@interact(x=(0, 3))
def f(x=1):
    return x
@interact
def g(x=1):
    return x
print(f(2) + g(0.5))
""",
}


@pytest.mark.parametrize("library", SHOWN)
def test_what_only_shows_is_left_out_with_one_note(library):
    printed = []
    done = load(SHOWN[library]).run(options=Options(echo=printed.append))
    assert printed == ["2.5\n"]
    assert [warning.code for warning in done.warnings] == ["plots-left-out"]
    assert not [d for d in load(SHOWN[library]).check({}).findings if d.severity == "error"]


def test_progress_bars_are_left_out():
    text = """
import tqdm
from tqdm import tqdm as bar, trange, tqdm_notebook
from tqdm.auto import tqdm as auto
total = 0
for i in bar(range(3), desc="a", leave=False):
    total += i
for i in trange(3):
    total += i
for i in tqdm.tqdm([1, 2]):
    total += i
for i in tqdm_notebook([1, 2]):
    total += i
with auto(total=3) as shown:
    shown.update(1)
    shown.set_postfix(loss=1.0)
auto.write("x")
total
"""
    done = load(text).run()
    assert (done.result, done.warnings) == (12, ())


@pytest.mark.parametrize(
    "use", ["x = ax + 1.0", "sin(ax)", "tensor([ax])", "if ax > 0: pass", "x = zeros(3)[ax]"]
)
@pytest.mark.parametrize(
    "made",
    [
        "import matplotlib.pyplot as plt\nax = plt.gca().get_xlim()",
        "import seaborn\nax = seaborn.lineplot()",
    ],
)
def test_what_is_left_out_is_no_number(made, use):
    with pytest.raises(GradError) as caught:
        load(f"{made}\n{use}\n").run()
    found = caught.value.diagnostics[0]
    assert found.code in ("wrong-type", "bad-index", "bad-operand")
    assert "a plot" in found.message or "`LeftOut`" in found.message
