"""Ops that are made of others give results of their own."""

from support.checks.by_family import by_family
from support.checks.oracles import samples, table, values

from gradcli.engine.run.fast.call import changed
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor, composed, leaf, node_of
from gradcli.engine.values.data import Quiet, np

OPS = [op for op in {id(op): op for op in table().values()}.values() if op.value.body is not None]


def given(x):
    """An argument of a sample as a program has it."""
    if x is None or isinstance(x, (bool, int, str)):
        return x
    data = np.asarray(x)
    return leaf(data.astype(np.float64)) if data.dtype.kind == "f" and data.size else Tensor(data)


@by_family([op for op in OPS if not op.memory.view])
def test_a_result_that_is_an_argument_is_copied_and_no_other(op):
    for sample in samples(op):
        args = [given(x) for x in values(sample.args)]
        params = {**op.defaults, **sample.params}
        with Quiet():
            plain, made = composed(op, args, params), Session().do(op, args, params)
        if not isinstance(made, Tensor) or not isinstance(plain, Tensor):
            continue
        same = any(plain is a for a in args)
        assert not any(made is a for a in args), params
        node, under = node_of(made), node_of(plain)
        if same and node is not None:
            assert (node.name(), node.edges) == ("CloneBackward0", (under,)), params
        elif node is not None:
            assert node.name() == under.name(), params


def test_an_op_of_others_works_in_place_as_it_does_elsewhere():
    for op in OPS:
        for sample in samples(op) if op.memory.inplace else ():
            args = [given(x) for x in values(sample.args)]
            params = {**op.defaults, **sample.params}
            with Quiet():
                wanted = Session().do(op, args, params)
                x = Tensor(np.array(args[0].data))
                if wanted.shape != x.shape or wanted.dtype != x.dtype:
                    continue
                made = changed(op, Session(), x, args[1:], params, None)
            assert made is x
            assert np.array_equal(x.data, wanted.data, equal_nan=True), (op.name, params)
