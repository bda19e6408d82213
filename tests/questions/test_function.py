"""Programs as functions of arrays: which inputs they take, their shapes, and points one by one."""

import numpy as np
import pytest

from gradcli.errors import InputError
from gradcli.program import load
from gradcli.questions.asked.sizes import declared

DECLARED = [
    ("input x", ()),
    ("input x = 1.5", ()),
    ("input x: int = 3", ()),
    ("input x: float", ()),
    ("input x: float[3]", (3,)),
    ("input x: float[2,3]", (2, 3)),
    ("input x: float[2,3] = [[1, 2, 3], [4, 5, 6]]", (2, 3)),
    ("input x: float[n]", ("n",)),
    ("input x: float[2,n]", (2, "n")),
    ("input x = [1.0, 2.0, 3.0]", (3,)),
    ("input x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", (2, 3)),
    ("input x = (1.0, 2.0)", ()),
    ("input x = []", (0,)),
    ("input x = [2 * [1.0, 2.0], [3.0]]", (2,)),
    ("input x = len([1.0, 2.0])", ()),
    ("input x: float = 2.0 * 3", ()),
]


@pytest.mark.parametrize(("text", "shape"), DECLARED)
def test_the_shape_of_an_input_is_the_declared_one(text, shape):
    (found,) = load(f"{text}\n1.0").loaded.program.inputs
    assert declared(found) == shape


TWO = "input v: float[2]\ninput s\ninput k = 2.0\n(v * v).sum() * s * k + v[0]"


def both(v, s, k=2.0):
    """Value and slopes by the elements of v and by s."""
    total = v[0] ** 2 + v[1] ** 2
    return total * s * k + v[0], [2 * v[0] * s * k + 1, 2 * v[1] * s * k, total * k]


POINTS = {  # the names, the points, the other inputs; value and slopes
    "one point": ("v,s", [1.0, 3.0, 0.5], {}, both((1.0, 3.0), 0.5)),
    "another input": ("v,s", [1.0, 3.0, 0.5], {"k": 4.0}, both((1.0, 3.0), 0.5, 4.0)),
    "names in another order": (
        "s,v",
        [0.5, 1.0, 3.0],
        {},
        (both((1.0, 3.0), 0.5)[0], [both((1.0, 3.0), 0.5)[1][k] for k in (2, 0, 1)]),
    ),
    "a name alone": ("s", [0.5], {"v": [1.0, 3.0]}, (both((1.0, 3.0), 0.5)[0], [20.0])),
    "a number": ("s", 0.5, {"v": [1.0, 3.0]}, (both((1.0, 3.0), 0.5)[0], [20.0])),
}


@pytest.mark.parametrize(("names", "at", "inputs", "expected"), POINTS.values(), ids=POINTS)
def test_a_point_has_its_value_and_slopes(names, at, inputs, expected):
    f = load(TWO).compile(names)
    value, slopes = f(at, **inputs)
    assert (value, slopes.tolist()) == expected
    assert type(value) is float
    assert f.value(at, **inputs) == value
    assert f.derivative(at, **inputs).tolist() == slopes.tolist()


def test_any_argument_may_have_many_points():
    f = load(TWO).compile("v,s")
    points = [[1.0, 3.0, 0.5], [2.0, -1.0, 4.0]]
    for given, several in (({}, (2.0, 2.0)), ({"k": [4.0, 5.0]}, (4.0, 5.0))):
        value, slopes = f(points, **given)
        expected = [both(p[:2], p[2], k) for p, k in zip(points, several, strict=True)]
        assert [(v, s) for v, s in zip(value.tolist(), slopes.tolist(), strict=True)] == expected
    value, slopes = f(points[0], k=[4.0, 5.0])  # the point is the same for all
    assert value.tolist() == [both((1.0, 3.0), 0.5, k)[0] for k in (4.0, 5.0)]
    assert slopes.tolist() == [both((1.0, 3.0), 0.5, k)[1] for k in (4.0, 5.0)]
    by_s = load(TWO).compile("s")
    value, slopes = by_s([[0.5], [4.0]], v=[[1.0, 3.0], [2.0, -1.0]])
    assert value.tolist() == [both(p[:2], p[2])[0] for p in points]
    value, slopes = by_s([[0.5], [4.0]], v=[1.0, 3.0])
    assert slopes.tolist() == [[20.0], [20.0]]


def test_a_vector_has_its_own_axis_before_the_names():
    f = load("input v: float[2]\ninput s\nv * v * s").compile("v,s")
    value, slopes = f([1.0, 3.0, 0.5])
    assert value.tolist() == [0.5, 4.5]
    assert slopes.tolist() == [[1.0, 0.0, 1.0], [0.0, 3.0, 9.0]]
    values, slopes = f([[1.0, 3.0, 0.5], [2.0, 1.0, 2.0]])
    assert values.tolist() == [[0.5, 4.5], [8.0, 2.0]]
    assert slopes.tolist() == [
        [[1.0, 0.0, 1.0], [0.0, 3.0, 9.0]],
        [[8.0, 0.0, 4.0], [0.0, 4.0, 1.0]],
    ]


def test_points_that_code_cannot_have_are_interpreted():
    f = load("input s\ninput k: int = 1\nlog(s) * k").compile("s")
    value, slopes = f([[1.0], [-1.0], [2.0]], k=3)
    assert np.isnan(value).tolist() == np.isnan(slopes[:, 0]).tolist() == [False, True, False]
    assert slopes[[0, 2], 0].tolist() == [3.0, 1.5]


UNFIT = [  # names, points, other inputs, what is said
    ("v,s", [1.0, 3.0], {}, "3 numbers to differentiate by, got shape \\[2\\]"),
    ("v,s", [[[1.0, 3.0, 0.5]]], {}, "3 numbers .* got shape \\[1, 1, 3\\]"),
    ("v,s", 1.0, {}, "3 numbers .* got shape \\[\\]"),
    ("s", [[1.0, 2.0]], {"v": [1.0, 3.0]}, "1 numbers .* got shape \\[1, 2\\]"),
    ("v,s", [[1.0, 3.0, 0.5]] * 2, {"k": [1.0] * 3}, "v \\[2, 2\\], s \\[2\\], k \\[3\\]"),
    ("v,s", [1.0, 3.0, 0.5], {"k": [[1.0]]}, "no one number of points: .* k \\[1, 1\\]"),
    ("s", [0.5], {"v": [1.0, 2.0, 3.0]}, "`v` is declared with shape \\[2\\], got shape \\[3\\]"),
    ("s", [0.5], {"v": 1.0}, "`v` is declared with shape \\[2\\], got shape \\[\\]"),
]


@pytest.mark.parametrize(("names", "at", "inputs", "says"), UNFIT)
def test_arguments_of_other_shapes_are_refused(names, at, inputs, says):
    with pytest.raises(InputError, match=says):
        load(TWO).compile(names)(at, **inputs)


OVER = {  # the program, the names, the point, its data for five records
    "numbers": ("input t\nparam a\nparam k\na * exp(-k * t)", [2.0, 0.3], {"t": 5}),
    "a tensor": (TWO.replace("input s", "input s: float"), [1.0, 3.0, 0.5], {"k": 5}),
    "one value for all": (
        "input t\ninput u\nparam a\nparam k\na * u * k ** t",
        [2.0, 0.3],
        {"t": 5, "u": 0},
    ),
    "vectors": ("input t: float[3]\nparam w: float[3]\n(w * t).sum() ** 2", [1, 2, 3], {"t": (5, 3)}),
    "rows by the interpreter": (
        "input t\nparam a\nparam k\na * log(t) if t > 0.4 else a / k ** 400", [2.0, 0.1], {"t": 5}
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "point", "sizes"), OVER.values(), ids=OVER)
def test_bound_records_have_the_bits_of_a_call(text, point, sizes):
    """Columns that are prepared once give what they give when they are given at each call."""
    names = ["v", "s"] if "v:" in text else [n for n in ("a", "k", "w") if f"param {n}" in text]
    function = load(text).compile(names)
    random = np.random.default_rng(5)
    data = {n: random.random(size or ()) for n, size in sizes.items()}
    at = function.over(len(point), **data)
    for moved in (0.0, 0.25):
        there = np.array(point) + moved
        for one, other in zip(at(there), function(there, **data), strict=True):
            np.testing.assert_array_equal(one, other)


def test_bound_records_of_several_lengths_are_refused():
    function = load("input t\ninput u\nparam a\na * t * u").compile("a")
    with pytest.raises(InputError, match="of no one number of points"):
        function.over(1, t=np.ones(3), u=np.ones(2))
