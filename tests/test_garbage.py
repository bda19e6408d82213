"""Stretches in which Python looks for no cycles."""

import gc

import pytest

from gradcli.cpython import Uncollected
from gradcli.engine.tape.graph import Node
from gradcli.program import Options, load


@pytest.mark.parametrize("collecting", [True, False])
def test_a_stretch_leaves_what_it_found(collecting):
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        with Uncollected():
            with Uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() == collecting
        with pytest.raises(ValueError, match="here"), Uncollected():
            raise ValueError("here")
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("asked", ["run", "grad", "jvp", "hessian"])
def test_python_never_goes_through_the_graph_of_a_question(asked):
    program = load("input x = 1.0\ny = x\nfor i in range(5000):\n    y = y * 0.9 + x\ny")
    nodes = []

    def look(phase, info):
        if phase == "start":
            nodes.append(sum(isinstance(o, Node) for o in gc.get_objects()))

    more = {"tangents": {"x": 1.0}} if asked == "jvp" else {}
    gc.collect()
    gc.callbacks.append(look)
    try:
        getattr(program, asked)(**more, options=Options(compile="never"))
        gc.collect()
    finally:
        gc.callbacks.remove(look)
    assert nodes
    assert not any(nodes)
