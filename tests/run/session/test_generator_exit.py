"""A generator that is closed sees `GeneratorExit`, as in Python."""

import io
from contextlib import redirect_stdout

import pytest

from gradcli.errors import GradError
from gradcli.program import load

GENERATORS = {
    "again": """
def g(log):
    try:
        yield 1
    except GeneratorExit:
        log.append('exit')
        raise
    finally:
        log.append('finally')
""",
    "by name": """
def g(log):
    try:
        try:
            yield 1
        except Exception:
            log.append('never')
        except BaseException as e:
            log.append(type(e).__name__)
            raise e
    finally:
        log.append('finally')
""",
    "inner": """
def inner(log):
    try:
        yield 1
    except GeneratorExit:
        log.append('inner')
        raise
def g(log):
    try:
        yield from inner(log)
    except GeneratorExit:
        log.append('outer')
        raise
""",
    "returns": """
def g(log):
    try:
        yield 1
    except GeneratorExit:
        log.append('ends')
        return
""",
    "passes": """
def g(log):
    try:
        yield 1
    except ValueError:
        log.append('never')
    finally:
        log.append('finally')
""",
}
ENDS = {
    "close": "c.close()",
    "throw": "try:\n    c.throw(GeneratorExit())\nexcept (GeneratorExit, StopIteration) as e:\n"
    "    log.append(type(e).__name__)",
    "forgotten": "c = None",
}
ASKS = "log = []\nc = g(log)\nnext(c)\n"


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", GENERATORS)
def test_a_generator_sees_its_end_as_in_python(name, end):
    program = f"{GENERATORS[name]}{ASKS}{ENDS[end]}\nprint(log)"
    out = io.StringIO()
    with redirect_stdout(out):
        exec(compile(program, "program", "exec"), {})
    assert list(load(program).run().printed) == out.getvalue().splitlines()


@pytest.mark.parametrize("mode", ["no_grad", "enable_grad"])
def test_the_handler_has_the_mode_of_its_generator(mode):
    body = GENERATORS["again"].replace("'exit'", "torch.is_grad_enabled()")
    program = f"import torch\n@torch.{mode}(){body}{ASKS}c.close()\nprint(log)"
    program = f"{program}\nprint(torch.is_grad_enabled())"
    assert load(program).run().printed == (f"[{mode == 'enable_grad'}, 'finally']", "True")


GOES_ON = "def g(log):\n    try:\n        yield 1\n    except GeneratorExit:\n        yield 2\n"


def test_a_generator_that_goes_on_when_it_is_closed_is_refused():
    with pytest.raises(GradError) as caught:
        load(f"{GOES_ON}{ASKS}c.close()").run()
    assert "when it was closed" in caught.value.diagnostics[0].message
    told = f"{GOES_ON}{ASKS}try:\n    c.close()\nexcept RuntimeError as e:\n    print(e)"
    assert load(told).run().printed == ("generator ignored GeneratorExit",)
