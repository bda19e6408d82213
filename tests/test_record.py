"""Records however their fields are given."""

import inspect

import pytest

from gradcli import results, views
from gradcli.record import Record


def kind(count, **defaults):
    """A kind of records of so many fields: a, b, ..."""
    fields = tuple("abcdefgh"[:count])
    return type("Kind", (Record,), {"__slots__": fields, "_defaults": defaults})


@pytest.mark.parametrize("count", range(1, 9))
def test_fields_are_given_by_place_and_by_name(count):
    made, values = kind(count), [*range(count)]
    for _ in range(3):  # the first one of a kind is made in another way than the others
        for by_place in range(count + 1):
            named = dict(zip("abcdefgh"[by_place:count], values[by_place:], strict=True))
            one = made(*values[:by_place], **named)
            assert [getattr(one, name) for name in made._fields] == values


def test_defaults_stand_for_what_is_left_out():
    made = kind(4, c=[], d=None)
    for _ in range(2):
        assert made(1, 2) == made(1, b=2, c=[]) == made(1, 2, [], None) == made(a=1, b=2)
        assert made(1, 2, 3).c == 3
        assert made(1, 2, d=4).d == 4


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        ((1,), {}),
        ((1, 2, 3, 4, 5), {}),
        ((1, 2, 3, 4), {"d": 5}),
        ((1, 2), {"b": 3}),
        ((1, 2, 3), {"c": 3}),
        ((1,), {"c": 3}),
        ((1,), {"d": 3, "c": 2}),
    ],
)
def test_too_few_and_too_many_are_refused(values, named):
    made = kind(4, c=0, d=0)
    for _ in range(2):
        with pytest.raises(TypeError, match="takes"):
            made(*values, **named)
        made(1, 2, 3, 4)


def test_a_field_that_there_is_not_is_refused():
    made = kind(2)
    for _ in range(2):
        with pytest.raises((TypeError, AttributeError)):
            made(1, x=2)
        made(1, 2)


KINDS = {
    name: kind
    for name, kind in [*vars(results).items(), *vars(views).items()]
    if isinstance(kind, type) and issubclass(kind, results.Result)
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_result_has_a_slot_for_each_annotation(kind):
    own = [n for n, t in inspect.get_annotations(kind).items() if not t.startswith("ClassVar")]
    assert set(own) <= set(kind._fields), kind
    made = kind(*range(len(kind._fields)))
    assert not hasattr(made, "__dict__"), f"{kind}: all that it has is in slots"
    for place, name in enumerate(kind._fields):
        assert getattr(made, name) == place, (kind, name)
    with pytest.raises(AttributeError, match="cannot be changed"):
        made.other = 1
