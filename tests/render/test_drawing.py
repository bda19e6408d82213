"""What programs plot, drawn into files by matplotlib."""

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

IMPORTS = """
import numpy as np
import matplotlib.pyplot as plt
from d2l import torch as d2l
x = np.linspace(0, 1, 5)
"""


def files(text):
    """The files that a program draws, by their names, once it has ended."""
    pytest.importorskip("matplotlib.pyplot")
    from gradcli.render.drawing import Drawing

    found = {}
    drawing = Drawing(found.__setitem__)
    load(IMPORTS + text).run(options=Options(plots=drawing))
    drawing.finish()
    return found


PROGRAMS = {
    "a figure each show": (
        "plt.plot(x, x ** 2, 'r-', label='f')\nplt.show()\nplt.scatter(x, x)\nplt.show()",
        ["figure-1.png", "figure-2.png"],
    ),
    "what is open at the end": ("fig, ax = plt.subplots()\nax.plot(x)", ["figure-1.png"]),
    "nothing": ("plt.show()", []),
    "closed unseen": ("plt.plot(x)\nplt.close()", []),
    "a name of its own": ("plt.plot(x)\nplt.savefig('a.svg')\nplt.show()", ["a.svg"]),
    "of a figure": ("f = plt.figure()\nf.savefig('b.pdf', dpi=50)\nplt.close(f)", ["b.pdf"]),
    "no suffix": ("plt.plot(x)\nplt.savefig('c')", ["c.png"]),
    "no folder": ("plt.plot(x)\nplt.savefig('../../etc/d.png')", ["d.png"]),
    "no drive": ("plt.plot(x)\nplt.savefig('C:\\\\e.png')", ["e.png"]),
    "a grid": (
        "fig, axes = plt.subplots(2, 2, figsize=(3, 3))\naxes[0, 1].plot(x)\naxes[1][0].plot(x)\n"
        "for a in axes.flatten(): a.set_xlabel('x')\nassert len(axes[:, 0]) == 2",
        ["figure-1.png"],
    ),
    "what comes back": (
        "n, bins, patches = plt.hist(x, bins=2)\nassert n.sum() == 5 and bins.shape == (3,)\n"
        "line, = plt.plot(x, x)\nline.set_data(x, -x)\ncolors = plt.cm.viridis(x)\n"
        "plt.plot(x, color=colors[1])\nassert colors.shape == (5, 4)",
        ["figure-1.png"],
    ),
    "in space": (
        "ax = plt.figure().add_subplot(111, projection='3d')\n"
        "a, b = np.meshgrid(x, x)\nax.plot_surface(a, b, a * b, cmap=plt.cm.jet)",
        ["figure-1.png"],
    ),
    "by d2l": (
        "d2l.set_figsize((3, 2))\nd2l.plot(x, [x, x ** 2], 'x', 'f(x)', legend=['a', 'b'])\n"
        "d2l.plot(x)\nd2l.plt.title('d')",
        ["figure-1.png", "figure-2.png"],
    ),
    "one that requires grad": ("t = x.clone().requires_grad_()\nplt.plot(t)", ["figure-1.png"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_figures_become_files(name):
    text, names = PROGRAMS[name]
    found = files(text)
    assert [*found] == names
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for path, content in found.items():
        assert content.startswith(starts[path.rpartition(".")[2]]), path


def test_what_is_drawn_is_what_the_program_gave():
    text = "plt.style.use('ggplot')\nplt.rcParams['font.size'] = 7\nplt.plot(x, label='curve')\n"
    drawn = files(text + "plt.legend()\nplt.title('over it')\nplt.savefig('a.svg')")["a.svg"]
    for part in (b">curve<", b">over it<", b"7px"):
        assert part in drawn


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plt.plot(x, x[:2])", "`plot` cannot be drawn: x and y must have same first dimension"),
        ("plt.plot(x, lambda t: t)", "a function cannot be drawn"),
        ("plt.savefig('a.exe')", "`savefig` has no form `exe`"),
        ("plt.savefig('..')", "`savefig` needs the name of a file"),
        ("plt.savefig(3)", "`savefig` needs the name of a file"),
        ("plt.figure(figsize=(1e5, 1e5))\nplt.show()", "inches at 100 dots an inch is too large"),
        ("plt.plot(x)\nplt.savefig('a.png', dpi=1e5)", "is too large"),
        ("plt.title('a', usetex=True)", "`title` takes no `usetex` here"),
        ("plt.legend(prop={'fname': '/etc/passwd'})", "`legend` takes no `fname` here"),
        ("plt.title('a', fontproperties=':file=/etc/passwd')", "takes no `fontproperties` here"),
        ("fig, axes = plt.subplots(2, 2)\naxes[3, 0]", "a grid of axes: tuple index out of range"),
    ],
)
def test_what_cannot_be_drawn_is_refused(text, said):
    with pytest.raises(GradError) as caught:
        files(text)
    found = caught.value.diagnostics[0]
    assert said in found.message
    assert found.span is not None


def test_settings_reach_nothing_but_looks():
    pytest.importorskip("matplotlib.pyplot")
    text = "plt.rcParams.update({'figure.hooks': ['os:abort'], 'text.usetex': True})\n"
    text += "plt.rc('figure', hooks='os:abort')\nplt.style.use('http://localhost/a')\nplt.plot(x)"
    assert [*files(text)] == ["figure-1.png"]


def test_a_command_writes_into_its_folder(cli, tmp_path):
    pytest.importorskip("matplotlib.pyplot")
    folder = tmp_path / "new" / "plots"
    program = IMPORTS + "plt.plot(x)\nplt.savefig('../a.png')\nplt.figure()\nplt.show()\nprint(1)"
    assert cli("run", "-e", program, "--plots", folder) == (0, "1\n", "")
    assert sorted(path.name for path in tmp_path.rglob("*.png")) == ["a.png", "figure-1.png"]
    assert {path.parent for path in tmp_path.rglob("*.png")} == {folder}
