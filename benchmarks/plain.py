"""Plain Python without tensors, as in the preparation of data: the interpreter beside CPython.

Each program is one text for both. Loading it is not counted. The interpreter does not compile,
because machine code has no lists, strings and objects.
"""

from __future__ import annotations

from time import process_time
from typing import Any

from benchmarks.clock import race
from gradcli.program import load
from gradcli.questions.asked.request import Options

PROGRAMS = {
    "products of nested lists": """
def matmul(a, b):
    c = [[0.0] * len(b[0]) for _ in range(len(a))]
    for i in range(len(a)):
        for j in range(len(b[0])):
            total = 0.0
            for t in range(len(b)):
                total += a[i][t] * b[t][j]
            c[i][j] = total
    return c
a = [[(i * j % 7) / 3.0 for j in range(40)] for i in range(40)]
print(sum(map(sum, matmul(a, a))))
""",
    "sieve": """
def sieve(n):
    is_prime = [True] * (n + 1)
    i = 2
    while i * i <= n:
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
        i += 1
    return [i for i in range(2, n + 1) if is_prime[i]]
print(len(sieve(50000)))
""",
    "counts of words": """
counts = {}
for k in range(1000):
    for word in "the quick brown fox jumps over the lazy dog, and it runs.".split():
        word = word.strip(".,").lower()
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
        counts[word[0]] = counts.get(word[0], 0) + len(word)
print(sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:3])
""",
    "edit distance": """
def distance(s, t):
    d = [[0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for i in range(len(s) + 1):
        d[i][0] = i
    for j in range(len(t) + 1):
        d[0][j] = j
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
    return d[-1][-1]
print(distance("kitten on the mat " * 8, "sitting at the mat " * 8))
""",
    "recursion: queens": """
def solve(n, row, cols, up, down):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if c in cols or row + c in up or row - c in down:
            continue
        cols.add(c)
        up.add(row + c)
        down.add(row - c)
        count += solve(n, row + 1, cols, up, down)
        cols.remove(c)
        up.remove(row + c)
        down.remove(row - c)
    return count
print(solve(7, 0, set(), set(), set()))
""",
    "nearest neighbors": """
points = [([(i * k % 11) / 11 for k in (3, 5, 7)], i % 3) for i in range(150)]
def dist(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += (x - y) ** 2
    return total ** 0.5
def predict(q, k):
    ds = [(dist(p, q), label) for p, label in points]
    ds.sort(key=lambda d: d[0])
    votes = {}
    for d, label in ds[:k]:
        votes[label] = votes.get(label, 0) + 1
    return max(votes, key=lambda v: votes[v])
print(sum(predict(q, 5) == label for q, label in points))
""",
    "records from lines": """
def parse(line):
    head, _, tail = line.partition(";")
    parts = [p.strip() for p in head.split(",")]
    key, value = tail.split("=")
    record = {"name": parts[0], "value": float(parts[1]), key.strip(): value.strip()}
    digits = ""
    for ch in record["note"]:
        if ch.isdigit():
            digits += ch
    record["n"] = int(digits)
    return record
records = [parse(f"name{i % 17}, {i * 0.5}; note = x{i}") for i in range(3000)]
print(sum(r["n"] for r in records))
""",
    "generators": """
def numbers(n):
    i = 0
    while i < n:
        yield i
        i += 1
def squares(it):
    for x in it:
        yield x * x
print(sum(x for x in squares(numbers(40000)) if x % 2 == 0))
""",
    "objects: bodies": """
class Body:
    def __init__(self, x, mass):
        self.x = x
        self.v = 0.0
        self.mass = mass
    def move(self, dt):
        self.x += self.v * dt
bodies = [Body(float(i), 1.0 + i) for i in range(6)]
for _ in range(300):
    for a in bodies:
        for b in bodies:
            if a is not b:
                d = b.x - a.x
                a.v += b.mass * d / (d * d + 0.1) * 0.01
    for b in bodies:
        b.move(0.01)
print(bodies[0].x)
""",
    "objects: scalar autograd": """
class Value:
    def __init__(self, data, children=()):
        self.data = data
        self.grad = 0.0
        self.backward_of = lambda: None
        self.children = set(children)
    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))
        def back():
            self.grad += out.grad
            other.grad += out.grad
        out.backward_of = back
        return out
    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))
        def back():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out.backward_of = back
        return out
    def backward(self):
        order, seen = [], set()
        def build(v):
            if v not in seen:
                seen.add(v)
                for child in v.children:
                    build(child)
                order.append(v)
        build(self)
        self.grad = 1.0
        for v in reversed(order):
            v.backward_of()
weights = [Value(0.1 * i) for i in range(20)]
for step in range(60):
    total = Value(0.0)
    for w in weights:
        total = total + (w + Value(-1.0)) * (w + Value(-1.0))
    for w in weights:
        w.grad = 0.0
    total.backward()
    for w in weights:
        w.data -= 0.1 * w.grad
print(total.data)
""",
}
"""Texts that are programs of both languages, by what they do."""


def main() -> None:
    """Print the table."""
    options = Options(compile="never", echo=lambda text: None)
    print("plain Python, seconds of processor time")
    print(f"  {'':30}{'CPython':>11}{'gradcli':>11}{'ratio':>9}")
    for name, text in PROGRAMS.items():
        code, program = compile(text, name, "exec"), load(text)

        def python(code: Any = code) -> None:
            exec(code, {"print": lambda *values: None})

        def gradcli(program: Any = program) -> None:
            program.run(options=options)

        taken = race({"CPython": python, "gradcli": gradcli}, 5, process_time)
        least = [taken[who].least for who in ("CPython", "gradcli")]
        print(f"  {name:30}{least[0]:11.4f}{least[1]:11.4f}{least[1] / least[0]:9.1f}")
    print()
