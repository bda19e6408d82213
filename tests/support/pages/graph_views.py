"""Programs whose graphs have golden files: one for each width for people, and one for each
language.

`python tests graph_views` writes the golden files anew.
"""

from pathlib import Path

from support.programs.sample_programs import SAMPLES

from gradcli.program import Options, load
from gradcli.render.graphs.dot import dot
from gradcli.render.graphs.mermaid import mermaid
from gradcli.render.graphs.picture import Extent, picture
from gradcli.render.graphs.svg import svg
from gradcli.render.graphs.tree import tree
from gradcli.render.text import plain_text

GOLDEN = Path(__file__).parents[2] / "golden" / "graph"
WIDTHS = (40, 80, 120, None)
QUIET = Options(seed=1)

LOOP = "param w = 0.5\nx = 1.0\nfor i in range(100):\n    u = sin(x * w)\n    x = x + u * 0.001\nx"
LAYERS = """param w1 = [[0.5, -1.0, 2.0], [1.0, 0.0, 0.25]]
param w2 = [[0.5, 0.25]]
input x: float[3, 4] = [[1.0, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
h = tanh(w1 @ x)
loss = cross_entropy((w2 @ h).T, zeros(4).long())
loss
"""
LIST = "x = [3.0, 4.0, 5.0]\ny = x[0] * x[1] + x[2] ** 2\ny += 5 * sum(x)\ny"
SLOPE = (
    "x = tensor(2.0, requires_grad=True)\ny = x ** 3\n(g,) = grad(y, x, create_graph=True)\ng + y"
)
ORBIT = """x = [1.0, 0.0]
v = [0.0, 1.1]
param step = 0.05
def pull(x):
    return -x / sum(x * x) ** 1.5
for i in range(6):
    v = v + step * pull(x)
    x = x + step * v
sum(x)
"""
TRAINING = """w = tensor([1.0, 2.0], requires_grad=True)
for t in range(3):
    loss = (w * w).sum()
    loss.backward()
    with no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
"""
VECTOR = "param a = [1.0, 2.0]\na * 3"

PROGRAMS = {
    "loop": (LOOP, Extent()),
    "unfolded": (LOOP, Extent(unfold=1)),
    "layers": (LAYERS, Extent()),
    "list": (LIST, Extent()),
    "slope": (SLOPE, Extent()),
    "orbit": (ORBIT, Extent()),
    "training": (TRAINING, Extent()),
    "vector": (VECTOR, Extent()),
    "near": (LAYERS, Extent(nodes=5, depth=3)),
    **{
        path.stem: (path.read_text("utf-8"), Extent())
        for path in SAMPLES
        if path.stem in ("newton", "rosenbrock", "two_paths")
    },
}


def recorded(name):
    """The graph of a program, and the extent of its picture."""
    text, extent = PROGRAMS[name]
    return load(text).graph(options=QUIET).graph, extent


def views(graph, extent):
    """The views of a graph, by the endings of the golden files."""
    trees = []
    for width in WIDTHS:
        lines = tree(picture(graph, extent), precision=6, width=width)
        trees.append(f"# {width or 'no width'}\n{plain_text(lines)}")
    drawn = picture(graph, extent)
    found = {"txt": "".join(trees), "dot": dot(drawn, 6), "mmd": mermaid(drawn, 6)}
    if len(drawn.boxes) < 10:
        found["svg"] = svg(picture(graph, extent), 6)
    return found


def main():
    """Write the golden files anew."""
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.iterdir():
        old.unlink()
    for name in PROGRAMS:
        for ending, text in views(*recorded(name)).items():
            (GOLDEN / f"{name}.{ending}").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
