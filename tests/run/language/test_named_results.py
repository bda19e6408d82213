"""Results with names are tuples, and know their class, as PyTorch's."""

import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.program import load, operations
from gradcli.questions.asked.request import Options

PAIR = ("values", "indices")
RESULTS = {  # recorded from PyTorch 2.13
    "torch.max(x, 1)": ("max", PAIR),
    "torch.min(x, 1)": ("min", PAIR),
    "x.median(1)": ("median", PAIR),
    "x.nanmedian(1)": ("nanmedian", PAIR),
    "x.kthvalue(1)": ("kthvalue", PAIR),
    "x.mode(1)": ("mode", PAIR),
    "x.cummax(1)": ("cummax", PAIR),
    "x.cummin(1)": ("cummin", PAIR),
    "x.sort()": ("sort", PAIR),
    "x.topk(1)": ("topk", PAIR),
    "torch.aminmax(x)": ("aminmax", ("min", "max")),
    "torch.slogdet(x)": ("slogdet", ("sign", "logabsdet")),
    "torch.linalg.lstsq(x, x)": (
        "linalg_lstsq",
        ("solution", "residuals", "rank", "singular_values"),
    ),
    "torch.linalg.eigh(x)": ("linalg_eigh", ("eigenvalues", "eigenvectors")),
    "torch.svd(x)": ("svd", ("U", "S", "V")),
    "torch.linalg.svd(x)": ("linalg_svd", ("U", "S", "Vh")),
    "torch.qr(x)": ("qr", ("Q", "R")),
    "torch.linalg.qr(x)": ("linalg_qr", ("Q", "R")),
    "torch.linalg.lu_factor(x)": ("linalg_lu_factor", ("LU", "pivots")),
    "torch.linalg.lu(x)": ("linalg_lu", ("P", "L", "U")),
}
X = "import torch\nx = torch.tensor([[1., 2.], [3., 5.]])\n"


def _printed(program):
    return list(load(X + program).run().printed)


def test_every_op_with_names_is_asked():
    named = {op.name for o in operations() if (op := ops[o.name]).statics.fields}
    assert named <= {name.removeprefix("linalg_") for name, _ in RESULTS.values()} | {
        name for name, _ in RESULTS.values()
    }


@pytest.mark.parametrize("call", RESULTS)
@pytest.mark.parametrize("recorded", [False, True])
def test_it_is_a_tuple_with_names(call, recorded):
    name, fields = RESULTS[call]
    setup = "x.requires_grad_(True)\n" if recorded else ""
    count = len(fields)
    first = f"m.{fields[0]}"
    asked = {
        "isinstance(m, tuple), isinstance(m, (list, tuple)), isinstance(m, list)": "True True False",
        "type(m), type(m).__name__": f"<class 'torch.return_types.{name}'> {name}",
        "type(m) == tuple, type(m) == type(m), isinstance(m, type(m))": "False True True",
        "len(m), m.n_fields, m.n_unnamed_fields": f"{count} {count} 0",
        "a is m[0], len(rest), m[-1] is m[len(m) - 1]": f"True {count - 1} True",
        f"{first} is m[0], m[0] is a, type(m[0:1]) == tuple": "True True True",
        "m == m, m != m, m == tuple(m), m is m, m == 3": "True False True True False",
        "len(m + (1,)), type(m + (1,)) == tuple, len(m * 2)": f"{count + 1} True {2 * count}",
        "m.index(m[0]), [v is w for v, w in zip(m, tuple(m))][0]": "0 True",
        "str(m).split('(')[0]": f"torch.return_types.{name}",
    }
    asked.update({f"m.{f} is m[{i}]": "True" for i, f in enumerate(fields)})
    lines = [f"m = {call}", "a, *rest = m", *(f"print({question})" for question in asked)]
    assert _printed(setup + "\n".join(lines)) == list(asked.values())


@pytest.mark.parametrize("change", ["m[0] = 1", "m.values = 1", "m.no_such", "m._fields"])
def test_it_cannot_be_changed_and_has_no_other_names(change):
    program = f"m = x.sort()\ntry:\n    {change}\nexcept (TypeError, AttributeError):\n    print(1)"
    assert _printed(program) == ["1"]


SIZES = {  # recorded from PyTorch 2.13
    "x.shape, x.size(), torch.Size([2, 3]), torch.Size(), torch.Size(range(2))": (
        "torch.Size([2, 2]) torch.Size([2, 2]) torch.Size([2, 3]) torch.Size([]) torch.Size([0, 1])"
    ),
    "isinstance(x.shape, torch.Size), isinstance((2, 2), torch.Size)": "True False",
    "isinstance(x.shape, tuple), isinstance(x.size(), tuple)": "True True",
    "type(x.shape), type(x.shape).__name__": "<class 'torch.Size'> Size",
    "type(x.shape) == torch.Size, type(x.shape) is torch.Size, type(x.shape) == tuple": (
        "True True False"
    ),
    "x.shape == (2, 2), x.shape == torch.Size([2, 2]), x.shape == [2, 2]": "True True False",
    "x.shape + (1,), (1,) + x.shape, x.shape + x.shape": (
        "torch.Size([2, 2, 1]) torch.Size([1, 2, 2]) torch.Size([2, 2, 2, 2])"
    ),
    "x.shape * 2, x.shape[0:1], x.shape[-1], x.shape.numel()": (
        "torch.Size([2, 2, 2, 2]) torch.Size([2]) 2 4"
    ),
    "x.shape.index(2), x.shape.count(2), len(x.shape), 2 in x.shape": "0 2 2 True",
    "{x.shape: 1}[(2, 2)], torch.zeros(torch.Size([2, 1])).shape": "1 torch.Size([2, 1])",
}


@pytest.mark.parametrize("question", SIZES)
def test_a_shape_is_a_size(question):
    assert _printed(f"print({question})") == [SIZES[question]]


@pytest.mark.parametrize("items", ["[1.5]", "['a']", "3"])
def test_a_size_takes_ints_alone(items):
    program = f"try:\n    torch.Size({items})\nexcept TypeError:\n    print(1)"
    assert _printed(program) == ["1"]


KINDS = {
    "1": "int",
    "1.5": "float",
    "True": "bool",
    "'a'": "str",
    "[]": "list",
    "()": "tuple",
    "{}": "dict",
    "{1}": "set",
    "x": "torch.Tensor",
    "x.shape": "torch.Size",
}


@pytest.mark.parametrize("value", KINDS)
def test_a_kind_is_compared_with_the_name_of_one(value):
    names = list(KINDS.values())
    for sign, yes in (("==", True), ("is", True), ("!=", False), ("is not", False)):
        answers = [f"type({value}) {sign} {name}" for name in names]
        wanted = [(name == KINDS[value]) is yes for name in names]
        assert _printed(f"print({', '.join(answers)})") == [" ".join(map(str, wanted))]
    assert _printed(f"print(type({value}) in (None, {KINDS[value]}))") == ["True"]


@pytest.mark.parametrize("kind", ["int", "float", "torch.Tensor"])
@pytest.mark.parametrize("sign", ["==", "is", "!=", "is not"])
def test_compiled_code_compares_kinds_as_a_run(kind, sign):
    program = f"k = x\nif type(x) {sign} {kind}: k = 2 * x\nif type(x) in ({kind}, str): k += 5\nk"
    found = {
        way: load(program).run(x=1.5, options=Options(compile=way)).result
        for way in ("never", "always")
    }
    assert found["always"] == found["never"]
