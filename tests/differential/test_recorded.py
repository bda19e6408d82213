"""Random programs give what PyTorch gave, in all modes, row by row and together."""

import functools
import json

import numpy as np
import pytest
from amounts import chunks

from differential import by_gradcli
from differential.compare import difference, same_value
from differential.recorded import PROGRAMS, read
from gradcli.program import load

CHUNK = 100
recorded = functools.cache(read)


def test_all_are_there():
    assert len(recorded()) == PROGRAMS


@pytest.mark.parametrize("first", chunks(1_000, PROGRAMS, CHUNK))
def test_programs_give_what_pytorch_gives(first):
    for program, facts in recorded()[first : first + CHUNK]:
        found = difference(by_gradcli.ask(program), facts, program.rtol)
        assert found is None, f"{program.text}\n{found}"


def differentiable(first, share):
    """Programs of a chunk that have a gradient, and their facts."""
    for program, facts in recorded()[first : first + CHUNK : share]:
        if any(name.startswith("gradient ") for name in facts):
            yield program, load(program.text), facts


some = pytest.mark.parametrize("first", chunks(100, PROGRAMS, CHUNK))


def close(a, b, program):
    """Whether two derivatives of a program are the same but for rounding; one by a float32 has in
    forward mode the result's dtype.
    """
    facts = (by_gradcli.value(np.asarray(x, np.float64)) for x in (a, b))
    return same_value(*facts, program.rtol)


@some
def test_modes_agree(first):
    """Jacobians and Hessians by either mode; a Hessian's product with a direction."""
    for program, loaded, _ in differentiable(first, 1):
        if program.hooked:
            continue
        forward, reverse = (
            loaded.jacobian(wrt=program.wrt, mode=mode).jacobian for mode in ("forward", "reverse")
        )
        for name in program.wrt:
            assert close(forward[name], reverse[name], program), program.text
        if program.order < 2:
            continue
        asked = {"wrt": program.wrt, "cotangent": program.cotangent}
        forward, reverse = (
            loaded.hessian(mode=mode, **asked).hessian for mode in ("forward", "reverse")
        )
        along = program.direction()
        product = loaded.hvp(tangents=along, **asked).hvp
        for x in program.wrt:
            total = 0.0
            for y in program.wrt:
                assert close(forward[x][y], reverse[x][y], program), program.text
                dims = np.ndim(along[y])
                total = total + np.tensordot(reverse[x][y], along[y], dims)
            assert np.allclose(total, product[x], rtol=program.rtol, atol=1e-6), program.text


@some
def test_backward_leaves_the_gradient(first):
    for program, _, facts in differentiable(first, 1):
        if "grad" in program.body or "backward" in program.body or not connected(facts):
            continue
        *body, last = program.body.split("\n")
        weight = "torch.ones_like(out)" if program.cotangent is None else program.cotangent
        lines = [*body, f"out = {last}", f"out.backward(torch.as_tensor({weight}))"]
        left = load("\n".join([*(i.line() for i in program.inputs), *lines])).run().grad
        for name in program.wrt:
            expected = facts[f"gradient {name}"]
            if name in left:
                assert same_value(by_gradcli.value(left[name]), expected, program.rtol), (
                    program.text
                )
            else:
                assert not any(expected[2]), program.text


def connected(facts):
    """Whether a result has a graph: `backward` refuses one that has none."""
    return any(any(fact[2]) for name, fact in facts.items() if name.startswith("gradient "))


def rows(program):
    """The program's inputs, and others near them."""
    for scale in (1.0, 1.01, 0.99):
        yield {i.name: scaled(i.data, scale) for i in program.inputs if i.name in program.wrt}


def scaled(data, scale):
    return [scaled(d, scale) for d in data] if isinstance(data, list) else data * scale


@pytest.mark.parametrize("first", chunks(100, PROGRAMS, CHUNK))
def test_rows_one_by_one_and_together(cli, tmp_path, first):
    for number, (program, _, _) in enumerate(differentiable(first, 10)):
        path = tmp_path / f"{number}.grad"
        path.write_text(program.text, "utf-8")
        given = [json.dumps(row) + "\n" for row in rows(program)]
        command = ["grad", path, "--wrt", ",".join(program.wrt), "--json", "-q"]
        if program.cotangent is not None:
            command += ["--cotangent", str(program.cotangent)]
        command += ["--on-error", "record", "--rows", "-"]
        _, together, _ = cli(*command, stdin="".join(given))
        alone = [json.loads(cli(*command, stdin=row)[1]) for row in given]
        assert [json.loads(row) for row in together.splitlines()] == [
            {**row, "row": n} for n, row in enumerate(alone)
        ], program.text
        if number % 5 == 0:
            assert cli(*command, "--jobs", "2", stdin="".join(given))[1] == together, program.text
