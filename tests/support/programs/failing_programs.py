"""Lines that fail, for the class of the exception that each raises."""

PYTHON = r"""
{}["a"]
{"a": 1}["b"]
{1: 2}[3]
{(1, 2): 3}[(1, 3)]
{"a": {}}["a"]["b"]
{True: 1}[2.5]
{"a": 1}[None]
{"a": 1}["it's"]
{}.pop("a")
{"a": 1}.pop(1)
{}.popitem()
{1}.remove(2)
set().remove("a")
set().pop()
d = {"a": 1}; del d["b"]
d = {}; d["n"] += 1
"{a}".format(b=1)
'%*d' % (1.5, 1)
'%.*f' % (float('inf'), 1.0)
"%(a)s" % {"b": 1}
dict(a=1)["b"]
from collections import defaultdict; defaultdict()["k"]
from collections import OrderedDict; OrderedDict(a=1)["k"]
[1, 2][5]
[1, 2][-3]
[][0]
(1, 2)[2]
()[0]
"abc"[3]
""[0]
range(3)[3]
[].pop()
[1].pop(3)
x = [1]; x[2] = 1
x = [1]; del x[2]
x = [1]; x[1] += 1
[[1], [2]][1][1]
"{} {}".format(1)
"{1}".format(0)
from collections import deque; deque().pop()
from collections import deque; deque().popleft()
from collections import deque; deque([1])[3]
from collections import deque; deque().remove(1)
from collections import namedtuple; namedtuple("P", "x y")(1)
from collections import namedtuple; namedtuple("P", "x y")(1, 2).z
from collections import namedtuple; namedtuple("P", "x y")(1, 2)[2]
1 + "a"
"a" + 1
"a" - "b"
(1,) + [2]
{} + {}
None + 1
1 - None
-"a"
-None
~1.5
1.5 | 1
"a" * "b"
"a" * 1.5
[1] * "a"
None * 2
{1} + {2}
1 < "a"
"a" < 1
None < 1
{} < {}
1 < None
max(1, "a")
sorted([1, "a"])
[2, "a"].sort()
min(1, None)
len(3)
len(None)
1()
None()
"a"()
[1]()
(1, 2)(0)
5[0]
None[0]
None["a"]
[1]["a"]
"abc"["a"]
(1, 2)["a"]
[1][1.0]
[1][None]
"abc"[1.5]
x = (1, 2); x[0] = 3
x = "abc"; x[0] = "d"
x = "abc"; del x[0]
x = (1, 2); del x[0]
x = 5; x[0] = 1
x = None; x["a"] = 1
for i in 5: pass
for i in None: pass
for i in 1.5: pass
list(5)
set(3)
dict(3)
a, b = 5
a, b = None
[*5]
iter(5)
next(5)
next([1])
{[1]: 2}
{{}: 2}
{[1]}
{}[[1]]
{(1, [2]): 3}
set([[1]])
{1}.add([2])
1 in 5
"a" in None
1 in "abc"
sum(["a", "b"])
sum([1, "a"])
abs("a")
abs(None)
round("a")
int([1])
int(None)
float([1])
float(None)
"a".join([1, 2])
"a".join(5)
"abc".split(1)
"abc".replace("a")
"abc".startswith(1)
"%d" % "a"
"%s %s" % 1
"%s" % (1, 2)
"%d" % None
chr("a")
ord("ab")
ord(1)
range("a")
range(1.5)
enumerate(5)
reversed(5)
isinstance(1, 5)
raise 5
raise "a"
def f(a): pass
f()
def f(a): pass
f(1, 2)
def f(a): pass
f(b=1)
def f(a): pass
f(1, a=1)
def f(*, a): pass
f()
def f(): pass
f(*5)
def f(**k): pass
f(**5)
lambda: 0; (lambda x: x)()
class A: pass
A(1)
class A: pass
A() + 1
class A: pass
A() < A()
class A: pass
A()()
class A: pass
A()[0]
class A: pass
len(A())
class A: pass
for i in A(): pass
class A: pass
1 in A()
class A:
    def f(self): pass
A().f(1)
class A:
    def __init__(self, x): pass
A()
class A:
    def __len__(self): return -1
len(A())
class A:
    def __len__(self): return "a"
len(A())
class A:
    def __bool__(self): return 3
bool(A())
class A: pass
A().b
class A: pass
A.b
class A: pass
a = A(); del a.b
class A:
    @property
    def b(self): return 1
A().b = 2
class A:
    def f(self): return self.x
A().f()
(5).b
"abc".b
[].b
None.b
{}.b
(1, 2).b
(5).b = 1
[].b = 1
(lambda: 0).b
x, y = [1]
x, y = 1, 2, 3
x, y = "abc"
x, *y = []
x, (y, z) = 1, (2,)
for x, y in [(1, 2, 3)]: pass
for x, y in [(1,)]: pass
int("a")
int("1.5")
int("")
float("a")
float("")
int(float("nan"))
[1].remove(2)
[1].index(5)
(1, 2).index(3)
"abc".index("d")
"abc".rindex("d")
"abc".split("")
"abc"[::0]
[1][::0]
range(1, 2, 0)
max([])
min([])
max(())
chr(-1)
list(zip([1], [1, 2], strict=True))
dict([(1, 2, 3)])
dict([1])
f"{1.5:d}"
f"{'a':.2f}"
"{".format(1)
"%q" % 1
def g(): yield next(it)
it = g(); next(it)
def g(): yield from [1 for _ in it]
it = g(); list(it)
"%" % 1
x = [1, 2, 3, 4]; x[::2] = [1]
1 // 0
1 % 0
divmod(1, 0)
5 // False
x = 1; x //= 0
x = 1; x %= 0
int(float("inf"))
round(float("inf"))
next(iter([]))
next(x for x in [])
it = iter([1]); next(it); next(it)
def g(): yield 1
it = g(); next(it); next(it)
assert False
assert 1 == 2, "words"
assert [], 5
def f():
    del z
    z = 1
f()
def f():
    for i in []: pass
    return i
f()
raise
raise KeyError("a")
raise KeyError
raise KeyError("a", 1)
raise ValueError("a")
raise ValueError("a", 2)
raise StopIteration(3)
raise NotImplementedError
raise NotImplementedError("f")
raise RecursionError("deep")
raise UnicodeError("letters")
raise UnboundLocalError("x")
raise TimeoutError("late")
raise OSError("disk")
raise FileNotFoundError("file")
raise EOFError("end")
raise MemoryError("full")
raise BufferError("b")
raise ModuleNotFoundError("m")
raise PermissionError("p")
raise SystemError("s")
raise Warning("w")
raise UserWarning("w")
raise DeprecationWarning("w")
raise RuntimeWarning("w")
raise FutureWarning("w")
raise StopAsyncIteration("w")
raise ConnectionError("w")
raise UnicodeError
def g(): yield 1
g().send(3)
def g(): yield 1
g().throw(KeyError("a"))
def f(): return f()
f()
d = {1: 2}
for k in d: d[k + 1] = 0
s = {1}
for k in s: s.add(k + 1)
"""

TORCH = {
    "AttributeError": r"""
torch.tensor(1.).foo
torch.tensor(1.).foo()
torch.nn.Linear(2, 3).foo
""",
    "IndexError": r"""
torch.tensor([1., 2.])[5]
torch.tensor([1., 2.])[-3]
torch.tensor([1., 2.])[0, 0]
torch.tensor(1.)[0]
torch.tensor([1., 2.])[1.5]
torch.tensor([1., 2.])[[True, False, True]]
torch.tensor([1., 2.])[torch.tensor([0.5])]
x = torch.zeros(2); x[3] = 1.
torch.zeros(2).sum(3)
torch.zeros(2).sum(dim=-2)
torch.zeros(2, 3).mean(5)
torch.zeros(2).unsqueeze(4)
torch.zeros(2, 3).transpose(0, 2)
torch.zeros(2).squeeze(3)
torch.cat([torch.zeros(2)], dim=4)
torch.tensor([]).argmax()
torch.zeros(0, 3).max(0)
torch.zeros(2).index_select(0, torch.tensor([5]))
torch.zeros(4).select(0, 5)
torch.nn.functional.nll_loss(torch.zeros(2, 3), torch.tensor([0, 5]))
torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 5]))
torch.nn.functional.softmax(torch.zeros(2), dim=4)
torch.nn.Sequential(torch.nn.Linear(2, 3))[4]
torch.nn.ParameterList([])[0]
torch.nn.ModuleList([])[0]
torch.cumsum(torch.zeros(2), 3)
""",
    "KeyError": r"""
torch.nn.ModuleDict({})["a"]
""",
    "NotImplementedError": r"""
torch.nn.Module()(torch.zeros(5))
""",
    "RuntimeError": r"""
torch.tensor([1., 2.]) + torch.tensor([1., 2., 3.])
torch.tensor([1., 2.]) @ torch.tensor([1., 2., 3.])
torch.ones(2, 3) @ torch.ones(2, 3)
torch.mm(torch.ones(2, 3), torch.ones(2, 3))
torch.dot(torch.ones(2), torch.ones(3))
x = torch.zeros(2); x[0:2] = torch.ones(3)
torch.zeros(2, 3).permute(0, 0)
torch.zeros(2, 3).permute(0)
torch.zeros(2, 3).reshape(5)
torch.zeros(2, 3).view(4)
torch.zeros(2, 3).t().view(6)
torch.zeros(2, 3).reshape(-1, -1)
torch.zeros(2, 3).expand(4, 3)
torch.cat([torch.zeros(2), torch.zeros(2, 3)])
torch.stack([torch.zeros(2), torch.zeros(3)])
torch.stack([])
torch.cat([torch.zeros(2, 3), torch.zeros(3, 2)], dim=0)
torch.tensor([1, 2], requires_grad=True)
torch.tensor([1., 2.]).item()
bool(torch.tensor([1., 2.]))
bool(torch.tensor([]))
if torch.tensor([True, False]): pass
-torch.tensor(True)
torch.tensor(True) - torch.tensor(True)
torch.tensor([1., 2.], requires_grad=True).backward()
torch.tensor(1.).backward()
x = torch.tensor(1., requires_grad=True); y = x * x; y.backward(); y.backward()
x = torch.tensor(1., requires_grad=True); x += 1
x = torch.tensor([1.], requires_grad=True); x[0] = 3
x = torch.tensor([1., 2.], requires_grad=True); y = x.exp(); y[0] = 3; y.sum().backward()
x = torch.tensor([1., 2.], requires_grad=True); (x * 2).backward()
x = torch.tensor([1., 2.], requires_grad=True); (x * 2).backward(torch.ones(3))
x = torch.tensor(1., requires_grad=True); torch.autograd.grad(x * 2, torch.tensor(1., requires_grad=True))
torch.autograd.grad(torch.tensor(1.), torch.tensor(1.))
x = torch.tensor(1., requires_grad=True); x.requires_grad = False; (x * 2).backward()
x = torch.tensor(1., requires_grad=True); (x * 2).requires_grad = False
torch.tensor(1).requires_grad_()
x = torch.tensor(1., requires_grad=True); x.numpy()
x = torch.tensor(1.); x.grad = torch.zeros(3)
torch.tensor([]).max()
torch.tensor([3., 1.]).topk(3)
torch.tensor([3., 1.]).kthvalue(5)
torch.zeros(2, 3).gather(0, torch.tensor([0]))
torch.zeros(2, 3).repeat(2)
torch.zeros(4).chunk(0)
torch.zeros(4).split([1, 2])
torch.zeros(4).split(-1)
torch.zeros(4).narrow(0, 3, 4)
torch.zeros(2, 3).diagonal(0, 0, 0)
torch.zeros(3).trace()
torch.zeros(2, 3).inverse()
torch.linalg.det(torch.zeros(2, 3))
torch.linalg.eigh(torch.zeros(2, 3))
torch.linalg.norm(torch.zeros(2, 3), ord="x")
torch.einsum("ij,jk->ik", torch.zeros(2, 3), torch.zeros(2, 3))
torch.einsum("ij->k", torch.zeros(2, 3))
torch.einsum("i", torch.zeros(2, 3))
torch.zeros(-1)
torch.arange(0, 5, 0)
torch.arange(0, 5, -1)
torch.linspace(0, 1, -1)
torch.eye(-1)
torch.ones(2).to("abc")
torch.device("abc")
torch.where(torch.tensor([1., 2.]), 1., 2.)
torch.nn.functional.one_hot(torch.tensor([5]), 3)
torch.nn.functional.linear(torch.zeros(2), torch.zeros(3, 4))
torch.nn.functional.conv1d(torch.zeros(1, 2, 5), torch.zeros(1, 3, 2))
torch.nn.functional.binary_cross_entropy(torch.tensor([2.]), torch.tensor([1.]))
torch.nn.functional.pad(torch.zeros(2), (1,))
torch.nn.Linear(2, 3)(torch.zeros(5))
torch.nn.Linear(2, 3).load_state_dict({})
torch.multinomial(torch.tensor([-1., 2.]), 1)
torch.bernoulli(torch.tensor([2.]))
torch.normal(torch.zeros(2), -torch.ones(2))
torch.clamp(torch.zeros(2))
torch.cross(torch.zeros(2), torch.zeros(2), dim=0)
torch.zeros(2).add_(torch.zeros(3))
torch.zeros(2, dtype=torch.int64).add_(1.5)
torch.zeros(2).copy_(torch.zeros(3))
torch.zeros(2).masked_fill(torch.tensor([True]), torch.zeros(2))
torch.zeros(2).masked_fill(torch.zeros(2), 1.)
torch.randint(5, 5, (2,))
torch.randperm(-1)
torch.quantile(torch.zeros(3), 2.)
torch.searchsorted(torch.zeros(2, 3), torch.zeros(3, 3))
torch.autograd.functional.hessian(lambda x: x, torch.zeros(2))
torch.func.grad(lambda x: x)(torch.zeros(2))
torch.func.grad(lambda x: "a")(torch.zeros(2))
torch.zeros(2, 2).inverse()
torch.linalg.inv(torch.zeros(2, 2))
torch.linalg.solve(torch.zeros(2, 2), torch.zeros(2))
torch.linalg.cholesky(-torch.eye(2))
""",
    "TypeError": r"""
torch.tensor("a")
len(torch.tensor(1.))
for i in torch.tensor(1.): pass
torch.tensor(1.) + "a"
"a" + torch.tensor(1.)
torch.tensor(1.) + None
torch.tensor(1.) < "a"
~torch.tensor(1.5)
torch.tensor(1)()
torch.sin("a")
torch.sin(None)
torch.sum("a")
torch.zeros(2, 3).trace(5)
torch.zeros(1.5)
torch.zeros("a")
""",
    "ValueError": r"""
torch.tensor([1., 2.])[::-1]
torch.cat([])
torch.tensor([[1, 2], [3]])
float(torch.tensor([1., 2.]))
int(torch.tensor([1., 2.]))
a, b = torch.tensor([1., 2., 3.])
torch.nn.functional.mse_loss(torch.ones(2), torch.ones(2), reduction="foo")
torch.nn.functional.cross_entropy(torch.zeros(2, 3), torch.tensor([0, 1, 2]))
torch.nn.functional.dropout(torch.zeros(2), p=2.)
torch.optim.SGD([], lr=0.1)
torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=-1.)
torch.optim.Adam([torch.zeros(2, requires_grad=True)], betas=(2., 0.9))
torch.func.vmap(lambda x: x)(torch.zeros(()))
""",
}
"""By the class that PyTorch 2.13 raises."""


def python_programs() -> list[str]:
    """Programs that fail as they do in Python: one a line, except the line before and the lines
    in front of it that begin a definition or a class.
    """
    programs: list[str] = []
    held: list[str] = []
    for line in PYTHON.strip("\n").split("\n"):
        opens = not held and line.startswith(("def ", "class ", "d = {1", "s = {1"))
        goes_on = bool(held) and line.startswith(" ")
        held.append(line)
        if not (opens or goes_on):
            programs.append("\n".join(held))
            held = []
    return programs


def torch_programs() -> list[tuple[str, str]]:
    """Programs that fail as they do in PyTorch, each with the class."""
    return [(line, kind) for kind, text in TORCH.items() for line in text.strip().split("\n")]
