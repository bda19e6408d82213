"""Small programs for each form of the language, with golden files of the lowered program.

`python tests ir_programs` writes the golden files anew.
"""

from pathlib import Path

from gradcli.engine.run.language.names import Builtins
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import analyse
from gradcli.grammar.syntax.parser import parse
from gradcli.ir.text import text
from gradcli.source import Source

HERE = Path(__file__).parents[2]
GOLDEN = HERE / "golden" / "ir"
SAMPLES = HERE.parent / "samples"
BUILTINS = Builtins()

FORMS = {
    "arguments": """
x = tensor([[1.0, 2.0], [3.0, 4.0]])
a = sum(x, 1, True)
b = x.sum(axis=-1, keepdims=True)
c = torch.sum(input=x)
d = x.where(x > 0, 0.0)
e = clamp(x, max=1)
f = x.reshape(2, -1).permute(1, 0)
g = max(a.sum(), b.sum())
h = x.add_(1, alpha=2)
i = x.softmax(0, 1, 2, 3)
""",
    "attributes": """
x = tensor(2.0, requires_grad=True)
y = x ** 2
y.backward(retain_graph=True)
x.grad.zero_()
x.grad = None
x.data *= 2
y.grad_fn.next_functions[0]
del x.grad
""",
    "chains": """
a < b < c
a == b != c >= 1 > d
print(f"{a < b < c}", [a < b, b < c < d][0])
""",
    "choices": """
a = x and y
b = x or y or 3
c = x if y else z if a else b
d = (a and b or c) if not (a or b) else x < y and y < 2
print(a and b, 1 if c else d)
""",
    "classes": """
class Shape:
    count = 0
    sides = count + 3
    def __init__(self, size=1):
        self.size = size
        Shape.count += 1
    @property
    def area(self):
        return self.size ** 2
    @staticmethod
    def unit():
        return Shape()
class Cube(Shape):
    def __init__(self, size):
        super().__init__(size)
    def relu(self):
        return lambda: super().area
Cube(2).relu()() + Shape.unit().area
""",
    "exceptions": """
def safe(a, b):
    try:
        if b == 0:
            raise ZeroDivisionError("b")
        return a // b
    except (ValueError, ZeroDivisionError) as error:
        print(error)
    except KeyError:
        raise
    except:
        pass
    else:
        print("never")
    finally:
        print("done")
safe(1, 0)
""",
    "functions": """
k = 2.0
def outer(a, b=k):
    def inner(c):
        return a * c + k
    return inner(b)
def count(n):
    return 0 if n == 0 else 1 + count(n - 1)
g = lambda t, u=k: t + u
outer(1.0)(g(2.0), u=3.0) if k > count(3) else relu
""",
    "inputs": """
input x: float[n, 2] = ones(3, 2)
input flag: bool = True
input v: int[...]
param w = 0.5
param q: float
k = 3
m = 2 * k - 1
x.sum() * w + n
""",
    "items": """
x = [1, 2, (3, 4)]
y = tensor([[1.0, 2.0], [3.0, 4.0]])
y[0, 1:] = x[0]
y[::2][..., -1] += x[2][1]
a, (b, c) = 1, (2, 3)
p = q = y[None]
p[0], r = 5, 6
""",
    "loops": """
s = 0.0
for i in range(3):
    for a, b in zip(x, y):
        if a > b:
            continue
        elif a == b:
            break
        else:
            s += a * b
while s > 1 and i > 0:
    s = s / 2
    i -= 1
s
""",
    "operators": """
a = -x + +y - ~z * -2 / 3 // 4 % 5 ** 6 @ w
b = (1 & 2 | 3 ^ 4) == 5
c = not x is None
d = x is not y, x in [1], x not in y, x != y
e = l + [1] + l * 2, ([0] * 2 + l) * 2 - l, l * l, [1] - l
""",
    "rules": """
class Cube(Function):
    @staticmethod
    def forward(ctx, x, n=3):
        ctx.save_for_backward(x)
        ctx.n = n
        return x ** n
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x ** 2, None
class Scaled(Cube):
    scale = 3.0
    @staticmethod
    def scaled(x):
        return x * Scaled.scale
Cube.apply(tensor(2.0))
""",
    "texts": """
x = 1.5
print(f"{x:.{2}f} and {x!r} {x=} {{}}", "a" "b", sep="")
assert x > 1, f"small {x}"
assert x
s = f""
""",
    "comprehensions": """
l = [x * k for x in range(3) if x for k in (1, x)]
s = {a + b for a, b in zip(l, l)}
d = {k: v for k, v in enumerate(l)}
t = sum(x for x in l)
u = any(x > 1 for x in l)
""",
    "generators": """
def f(l):
    x = yield 1
    y = (yield from l) + x
    yield
g = f([2])
n = next(g)
g.send(3)
@no_grad()
def switched():
    yield 1
    yield from g
""",
    "managed": """
class M:
    def __enter__(self): return self
    def __exit__(self, *how): return True
    def __iadd__(self, n): return self
with M() as m, no_grad() as n:
    m += 1
c = no_grad()
with c:
    m = 2
""",
    "displays": """
def f(a, *rest, k=1, **named): return rest
l = [1, *[2, 3], 4]
t = (*l,)
d = {1: 2, **{}}
del d[1]
a, *b = l
c = f(*t, 5, k=3, **d)
l.count(*t)
del a
""",
    "with": """
x = tensor(1.0, requires_grad=True)
with torch.no_grad():
    y = x * 2
    with enable_grad():
        y = x * 3
y
""",
}


def lowered(source):
    """The ops program of a valid source."""
    module = parse(source)
    return lower(module, analyse(module, BUILTINS, frozenset()), source)


def sources():
    """The programs with golden files, by the file's name."""
    for name, written in FORMS.items():
        yield f"form-{name}", Source(f"{name}.grad", written.removeprefix("\n"))
    for path in sorted(SAMPLES.glob("*.grad")):
        yield path.stem, Source(path.name, path.read_text("utf-8"))


def main():
    """Write the golden files anew."""
    for old in GOLDEN.glob("*.txt"):
        old.unlink()
    for name, source in sources():
        (GOLDEN / f"{name}.txt").write_text(text(lowered(source)), "utf-8")


if __name__ == "__main__":
    main()
