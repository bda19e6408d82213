"""What the language takes from Python means what it means there: each case is run by Python, too."""

import io
from contextlib import redirect_stdout

import pytest

from gradcli.engine.run.code import translate
from gradcli.errors import ProgramError
from gradcli.program import load
from gradcli.questions.asked.request import Options

CASES = {
    "list comprehensions": """
x = 5
print([x * 2 for x in [1, 2, 3] if x > 1], x)
print([(i, j) for i in range(3) for j in range(i) if i + j > 1 if j])
print([[i * j for j in range(3)] for i in range(2)], [a + b for a, b in [(1, 2), (3, 4)]])
print([x for x in 'abc'], [y for x in [[1], [2, 3]] for y in x], [0 for x in []])
print([a for a, *b in [(1, 2, 3)]], [b for a, *b in [(1, 2, 3)]], [x if x else -1 for x in [0, 1]])
""",
    "a comprehension has names of its own": """
fs = [lambda: i for i in range(3)]
print([f() for f in fs])
def many(n):
    return [lambda: (i, n) for i in range(n)]
a, b = many(2), many(3)
print(a[0](), b[0]())
def f(v):
    k = 3
    return [k * v for v in range(v)]
print(f(3), [f for f in range(2)])
""",
    "arguments may have any name": """
class A:
    def m(self, session=1, receiver=2, *, site=3, name=4): return session, receiver, site, name
print(A().m(session=5, receiver=6), A().m(**{'site': 7, 'name': 8}))
def f(session, *args, **keywords): return session, args, keywords
print(f(session=1, run=2), f(1, 2, args=3, keywords=4))
""",
    "what a format reaches": """
class A:
    def __init__(self): self.v = [1, 2]
print('{0.v} {0.v[1]} {a.v}'.format(A(), a=A()))
""",
    "names that get a value inside an expression": """
def f(x):
    if (n := x * 2) > 3:
        return n
    return n + 1
print(f(1), f(2))
x = 2
print(x + (x := 5), x)
print((x := 1) + (x := 2), x)
i = 0
while (i := i + 1) < 4:
    print(i)
print([y for k in range(5) if (y := k * k) > 3], y)
g = lambda a: (y := a + 1) * y
print(g(3), y)
if z := [1, 2]:
    print(z)
print(max(q := 3, 4), q)
def h():
    t = 0
    def inner():
        return [t2 := 1, t2]
    tot = sum((t := t + v) for v in [1, 2, 3])
    return tot, t, inner()
print(h())
while (err := 10.0 / i) > 1:
    i *= 2
print(err, i)
print(f"{(w := 3)} {w}")
def k(a=(m := 7)):
    return a
print(k(), m)
print((a := 1, b := 2), a, b)
if (u := 1) and (v := u + 1) > 1:
    print(u, v)
d = {(key := "a"): (val := 1)}
print(d, key, val)
x = [3, 4]
print(x[at := 1], at, f'{(w := 3) + 1:>4} {w}', [*(r := x), (u := 2)], r, u, {(e := 1), 2}, e)
class A:
    def m(self, xs): return [last for x in xs if (last := x * 2) > 2], last
print(A().m([1, 2, 3]))
def late():
    if False and (never := 1):
        pass
    try:
        return never
    except UnboundLocalError:
        return 'none'
print(late())
""",
    "set and dict comprehensions": """
print({x % 3 for x in range(10)}, {k: v * 2 for k, v in {'a': 1, 'b': 2}.items()})
print({i: [j for j in range(i)] for i in range(3) if i != 1})
""",
    "generators": """
g = (x * x for x in [1, 2, 3])
print(next(g), list(g), next(g, 'end'))
def say(x):
    print('asked', x)
    return x
h = (say(x) for x in range(3))
print('made')
print(next(h))
for x in h:
    print('got', x)
print(any(say(x) > 0 for x in range(5)), all(say(x) < 1 for x in range(5)))
print(sum(x for x in range(4)), max(x % 3 for x in range(5)), min((x for x in [3, 1]), default=0))
print(tuple(x for x in 'ab'), sorted(-x for x in range(3)), ' '.join(str(x) for x in range(3)))
print(list(zip((x for x in 'ab'), range(9))), list(enumerate(x for x in 'ab')))
""",
    "generator functions": """
def count(n, start=0):
    print('begun')
    for i in range(start, n):
        if i == 3: return
        yield i
        yield
g = count(2)
print(next(g), next(g), list(g), sum(x or 0 for x in count(9)), [x for x in count(2, start=1)])
def pairs(items, size):
    items = list(items)
    for at in range(0, len(items), size):
        yield items[at: min(at + size, len(items))], at
for part, at in pairs('abcde', 2):
    print(part, at)
    if at: break
def walk(tree):
    for t in tree:
        if isinstance(t, list):
            for inner in walk(t): yield inner
        else:
            yield t
print(list(walk([1, [2, [3, 4]], 5])), max(walk([3, [7]])), dict(pairs([], 1)))
""",
    "global and nonlocal": """
count = 0
total = [0]
def hook(g):
    global count, made
    count += 1
    made = 'by hook'
    for made2 in range(2): pass
    return g
hook(1); hook(2)
print(count, made)
def counter():
    n = 0
    def step(by=1):
        nonlocal n
        n += by
        return n
    return step
a, b = counter(), counter()
print(a(), a(2), b(), a())
def deep():
    global count
    def inner():
        global count
        count = count * 10
    inner()
    count += 1
deep()
print(count)
for i in range(3):
    hook(i)
    if count > 22: print('over', count)
x = 1
def shadows():
    x = 5
    return x
def sets():
    global x
    x = shadows() + x
sets()
print(x, [count for _ in range(2)])
def loops():
    global i
    for i in range(4): pass
loops()
print(i)
""",
    "modules of Python": """
import itertools, functools, copy, warnings
from collections import OrderedDict
from itertools import product, chain, islice
warnings.filterwarnings('ignore')
print(list(product([1, 2], 'ab')), list(product([0, 1], repeat=2)), list(chain([1], (2, 3), 'c')))
print(list(islice(itertools.count(5, 2), 3)), list(itertools.combinations([1, 2, 3], 2)), list(itertools.permutations('ab')))
print(list(itertools.accumulate([1, 2, 3])), list(itertools.accumulate([2, 3], lambda a, b: a * b)), list(itertools.repeat(0, 2)))
print(list(itertools.zip_longest([1], 'ab', fillvalue='-')), list(islice(itertools.cycle('ab'), 1, 5, 2)))
print(functools.reduce(lambda a, b: a * b, [1, 2, 3]), functools.reduce(lambda a, b: a + b, [], 'z'))
p = functools.partial(lambda a, b, c=0: (a, b, c), 1, c=5)
print(p(2), p(3, c=4), list(map(functools.partial(max, 2), [1, 3])))
a = [1, [2]]
b = copy.copy(a)
b.append(3)
print(a, b, dict(OrderedDict([('x', 1)])))
""",
    "star arguments": """
def f(*a, k=1, **named):
    return a, k, named
def g(a, b=2, *, c, d=4):
    return a, b, c, d
print(f(), f(1, 2, k=3, z=4), f(*[1, 2], *(3,), **{'k': 5, 'y': 6}), f(0, *range(2), q=1))
print(g(1, c=3), g(*(1, 5), c=1, **{'d': 0}), (lambda *a, **k: (a, k))(1, x=2))
print(max(*[1, 5, 2]), [3, 1, 2].index(*[1]), '{}-{}'.format(*'ab'), list(zip(*[[1, 2], [3, 4]])))
print(*[1, 2], sep='|')
print(*'ab', *[3], **{'sep': '-'})
""",
    "starred unpacking": """
first, *rest = range(4)
*begin, last = 'abc'
a, (b, *c), d = 1, (2, 3, 4), 5
[x, *y] = [1]
print(first, rest, begin, last, a, b, c, d, x, y)
for i, *j in [(1, 2, 3), (4,)]:
    print(i, j)
t = [1, *range(2), *'a']
print(t, (*t, 3), {*t, 1} == {0, 1, 'a'}, *t)
""",
    "dictionaries": """
d = {'a': 1, 2: 'b', (1, 2): [3], None: 0.5, True: 'yes', **{'z': {}}}
print(d, len(d), 'a' in d, 'q' not in d, d.get('q'), d.get('q', 7), bool({}), bool(d))
d['a'] += 10
d['new'] = d
del d['new'], d[2]
print(d['a'], d.pop('z'), d.pop('z', None), list(d), d.setdefault('s', []), d[1], d[1.0])
d['s'].append(3)
for k in d: print(k, end=' ')
for k, v in d.items(): print(k, v)
print(d.keys(), d.values(), d.items(), d == {**d}, d != {}, dict(a=1, b=2), dict([(1, 2)], c=3))
e = d.copy()
e.update({'a': 0}, n=1)
e |= {'m': 2}
print(e, d['a'], {1: 2} | {1: 3, 4: 5}, sorted({'b': 1, 'a': 2}), max({'b': 1, 'a': 2}))
e.clear()
print(e, e.popitem() if e else 'empty', {k: v for k, v in zip('ab', [1, 2])})
""",
    "sets": """
s = {3, 1, 2, 1}
s.add(5); s.discard(9); s.remove(3)
print(s, len(s), 1 in s, s | {7}, s & {1, 2}, s - {1}, s ^ {1, 9}, {1} < s, {1, 2} <= {1, 2}, s == {5, 2, 1})
print(s.union([8], (9,)), s.intersection({1}), s.issubset(range(9)), set(), set([1, 1]), {1}.isdisjoint({2}))
s -= {1}
s |= {4}
print(s, sorted(s, reverse=True), sum(s))
""",
    "lists": """
l = [3, 1, 2]
l.sort(); l.insert(0, 9); l.reverse(); l.remove(9)
print(l, l.index(2), l.count(1), l[::-1], l[1:], l[-2:], l[:1], l.copy() is l)
l[0:1] = [7, 8]
del l[0], l[-1:]
l.extend(x for x in 'ab')
print(l, [[0] * 2 for _ in range(2)], [1, 2] + [3], l * 2, l.pop(0), l)
l.clear()
print(l, not l, [1, 2] == [1, 2], [(2, 'b'), (1, 'z')] == [], sorted([(2, 'b'), (1, 'z'), (1, 'a')]))
p = [(1, 'b'), (0, 'c')]
p.sort(key=lambda t: t[1], reverse=True)
print(p, sorted('bca'), sorted([3, 1, 2], reverse=True), sorted(['bb', 'a'], key=len), (1, 2, 1).count(1))
""",
    "strings": """
s = 'Hello, World'
print(s[0], s[-1], s[1:4], s[::-1], s * 2, 3 * 'ab', 'lo' in s, len(s), s + '!', s < 'b', 'a' <= 'a')
print(s.split(', '), ' a  b '.split(), s.upper(), s.lower(), ' x '.strip() + '.', s.replace('l', 'L', 2))
print(s.startswith('He'), s.endswith(('x', 'ld')), s.find('o'), s.rfind('o'), s.index('W'), s.count('l'))
print('ab'.ljust(5, '.') + '|', 'ab'.rjust(5) + '|', 'ab'.center(6, '*'), '42'.zfill(5), 'a-b'.partition('-'))
print(','.join(['a', 'b']), ''.join(c for c in s if c.isupper()), 'x1'.isalnum(), 'abc'.title(), 'a\\nb'.splitlines())
print('aXb'.swapcase(), 'xxay'.lstrip('x'), 'test.py'.removesuffix('.py'), ord('a'), chr(98), repr('a'), str(1.0))
""",
    "format": """
print('{} {:.3f} {:>6}|{:<4}|{:^5}|'.format(1, 2.0, 'ab', 3, 'x'), '{0}{1}{0}'.format('a', 'b'))
print('{name!r} {n:05d} {{}} {l[1]} {d[k]}'.format(name='x', n=42, l=[1, 2], d={'k': 'v'}))
print('{:{}}|{:{w}.{p}f}'.format('a', 4, 3.14159, w=8, p=2), '{:,}'.format(1234567), '{:e}'.format(0.5))
print('{:%}'.format(0.25), '{:+}'.format(3), '{:x}'.format(255), '{!s:>4}'.format('a'), '{}'.format([1, 'a']))
w, v = 10, 2.5
print(f'{v:{w}.{1 + 1}f}|{v!r:>6}|{v=}|{v = :.1f}|{[1, "a"]!s}|{"b":>3}|{{}}|{ {1: 2}[1] }')
""",
    "percent": """
print('%d %5.2f %s %r %%' % (3, 3.14159, [1, 'a'], 'b'), '%s' % 'x', '%d' % 3.9, '%i' % True)
print('%-5s|%5s|%05d|%+d|%e|%g|%x|%c|%.3s' % ('ab', 'c', 42, 3, 0.5, 1e-10, 255, 'z', 'abcdef'))
print('%(a)s and %(b).1f' % {'a': 1, 'b': 2.0}, '%*d' % (5, 42), '%.*f' % (1, 2.55), '%s' % (None,))
t = 'n = %d'
print(t % 4, (t + ' %s') % (1, (2, 3)), '%s' % {1: 2})
""",
    "functions of Python": """
print(list(map(lambda a, b: a * b, [1, 2], [3, 4])), list(map(str, [1, 2])), list(filter(None, [0, 1])))
print(list(filter(lambda x: x > 1, [1, 2, 3])), list(reversed([1, 2, 3])), list('ab'), tuple([1, 2]))
print(divmod(7, 3), divmod(-7.5, 2), any([0, '', 1]), all([]), all([1, [2]]), callable(len), callable(3))
print(max(1, 2), max([1, 3, 2]), min('b', 'a') if False else 'a', max([(1, 'z'), (1, 'b')]), min([3, 1], key=lambda x: -x))
print(max([1, 2], default=5), max([], default=5), max('abc'), min(3, 1, 2, key=lambda x: -x), round(2.5), round(2.567, 2))
print(isinstance([], list), isinstance((), (list, tuple)), isinstance({}, dict), isinstance('a', str), isinstance(True, int))
print(isinstance({1}, set), isinstance(1.0, int), isinstance(None, list), hasattr([], 'append'), hasattr(3, 'nope'))
i = iter([1, 2])
print(next(i), next(i), next(i, None), getattr('a', 'nope', 4), list(range(3)), dict(zip('ab', [1, 2])))
print(sum([1.5, 2]), sum([[1], [2]], []), abs(-3), pow(2, 3), len({}), list({1: 2}), int('12'), float('1.5'))
""",
    "annotations and del": """
x: int = 3
y: 'float'
def f(a: float, b: list[int] = 2, *c: str, **d: int) -> float:
    z: float = a * b
    return z
print(f(1.5), f(2, b=3))
z = [1, 2, 3]
del x, z[0]
x = 4
print(x, z)
""",
    "tuples": """
t = (1, 2) * 2 + (3,)
print(t, (1, 2) < (1, 3), (1, 'a') < (1, 'b'), t.index(2), t.count(1), t[1:3], 2 in t, (1,) == (1, 2), ())
a, b = b, a = 1, 2
print(a, b)
""",
    "a program that is run, not imported": """
import os, sys as system, re
from typing import List, Callable
def main():
    return 3
if __name__ == "__main__":
    x = main()
    print(x)
""",
    "random": """
import random
from random import uniform as u, choice
random.seed(5)
print(random.random(), random.randint(1, 6), random.uniform(-1, 2.5), random.gauss(0, 1), random.gauss(3, 0.5))
print(random.randrange(10), random.randrange(2, 9, 3), choice('abc'), random.sample(range(9), 4))
print(random.choices([1, 2, 3], k=4), random.choices('ab', [1, 3], k=3), u(0, 1), random.normalvariate(1, 2))
l = [1, 2, 3, 4, 5]
random.shuffle(l)
random.seed('word')
print(l, random.random())
""",
    "loops with an else, and yield from": """
for i in range(3):
    pass
else:
    print("done", i)
for i in range(5):
    for j in range(3):
        if j == 2: break
    else:
        print("inner never")
    if i == 3: break
else:
    print("never")
print(i)
def find(xs, t):
    for k, x in enumerate(xs):
        if x == t:
            break
    else:
        return None
    return k
print(find([1,2,3], 2), find([1], 5))
n = 5
while n > 0:
    n -= 2
    if n == 100: break
else:
    n = 7
print(n)
def g():
    yield 1
    yield from [2, 3]
    yield from range(2)
print(list(g()))
def walk(t):
    if isinstance(t, list):
        for x in t:
            yield from walk(x)
    else:
        yield t
print(list(walk([1, [2, [3]]])))
for i in range(2):
    while True:
        break
    else:
        print("no")
    continue
else:
    for z in []:
        break
    else:
        print("yes")
""",
    "an import is an assignment": """
x = 2.0
print(x)
from math import pi as x
print(x)
from math import floor as x
print(x(1.5))
x = 3
try:
    from collections import deque
except ImportError:
    deque = list
print(x, len(deque([1, 2])))
""",
    "data classes": """
from dataclasses import dataclass, field, asdict, replace
import dataclasses
@dataclass
class Config:
    lr: float
    epochs: int = 10
    sizes: list = field(default_factory=list)
    name: str = "net"
    def total(self): return self.lr * self.epochs
c = Config(0.1)
print(c, c.total(), c == Config(0.1), c == Config(0.2), Config(0.5, 3, [1], name="q"), asdict(c), replace(c, lr=1.0))
c.sizes.append(4); c.lr = 2.0
print(c, Config(0.1).sizes)
@dataclasses.dataclass(frozen=True, order=True)
class P:
    x: float
    y: float = 0.0
    scale = 3
    def __post_init__(self):
        if self.x < 0: raise ValueError("negative")
print(P(1.0, 2.0), P(1.0) < P(2.0), {P(1.0): 5}[P(1.0)], P(2.0).scale, sorted([P(3.0), P(1.0)]))
for bad in (lambda: P(-1.0), lambda: setattr(P(1.0), "x", 2.0), lambda: Config(), lambda: Config(1, 2, 3, 4, 5), lambda: P(1.0, z=3)):
    try:
        bad()
    except (ValueError, AttributeError, TypeError) as e:
        print("refused", isinstance(e, TypeError), isinstance(e, ValueError))
@dataclass
class Q(Config):
    extra: int = 1
print(Q(1.0), asdict(Q(1.0, sizes=[P(1.0)])))
@dataclass(eq=False)
class Empty: pass
print(Empty(), Empty() == Empty())
""",
    "deques": """
from collections import deque
d = deque([1, 2, 3], maxlen=3)
d.append(4); d.appendleft(0)
print(d, len(d), d[0], d[-1], 2 in d, list(d), sum(d), max(d))
print(d.popleft(), d.pop(), d, bool(deque()), [x * 2 for x in d])
q = deque(); q.extend("abc"); q.rotate(1); q.extendleft([1, 2]); print(q, q.index("c"), q.count("a"), q == deque([2, 1, "c", "a", "b"]))
q[0] = 9; q.remove("c"); q.reverse(); q.insert(1, "z"); print(q, q.copy(), q.maxlen)
try:
    deque().pop()
except IndexError as e:
    print("caught", e)
""",
    "counters and default dictionaries": """
from collections import Counter, defaultdict
c = Counter("abracadabra")
print(c, c["a"], c["zz"], c.most_common(2), len(c), sorted(c), sum(c.values()), c.total())
c.update("aab"); c["q"] += 5; c.subtract({"a": 1}); print(c, list(c.elements())[:4], c + Counter(a=1), c - Counter(a=3), c & Counter(a=2, b=9), c | Counter(x=1))
print(Counter(a=2), Counter(), Counter({"k": 3}) == Counter(k=3), dict(c), {**Counter("xy")}, "a" in c)
dd = defaultdict(list)
for i, w in enumerate(["x", "y", "x"]): dd[w].append(i)
print(dd["x"], dict(dd), sorted(dd.items()), len(dd), "nope" in dd, list(dd), dd.get("q"), dd == {"x": [0, 2], "y": [1]})
n = defaultdict(int, a=1)
n["a"] += 1; n["b"] += 1; del n["a"]; print(len(n), defaultdict(lambda: 5)["k"], n.pop("b"), n.setdefault("s", 3), n.keys(), n.values())
try:
    defaultdict()["k"]
except KeyError as e:
    print("KeyError", e)
""",
    "named tuples": """
import collections
from collections import namedtuple
P = namedtuple("P", ["x", "y"])
p = P(1, y=2)
x, y = p
print(p, p.x + p.y, x, y, p[0], p[-1], len(p), list(p), p == (1, 2), p == P(1, 2), p._asdict(), p._replace(x=5), P._fields, P._make([3, 4]), tuple(p), p < P(2, 0))
T = collections.namedtuple("T", "a b, c", defaults=[7])
print(T(1, 2), T(*range(3)), max(T(1, 2)), {T(1, 2): 3}[T(1, 2)], [t for t in zip(*[T(1, 2), T(3, 4)])], T(1, 2) + (9,))
for bad in (lambda: P(1), lambda: P(1, 2, 3), lambda: P(1, 2, z=3), lambda: namedtuple("Q", "a a")):
    try:
        bad()
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
""",
    "attributes by methods of the class": """
class A:
    def __init__(self): self.k = 1
    def __getattr__(self, name):
        if name.startswith("x"): return name * 2
        raise AttributeError("no " + name)
a = A()
print(a.k, a.xy, hasattr(a, "zz"), getattr(a, "zz", 4), hasattr(a, "xq"))
try:
    a.zz
except AttributeError as e:
    print(e)
class B:
    def __init__(self): object.__setattr__(self, "log", []); self.v = 3
    def __setattr__(self, name, value):
        self.log.append(name)
        super().__setattr__(name, value * 2)
b = B(); b.w = 5; setattr(b, "u", 1)
print(b.v, b.w, b.u, b.log)
class C:
    def __init__(self): self.d = {}
    def __delitem__(self, k): print("del", k); self.d.pop(k, None)
    def __contains__(self, k): return k == 3
    def __iter__(self): return iter([1, 2])
c = C(); del c["q"]; print(3 in c, 4 in c, list(c))
print(hash((1, 2)) == hash((1, 2)), hash(1.0) == hash(1))
""",
    "iterators of classes": """
class N:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n
print(list(N(3)))
for x in N(2): print(x)
print(next(N(2)))
it = iter(N(1))
print(next(it), next(it, "end"))
print(next(N(0), "none"))
print(sum(N(4)), max(N(3)), sorted(N(3)), tuple(N(2)), list(zip(N(2), "ab")), [*N(2)], 1 in N(3), list(map(str, N(2))), list(enumerate(N(2))))
""",
    "deep copies": """
import copy
from copy import deepcopy
a = [1, [2, {"k": [3]}], (4, [5])]
b = copy.deepcopy(a); b[1][1]["k"].append(9); b[2][1].append(6); b[0] = 0
print(a, b)
s = [0]; t = [s, s]; u = deepcopy(t); u[0].append(1); print(u, t, u[0] is u[1])
def cyclic():
    l = [1]; l.append(l); m = deepcopy(l); return m[1] is m, m[0]
print(cyclic())
class P:
    def __init__(self): self.v = [1]; self.me = self
p = P(); q = deepcopy(p); q.v.append(2); print(p.v, q.v, q.me is q, vars(p)["v"], deepcopy({1, 2}), deepcopy(P) is P)
p.me = q.me = None
print(copy.copy([1, 2]))
""",
    "settings of a script": """
import argparse
from argparse import ArgumentParser
p = argparse.ArgumentParser(description="x")
p.add_argument("--lr", type=float, default=0.01, help="rate")
p.add_argument("--epochs", "-e", type=int, default="7")
p.add_argument("--no-cuda", action="store_true")
p.add_argument("-q", action="store_false", dest="quiet")
p.add_argument("--mode", choices=["train", "eval"], default="train")
p.add_argument("--name")
p.add_argument("--sizes", nargs="+", type=int)
args = p.parse_args([])
print(args, args.lr * 2, args.epochs, args.no_cuda, args.quiet, args.name, "lr" in args, vars(args)["lr"])
print(p.parse_args(["--lr", "1e-3", "-e", "3", "--no-cuda", "-q", "--sizes", "1", "2", "--name=n"]))
print(p.parse_known_args(["--mode", "eval", "--what"]))
p = ArgumentParser()
p.add_argument("file")
p.add_argument("more", nargs="*")
print(p.parse_args(["a", "b", "c"]), ArgumentParser().parse_args([]) == argparse.Namespace())
""",
    "objects beside text and tuples": """

class A:
    def __add__(self, o): return ("add", o)
    def __radd__(self, o): return ("radd", o)
    def __mul__(self, o): return ("mul", o)
    def __rmul__(self, o): return ("rmul", o)
    def __setitem__(self, k, v): print(k, v)
a = A()
print(a + "x", "x" + a, a + (1,), (1,) + a, a * "x", "x" * a, a * (1,), (2,) * a)
a["k"] = 1
a[1.5] = 2
a[(1, 2)] = 3
""",
}


def by_python(text):
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(text, "<case>", "exec"), {"__name__": "__main__"})  # the oracle
    return printed.getvalue()


def by_gradcli(text):
    return "".join(f"{line}\n" for line in load(text).run().printed)


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_python_s_own_means_what_python_says(text):
    assert by_gradcli(text) == by_python(text)


def test_random_numbers_are_those_of_the_seed():
    program = load("import random\nrandom.random()")
    first, second, other = (program.run(options=Options(seed=seed)).result for seed in (1, 1, 2))
    assert first == second != other


def test_a_drawn_number_moves_with_its_bounds():
    program = load("import random\nb = 2.0\nrandom.uniform(0.5, b) + random.gauss(b, b)")
    low, high = (program.run(b=b, options=Options(seed=3)).result for b in (2.0, 3.0))
    found = program.grad(wrt="b", options=Options(seed=3)).grad["b"]
    assert found == pytest.approx(high - low)  # it is linear in b


def test_time_goes_on():
    (spent,) = load("import time\ns = time.time()\nprint(time.time() - s)").run().printed
    assert 0 <= float(spent) < 5


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("from torch import foo", "there is no `foo` in `torch`", None),
        ("from math import sine", "there is no `sine` in `math`", "did you mean `sin`?"),
        ("import os\nos.getcwd()", "`getcwd` of `os` is not part of the language", None),
        (
            "from os import getcwd as cwd\nx = cwd",
            "`getcwd` of `os` is not part of the language",
            None,
        ),
        (
            "x = 2.0\nfrom os import getpid as x\nx",
            "`getpid` of `os` is not part of the language",
            None,
        ),
        ("import nowhere", "there is no module `nowhere`", None),
    ],
)
def test_what_is_imported_in_vain_is_told(text, message, help):
    with pytest.raises(ProgramError) as caught:
        load(text)
    (found,) = caught.value.diagnostics
    assert (found.message, found.help) == (message, help)


def test_globals_of_a_large_program(monkeypatch):
    monkeypatch.setattr(translate, "MOST_TOGETHER", 10)
    text = CASES["global and nonlocal"]
    assert by_gradcli(text) == by_python(text)
