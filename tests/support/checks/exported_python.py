"""Run exported Python, and read it."""

import ast


def function_of(text: str, name: str):
    """The function of a text."""
    made: dict = {}
    exec(compile(text, f"{name}.py", "exec"), made)
    return made[name]


def hold_names(text: str) -> None:
    """Fail if a text imports more than NumPy and math, or has a variable that nothing reads."""
    tree = ast.parse(text)
    imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    assert {a.name for n in imports for a in n.names} <= {"annotations", "math", "numpy"}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            every = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
            read = {n.id for n in every if isinstance(n.ctx, ast.Load)}
            assert {n.id for n in every if isinstance(n.ctx, ast.Store)} <= read | {"_"}
