"""What goes through a program knows every field of every record."""

import pytest
from support.programs.ir_programs import lowered

from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Source, Span

KINDS = [
    kind
    for kind in vars(ir).values()
    if isinstance(kind, type) and issubclass(kind, ir.Instruction) and kind is not ir.Instruction
]
PLAIN = {  # types of fields that hold nothing of a program to go through
    "Span",
    "bool",
    "str",
    "int | None",
    "tuple[str, tuple[object, ...] | None] | None",
    "tuple[Any, Any] | None",
}
AT = Span(0, 0)


def function(number):
    default = ir.Slot(number + 1, AT)
    parameter = ir.Parameter("p", number, default, AT, "")
    return ir.Function("f", (parameter,), [ir.Watch(AT, number + 2, "x")], (), (), AT)


MADE = {  # by the type of a field: a value for it, and the slots that it reads and writes
    "Operand": lambda n: (ir.Slot(n, AT), [n], []),
    "Slot": lambda n: (ir.Slot(n, AT), [n], []),
    "Operand | None": lambda n: (ir.Slot(n, AT), [n], []),
    "tuple[Operand, ...]": lambda n: ((ir.Slot(n, AT), ir.Slot(n + 1, AT)), [n, n + 1], []),
    "Named": lambda n: ((("k", ir.Slot(n, AT)),), [n], []),
    "Target": lambda n: (n, [], [n]),
    "tuple[Target, ...]": lambda n: ((n, n + 1), [], [n, n + 1]),
    "tuple[tuple[str, Target], ...]": lambda n: ((("k", n),), [], [n]),
    "Body": lambda n: ([ir.Return(AT, ir.Slot(n, AT))], [], []),
    "Function": lambda n: (function(n), [n + 1], []),
    "tuple[Function, ...]": lambda n: ((function(n), function(n + 5)), [n + 1, n + 6], []),
    "tuple[Handler, ...]": lambda n: (
        (ir.Handler([], ir.Slot(n, AT), n + 1, [], AT), ir.Handler([], None, n + 2, [], AT)),
        [n],
        [n + 1, n + 2],
    ),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_every_field_of_a_record_is_gone_through(kind):
    types = visit.field_types(kind)
    known = {text for role in visit.ROLES for text in role}
    assert known == set(MADE), "a new type of field needs an example here"
    values, reads, writes, blocks, functions = [], [], [], [], []
    for number, name in enumerate(kind._fields):
        text = types[name]
        assert text in known or text in PLAIN, f"nobody knows what `{name}: {text}` holds"
        value = None
        if text in MADE:
            value, read, written = MADE[text](100 * number)
            reads += read
            writes += written
        blocks += [value] if text == "Body" else []
        if text == "tuple[Handler, ...]":
            blocks += [block for handler in value for block in (handler.test, handler.body)]
        functions += [value] if text == "Function" else []
        functions += value if text == "tuple[Function, ...]" else []
        values.append(AT if text == "Span" else value)
    made = kind(*values)
    assert [slot.index for slot in visit.reads(made)] == reads
    assert sorted(visit.writes(made)) == sorted(writes)
    assert list(visit.blocks(made)) == blocks
    assert list(visit.functions(made)) == functions


def test_blocks_are_gone_through_in_order_and_functions_one_by_one():
    program = lowered(
        Source("t", "if x:\n    a = 1\nelse:\n    a = 2\ndef f():\n    b = 3\n    return b\na\n")
    )
    own = [type(i).__name__ for i in visit.instructions(program.main.body)]
    assert own == ["Input", "Branch", "Copy", "Copy", "Define"]
    values = [i.value.value for i in visit.instructions(program.main.body) if type(i) is ir.Copy]
    assert values == [1, 2]
    names = [f.name for f in visit.all_functions(program.main)]
    assert names == ["<program>", "f"]
    assert [type(i).__name__ for i in visit.everything(program)][-2:] == ["Copy", "Return"]


def test_constants_and_built_ins_are_operands_and_no_reads():
    (i,) = [
        i
        for i in visit.everything(lowered(Source("t", "y = [1, relu, pi]\n")))
        if type(i) is ir.Build
    ]
    assert len(list(visit.operands(i))) == 3
    assert list(visit.reads(i)) == []
