"""Values that are given for tensors, as code has them."""

import numpy as np
import pytest

from gradcli.engine.tape.tensor import Tensor
from gradcli.questions.coded.given import elements, whole

PLAIN = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
ONES = np.ones(2)

ELEMENTS = [  # a value, a shape, the elements
    (1.5, (), [1.5]),
    (True, (), [True]),
    (1.5, (1,), None),
    (PLAIN, (2, 3), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    (PLAIN, [2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    (PLAIN, (3, 2), None),
    (PLAIN.T, (3, 2), None),  # not contiguous
    (PLAIN.astype(np.int64), (2, 3), [1, 2, 3, 4, 5, 6]),
    (PLAIN.astype(np.float32), (2, 3), None),
    (np.array([True, False]), (2,), [True, False]),
    (np.array(1.5), (), [1.5]),
    (Tensor(ONES), (2,), [1.0, 1.0]),
    ([[1, 2.0], [3, 4]], (2, 2), [1, 2.0, 3, 4]),
    (((1, 2.0), [3, 4]), (2, 2), [1, 2.0, 3, 4]),
    ([ONES, 2 * ONES], (2, 2), [1.0, 1.0, 2.0, 2.0]),
    ([1, 2, 3], (2,), None),
    ([1, 2], (3,), None),
    ([1, 2], (), None),
    ([[1, 2], [3]], (2, 2), None),
    ([[1], [2]], (2,), None),
    ([1, 2], (2, 1), None),
    ("12", (2,), None),
    ("1", (), None),
    (None, (), None),
    ([], (0,), []),
]


@pytest.mark.parametrize(("value", "shape", "expected"), ELEMENTS)
def test_elements_are_those_of_a_value_of_the_shape(value, shape, expected):
    assert repr(elements(value, shape)) == repr(expected)


WHOLE = [  # a value, a dtype, a shape, the array
    (PLAIN, "float64", (2, 3), PLAIN),
    (PLAIN, "float64", [2, 3], PLAIN),
    (PLAIN, "float64", (3, 2), None),
    (PLAIN.T, "float64", (3, 2), None),  # not contiguous
    (PLAIN, "int64", (2, 3), None),
    (ONES.astype(np.int64), "int64", (2,), np.array([1, 1])),
    (ONES.astype(np.int64), "float64", (2,), ONES),
    (ONES.astype(np.float32), "float64", (2,), None),
    (ONES == 1, "bool", (2,), np.array([True, True])),
    (ONES == 1, "float64", (2,), ONES),
    (ONES == 1, "int64", (2,), None),
    (Tensor(ONES), "float64", (2,), ONES),
    ([1, 2.5], "float64", (2,), np.array([1, 2.5])),
    ([1, 2], "float64", (2,), np.array([1.0, 2.0])),
    ([1, 2], "int64", (2,), np.array([1, 2])),
    ([1, 2.5], "int64", (2,), None),
    ([[1], [2]], "float64", (2, 1), np.array([[1.0], [2.0]])),
    ([1, 2, 3], "float64", (2,), None),
    ([1, "2"], "float64", (2,), None),
    ([1.0, 10**400], "float64", (2,), None),  # too large for a float
    ([1, 10**40], "float64", (2,), None),  # too large for an int64
    (None, "float64", (2,), None),
]


@pytest.mark.parametrize(("value", "dtype", "shape", "expected"), WHOLE)
def test_a_whole_value_is_a_contiguous_array_of_the_dtype(value, dtype, shape, expected):
    found = whole(value, dtype, shape)
    assert (found is None) == (expected is None)
    if expected is not None:
        assert found.dtype == expected.dtype == dtype
        assert found.tolist() == expected.tolist()
