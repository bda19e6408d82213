"""From the syntax tree back to text: `parse(unparse(module)) == module`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from gradcli.grammar import ast

INDENT = "    "

# How tightly forms bind, from the loosest; each stands bare where at most its own is asked for.
_TUPLE, _TEST, _IF_ELSE, _OR, _AND, _NOT, _COMPARE, _BIT_OR = range(8)
_FACTOR, _POWER, _POSTFIX, _ATOM = range(12, 16)
_BINARY = {
    **dict.fromkeys("|", _BIT_OR),
    **dict.fromkeys("^", _BIT_OR + 1),
    **dict.fromkeys("&", _BIT_OR + 2),
    **dict.fromkeys(("+", "-"), _BIT_OR + 3),
    **dict.fromkeys(("*", "/", "//", "%", "@"), _BIT_OR + 4),
    "**": _POWER,
}
_QUOTES = ('"', "'", '"""', "'''")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def unparse(module: ast.Module) -> str:
    """The text of a program, in the one way in which this package writes programs."""
    return "".join(line + "\n" for line in _block(module.body, ""))


def unparse_expression(expr: ast.Expr) -> str:
    """The text of an expression."""
    return _expr(expr, _TUPLE)


# --- statements -------------------------------------------------------------------------------


def _block(body: Iterable[ast.Statement], indent: str) -> Iterator[str]:
    for statement in body:
        yield from _statement(statement, indent)


def _compound(head: str, body: tuple[ast.Statement, ...], indent: str) -> Iterator[str]:
    yield f"{indent}{head}:"
    yield from _block(body, indent + INDENT)


def _statement(statement: ast.Statement, indent: str) -> Iterator[str]:
    match statement:
        case ast.If():
            yield from _if(statement, indent)
        case ast.While():
            yield from _compound(f"while {_test(statement.test)}", statement.body, indent)
        case ast.For():
            target, iterable = _targets(statement.target), _list(statement.iterable)
            yield from _compound(f"for {target} in {iterable}", statement.body, indent)
        case ast.With():
            yield from _compound(f"with {_test(statement.context)}", statement.body, indent)
        case ast.Def():
            for decorator in statement.decorators:
                yield f"{indent}@{decorator}"
            head = f"def {statement.name}({_params(statement.params)})"
            yield from _compound(head, statement.body, indent)
        case ast.Class():
            head = f"class {statement.name}({_test(statement.base)})"
            yield from _compound(head, statement.body, indent)
        case _:
            yield indent + _simple(statement)


def _if(statement: ast.If, indent: str) -> Iterator[str]:
    word = "if"
    while True:
        yield from _compound(f"{word} {_test(statement.test)}", statement.body, indent)
        orelse = statement.orelse
        if not (len(orelse) == 1 and isinstance(orelse[0], ast.If)):
            break
        word, statement = "elif", orelse[0]
    if orelse:
        yield from _compound("else", orelse, indent)


_Compound = ast.If | ast.While | ast.For | ast.With | ast.Def | ast.Class


def _simple(statement: ast.Statement) -> str:
    assert not isinstance(statement, _Compound)
    match statement:
        case ast.Assign(targets=targets, value=value):
            return " = ".join(_list(side) for side in (*targets, value))
        case ast.Update(target=target, op=op, value=value):
            return f"{_list(target)} {op}= {_list(value)}"
        case ast.ExprStatement(value=value):
            return _list(value)
        case ast.Break():
            return "break"
        case ast.Continue():
            return "continue"
        case ast.Pass():
            return "pass"
        case ast.Assert(test=test, message=message):
            return f"assert {_test(test)}" + (f", {_test(message)}" if message is not None else "")
        case ast.Return(value=result):
            return "return" if result is None else f"return {_list(result)}"
        case ast.Declaration():
            return _declaration(statement)
        case ast.Import(module=module, names=names):
            return _import(module, names)
        case _:
            assert_never(statement)


def _declaration(statement: ast.Declaration) -> str:
    text = f"{statement.kind} {statement.name}"
    if statement.type is not None:
        text += f": {statement.type.kind}"
        if statement.type.sizes is not None:
            sizes = ("..." if size is ... else str(size) for size in statement.type.sizes)
            text += f"[{', '.join(sizes)}]"
    if statement.default is not None:
        text += f" = {_list(statement.default)}"
    return text


def _import(module: str, names: tuple[tuple[str, str], ...]) -> str:
    if names[0][0] == "":
        return f"import {_renamed(module, names[0][1])}"
    return f"from {module} import {', '.join(_renamed(*pair) for pair in names)}"


def _renamed(name: str, alias: str) -> str:
    return f"{name} as {alias}" if alias else name


def _params(params: tuple[ast.Param, ...]) -> str:
    return ", ".join(
        param.name if param.default is None else f"{param.name}={_test(param.default)}"
        for param in params
    )


# --- expressions ------------------------------------------------------------------------------


def _test(expr: ast.Expr) -> str:
    """An expression where a tuple needs parentheses."""
    return _expr(expr, _TEST)


def _list(expr: ast.Expr) -> str:
    """An expression where a tuple stands bare."""
    return _expr(expr, _TUPLE)


def _targets(target: ast.Expr) -> str:
    """The targets of a `for`, where `in` would end the expression."""
    if isinstance(target, ast.Tuple) and target.items:
        return _items(_expr(item, _BIT_OR) for item in target.items)
    return _expr(target, _BIT_OR)


def _items(items: Iterable[str]) -> str:
    texts = list(items)
    return ", ".join(texts) + ("," if len(texts) == 1 else "")


def _expr(expr: ast.Expr, least: int, taken: tuple[str, ...] = ()) -> str:
    """Text of an expression, in parentheses if it binds looser than `least`. `taken` are the
    quotes of the f-strings around.
    """
    text, level = _bare(expr, taken)
    return f"({text})" if level < least else text


def _bare(expr: ast.Expr, taken: tuple[str, ...]) -> tuple[str, int]:
    """Text of an expression without parentheses, and how tightly it binds."""

    def sub(part: ast.Expr, least: int = _TEST) -> str:
        return _expr(part, least, taken)

    match expr:
        case ast.Literal(value=value):
            return _literal(value, taken), _ATOM
        case ast.FString():
            return _fstring(expr, taken), _ATOM
        case ast.Name(id=name):
            return name, _ATOM
        case ast.List(items=items):
            return f"[{', '.join(map(sub, items))}]", _ATOM
        case ast.Tuple(items=items):
            return (_items(map(sub, items)), _TUPLE) if items else ("()", _ATOM)
        case ast.Unary(op="not", operand=operand):
            return f"not {sub(operand, _NOT)}", _NOT
        case ast.Unary(op=op, operand=operand):
            return f"{op}{sub(operand, _FACTOR)}", _FACTOR
        case ast.Binary(op="**", left=left, right=right):
            return f"{sub(left, _POSTFIX)} ** {sub(right, _FACTOR)}", _POWER
        case ast.Binary():
            return _chain(expr, taken)
        case ast.Compare(first=first, ops=ops, rest=rest):
            tail = (f" {op} {sub(part, _BIT_OR)}" for op, part in zip(ops, rest, strict=True))
            return sub(first, _BIT_OR) + "".join(tail), _COMPARE
        case ast.Boolean(op=op, values=values):
            level = _OR if op == "or" else _AND
            return f" {op} ".join(sub(value, level + 1) for value in values), level
        case ast.IfElse(test=test, then=then, orelse=orelse):
            text = f"{sub(then, _OR)} if {sub(test, _OR)} else {sub(orelse)}"
            return text, _IF_ELSE
        case ast.Lambda(params=params, body=body):
            names = (p.name if p.default is None else f"{p.name}={sub(p.default)}" for p in params)
            head = f"lambda {', '.join(names)}" if params else "lambda"
            return f"{head}: {sub(body)}", _TEST
        case ast.Call(function=function, args=args, keywords=keywords):
            named = (f"{keyword.name}={sub(keyword.value)}" for keyword in keywords)
            return f"{sub(function, _POSTFIX)}({', '.join((*map(sub, args), *named))})", _POSTFIX
        case ast.Index(value=value, index=index):
            return f"{sub(value, _POSTFIX)}[{sub(index, _TUPLE)}]", _POSTFIX
        case ast.Slice(start=start, stop=stop, step=step):
            text = f"{sub(start) if start else ''}:{sub(stop) if stop else ''}"
            return text + (f":{sub(step)}" if step is not None else ""), _TEST
        case ast.Attribute(value=ast.Literal(value=int() | float()) as number, name=name):
            return f"({sub(number)}).{name}", _POSTFIX
        case ast.Attribute(value=value, name=name):
            return f"{sub(value, _POSTFIX)}.{name}", _POSTFIX
        case _:
            assert_never(expr)


def _chain(expr: ast.Binary, taken: tuple[str, ...]) -> tuple[str, int]:
    """A chain `a + b - c ...`, which may be long, from its end."""
    level = _BINARY[expr.op]
    tail: list[str] = []
    left: ast.Expr = expr
    while isinstance(left, ast.Binary) and _BINARY[left.op] == level:
        tail.append(f" {left.op} {_expr(left.right, level + 1, taken)}")
        left = left.left
    return _expr(left, level, taken) + "".join(reversed(tail)), level


# --- literals ---------------------------------------------------------------------------------


def _literal(value: object, taken: tuple[str, ...]) -> str:
    if isinstance(value, str):
        quote = _free_quotes(taken)[0]
        return f"{quote}{_escape(value, quote, bool(taken))}{quote}"
    return "..." if value is ... else repr(value)


def _free_quotes(taken: tuple[str, ...]) -> list[str]:
    """The quotes that hold none of the quotes around."""
    free = [quote for quote in _QUOTES if not any(outer in quote for outer in taken)]
    if not free:
        raise ValueError("f-strings are nested deeper than there are kinds of quotes")
    return free


def _escape(text: str, quote: str, nested: bool) -> str:
    """Text for between quotes; inside an f-string no quote may stand in it, not even escaped."""
    return "".join(_character(char, quote, nested) for char in text)


def _character(char: str, quote: str, nested: bool) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char in "\"'" and (nested or char == quote[0]):
        return f"\\x{ord(char):02x}" if nested else f"\\{char}"
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _fstring(expr: ast.FString, taken: tuple[str, ...]) -> str:
    """An f-string with the first quotes that leave some for the strings inside."""
    for quote in _free_quotes(taken):
        try:
            body = "".join(_piece(part, quote, taken, spec=False) for part in expr.parts)
        except ValueError:
            continue
        return f"f{quote}{body}{quote}"
    raise ValueError("f-strings are nested deeper than there are kinds of quotes")


def _piece(
    part: ast.Literal | ast.Formatted, quote: str, taken: tuple[str, ...], *, spec: bool
) -> str:
    if isinstance(part, ast.Literal):
        text = _escape(str(part.value), quote, bool(taken))
        if spec:
            return text.replace("{", "\\x7b").replace("}", "\\x7d")
        return text.replace("{", "{{").replace("}", "}}")
    inside = (*taken, quote)
    value = part.debug
    if not value:
        value = _expr(part.value, _TUPLE, inside)
        if "lambda" in value:  # its `:` would begin the format
            value = f"({value})"
    elif any(outer in value for outer in inside):
        raise ValueError("the text of the value holds the quotes around it")
    conversion = f"!{part.conversion}" if part.conversion else ""
    pieces = "".join(_piece(piece, quote, taken, spec=True) for piece in part.spec)
    return f"{{{value}{conversion}{':' + pieces if pieces else ''}}}"
