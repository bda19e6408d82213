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
