"""Every lowering keeps to the rules of the ops program, and each rule sees what breaks it."""

import pytest
from support.checks.amounts import chunks
from support.programs.generated_programs import Writer, aliased
from support.programs.grammar_programs import FakeSignatures, text
from support.programs.ir_programs import BUILTINS, lowered, sources

from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import analyse
from gradcli.grammar.syntax.parser import parse
from gradcli.ir import program as ir
from gradcli.ir.validate import faults
from gradcli.source import Source, Span

SOURCES = dict(sources())
AT = Span(0, 1)


@pytest.mark.parametrize("name", SOURCES)
def test_samples_and_forms_keep_to_the_rules(name):
    assert faults(lowered(SOURCES[name]), BUILTINS) == []


@pytest.mark.parametrize("first", chunks(50, 500, 50))
def test_generated_programs_keep_to_the_rules(first):
    for seed in range(first, first + 50):
        for program in (Writer(seed).program(), aliased(seed)[0]):
            found = faults(lowered(Source("t", program)), BUILTINS)
            assert found == [], f"seed {seed}:\n{program}"


@pytest.mark.parametrize("first", chunks(100, 1000, 100))
def test_random_texts_that_pass_the_check_keep_to_the_rules(first):
    tried = 0
    builtins = FakeSignatures()
    for seed in range(first, first + 100):
        source = Source("t", text(seed))
        module = parse(source)
        names = analyse(module, builtins, frozenset())
        found = check(module, source, builtins, frozenset(), names)
        if all(finding.severity != "error" for finding in found):
            tried += 1
            assert faults(lower(module, names, source), builtins) == [], f"seed {seed}"
    assert tried > 15, f"only {tried} texts pass the check"


# each rule is broken -----------------------------------------------------------------------------

X = ir.Slot(1, AT)
Y = ir.Slot(2, AT)
ONE = ir.Const(1, AT)
NEVER = ir.Slot(9, AT)


def made(*body, **changed):
    """A program of the slots x and y."""
    main = ir.Function("<program>", (), list(body), (1, 2), (), AT)
    fields = {
        "source": Source("t", "x = 1\ny = 2\n"),
        "main": main,
        "names": {"x": 1, "y": 2},
        "variables": {1: "x", 2: "y"},
        "inputs": tuple(i for i in body if isinstance(i, ir.Input)),
        "result": None,
        "output": "result",
        "watchable": frozenset(),
        "library": "torch",
    }
    return ir.Program(**{**fields, **changed})


def function(*body, name="f", parameters=(), own=(3,), captures=()):
    return ir.Function(name, parameters, list(body), own, captures, AT)


def define(*body, **fields):
    return ir.Define(AT, 1, function(*body, **fields))


def main(*, own=(1, 2), captures=(), parameters=(), span=AT):
    return ir.Function("<program>", parameters, [], own, captures, span)


def choice(then, orelse, kind="if"):
    return ir.Choice(AT, 1, kind, Y, then, orelse)


GIVES = ir.Yield(AT, ONE)
INPUT = ir.Input(AT, 1, "x", "input", None, (), [], None, True, None)

RIGHT = {
    "nothing": made(),
    "a copy": made(ir.Copy(AT, 1, ONE), ir.Copy(AT, 2, X), result=Y),
    "a loop": made(ir.For(AT, 1, Y, [ir.Branch(AT, X, [ir.Break(AT)], [ir.Continue(AT)])])),
    "a choice": made(choice([GIVES], [ir.Copy(AT, 1, ONE), GIVES])),
    "a function": made(define(ir.Copy(AT, 3, X), ir.Return(AT, Y), captures=(1, 2))),
    "a name around a function": made(define(ir.Copy(AT, 1, ONE), captures=(1,))),
    "an input": made(INPUT, ir.Watch(AT, 1, "x")),
    "bound": made(ir.Apply(AT, 1, "sum", (("input", Y), ("dim", ONE)))),
    "a sign": made(ir.Operator(AT, 1, "-", (Y,)), ir.Operator(AT, 1, "-", (Y, Y))),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_keeps_to_the_rules_is_passed(name):
    assert faults(RIGHT[name], BUILTINS) == []


WRONG = {
    "read from nowhere": (made(ir.Copy(AT, 1, NEVER)), "slot 9 is read and neither"),
    "a result from nowhere": (made(result=NEVER), "slot 9 is read and neither"),
    "a default from nowhere": (
        made(define(parameters=(ir.Parameter("p", 3, NEVER, AT, ""),))),
        "slot 9 is read and neither",
    ),
    "not captured": (made(define(ir.Return(AT, X))), "slot 1 is read and neither"),
    "captured from nowhere": (made(define(captures=(9,))), "f captures 9"),
    "written outside": (
        made(define(ir.Copy(AT, 1, ONE))),
        "slot 1 is written and is none of f",
    ),
    "written nowhere": (made(ir.Copy(AT, 9, ONE)), "slot 9 is written and is none of"),
    "a parameter elsewhere": (
        made(define(parameters=(ir.Parameter("p", 4, None, AT, ""),))),
        "the parameter p of f is no slot of its own",
    ),
    "a slot of two": (made(define(own=(1,))), "slot 1 is owned twice"),
    "main captures": (made(main=main(captures=(1,))), "main has parameters or captures"),
    "a name without a slot": (made(names={"z": 7}), "the top-level name `z` has no slot"),
    "a name of another": (made(variables={1: "y", 2: "x"}), "the top-level name `x` has no"),
    "an input that is not listed": (made(INPUT, inputs=()), "the listed inputs are not"),
    "an input in a function": (made(define(ir.Watch(AT, 3, "x"))), "an input in a function"),
    "break": (made(ir.Break(AT)), "break outside a loop"),
    "continue": (
        made(ir.Branch(AT, X, [ir.Continue(AT)], [])),
        "continue outside a loop",
    ),
    "break in a function in a loop": (
        made(ir.For(AT, 2, X, [define(ir.Break(AT))])),
        "break outside a loop",
    ),
    "break in a condition": (
        made(ir.While(AT, [ir.Break(AT)], X, [])),
        "break outside a loop",
    ),
    "return": (made(ir.Return(AT, ONE)), "return outside a function"),
    "yield": (made(GIVES), "yield that does not end a block of a choice"),
    "yield too early": (
        made(choice([GIVES, GIVES], [GIVES])),
        "yield that does not end a block of a choice",
    ),
    "no yield": (made(choice([GIVES], [])), "a block of the choice does not yield"),
    "a strange choice": (made(choice([GIVES], [GIVES], "xor")), "no choice `xor`"),
    "a strange operator": (made(ir.Operator(AT, 1, "<>", (X, Y))), "no operator `<>` of 2"),
    "an operator of three": (made(ir.Operator(AT, 1, "+", (X, Y, X))), "no operator `+` of 3"),
    "a strange update": (made(ir.Augment(AT, 1, "not", X, Y)), "no operator `not` of 2"),
    "a strange built-in": (made(ir.Apply(AT, 1, "nope", ())), "no built-in `nope`"),
    "a strange value": (made(ir.Copy(AT, 1, ir.Builtin("nope", AT))), "no built-in `nope`"),
    "a strange call": (made(ir.CallBuiltin(AT, 1, "nope_", (), ())), "no built-in `nope_`"),
    "an alias": (
        made(ir.Apply(AT, 1, "sum", (("input", Y), ("axis", ONE)))),
        "arguments of `sum` that are not its own: input, axis",
    ),
    "an argument twice": (
        made(ir.Apply(AT, 1, "sum", (("input", Y), ("input", X)))),
        "arguments of `sum` that are not its own",
    ),
    "an argument too few": (made(ir.Apply(AT, 1, "add", (("input", Y),))), "`add` lacks"),
    "bound and variadic": (
        made(ir.Apply(AT, 1, "reshape", (("input", Y), ("shape", X)))),
        "the arguments of `reshape` cannot be bound",
    ),
    "a span outside": (
        made(ir.Copy(Span(3, 100), 1, ONE)),
        "lies outside the text: 3-100",
    ),
    "a span turned round": (made(ir.Copy(Span(3, 2), 1, ONE)), "lies outside the text: 3-2"),
    "an operand outside": (
        made(ir.Copy(AT, 1, ir.Const(1, Span(-1, 2)))),
        "an operand lies outside the text",
    ),
    "a function outside": (made(main=main(span=Span(0, 99))), "lies outside the text: 0-99"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_breaks_a_rule_is_found(name):
    broken, says = WRONG[name]
    found = faults(broken, BUILTINS)
    assert any(says in fault for fault in found), found
