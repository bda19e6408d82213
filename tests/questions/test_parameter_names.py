"""Graphs and traces name the parameters of modules as `named_parameters` does."""

import json

import pytest

from gradcli.program import load

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
NETS = {
    "layer": "net = nn.Linear(2, 1)\n",
    "sequence": "net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))\n",
    "nested": """class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(n, n), nn.LayerNorm(n))
        self.scale = nn.Parameter(torch.ones(n))
    def forward(self, x):
        return self.inner(x) * self.scale
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(2), Block(2)])
        self.named = nn.ModuleDict({"last": nn.Linear(2, 1)})
        self.again = self.blocks[0]
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.named["last"](self.again(x))
net = Net()
""",
}
TAIL = "loss = net(torch.ones(1, 2)).sum()\nnames = ['net.' + n for n, _ in net.named_parameters()]\nloss\n"


@pytest.mark.parametrize("net", NETS)
def test_leaves_have_the_names_of_named_parameters(net):
    program = load(f"{HEAD}{NETS[net]}{TAIL}")
    names = sorted(program.run().values["names"])
    graph = program.graph({}).graph
    assert sorted(n.variable for n in graph.nodes if n.name == "AccumulateGrad") == names
    rows = [row for row in program.trace({}).rows if not row.expression]
    assert sorted(row.variable for row in rows) == names


def test_a_name_at_top_level_is_shorter_than_a_path():
    text = f"{HEAD}{NETS['layer']}w = net.weight\nv = w\nnet(torch.ones(1, 2)).sum()\n"
    leaves = {n.variable for n in load(text).graph({}).graph.nodes if n.name == "AccumulateGrad"}
    assert leaves == {"w", "net.bias"}


def test_an_object_of_the_program_names_its_tensors():
    text = """
class Model:
    def __init__(self):
        self.w = tensor(2.0, requires_grad=True)
        self.itself = self
m = Model()
m.w * 3
"""
    leaves = [n.variable for n in load(text).graph({}).graph.nodes if n.name == "AccumulateGrad"]
    assert leaves == ["m.w"]


@pytest.mark.parametrize("form", ["tree", "dot", "mermaid", "svg", "html", "json"])
def test_every_picture_shows_them(form, cli):
    text = f"{HEAD}{NETS['sequence']}{TAIL}"
    status, out, _ = cli("graph", "-e", text, "-f", form)
    assert status == 0
    for name in ("net.0.weight", "net.0.bias", "net.2.weight", "net.2.bias"):
        assert name in out
    if form == "json":
        assert {n["variable"] for n in json.loads(out)["nodes"]} >= {"net.0.weight"}
