"""Methods and built-ins of Python on grids of values: every result, refusal and value left behind is
Python's.
"""

import io
from contextlib import redirect_stdout

import pytest

from gradcli.program import load

ROUND = """
def shown(value): return sorted(map(repr, value)) if isinstance(value, set) else repr(value)
for at, call in enumerate(calls):
    for make in makers:
        x = make()
        try: found = shown(call(x))
        except Exception as error: found = 'refused'
        print(at, shown(make()), found, shown(x))
"""


IMPORTS = "import copy, functools, itertools, math, random\n"


def differences(values, calls):
    """The calls on values that do not print what they print in Python."""
    text = f"{IMPORTS}makers = [{', '.join(f'lambda: {v}' for v in values)}]\n"
    text += f"calls = [{', '.join(f'lambda x: {c}' for c in calls)}]\n{ROUND}"
    python = io.StringIO()
    with redirect_stdout(python):
        exec(text, {})
    found = list(load(text).run().printed)
    pairs = zip(found, python.getvalue().splitlines(), strict=True)
    return [(calls[int(a.split()[0])], a, b) for a, b in pairs if a != b]


TEXTS = [
    "''",
    "'a'",
    "'Hello, World'",
    "' x\\ty \\n'",
    "'aXbXaX'",
    "'ABC'",
    "'42'",
    "'-7'",
    "'ß½'",
    "'a b\\nc'",
]
OF_TEXT = [
    f"x.{name}({arguments})"
    for names, several in (
        (
            "upper lower title capitalize swapcase casefold isdigit isalpha isalnum isspace isupper "
            "islower isnumeric isdecimal isidentifier",
            ("", "1"),
        ),
        ("strip lstrip rstrip", ("", "None", "' '", "'a'", "'Xa'", "''", "1.5", "[1]")),
        ("split rsplit", ("", "None", "'X'", "' '", "', '", "'X', 1", "None, 1", "'X', maxsplit=1", "''", "'X', 0", "sep='a'", "1", "'X', 1.5")),
        ("startswith endswith", ("''", "'a'", "('a', 'd')", "'l', 2", "'l', 2, 4", "()", "1", "('a', 1)", "['a']")),
        ("find rfind index rindex count", ("'X'", "''", "'l'", "'l', 3", "'l', 3, 9", "'a', -2", "'zz'", "1", "None", "'a', None, 2")),
        ("partition rpartition", ("'X'", "', '", "'zz'", "''", "1")),
        ("removeprefix removesuffix", ("'a'", "'X'", "''", "'Hello'", "1")),
        ("ljust rjust center", ("0", "5", "-3", "6, '*'", "5, 'ab'", "'5'", "5.0", "True")),
        ("zfill", ("0", "6", "-1", "'3'")),
        ("splitlines", ("", "True", "False", "keepends=True")),
        ("replace", ("'X', 'yy'", "'X', ''", "'', '-'", "'X', 'Y', 1", "'X', 'Y', 0", "'X', 'Y', -1", "'a', 1", "1, 'a'")),
    )
    for name in names.split()
    for arguments in several
]  # fmt: skip
OF_TEXT += [
    *("x.join(['a', 'b'])", "x.join([])", "x.join(('a',))", "x.join('abc')", "x.join(['a', 1])"),
    *("x.join(str(i) for i in range(3))", "x.join({'k': 1})", "x[0]", "x[-1]", "x[1:]", "x[::-1]"),
    *("x[1:5:2]", "x[::0]", "x['a':]", "x[None:None:-2]", "x[-3:-1]", "x[9:]", "x['a']", "x[1.0]", "x[None]", "x[3]", "x[-4]", "x[0, 1]"),
    *("x * 2", "2 * x", "x * 0", "x * -1", "x * True", "x + 'b'", "'b' + x", "'a' in x", "'' in x"),
    *("'X' not in x", "x == 'a'", "x != 'a'", "x < 'b'", "'b' <= x", "len(x)", "list(x)", "tuple(x)"),
    *("sorted(x)", "sorted(x, reverse=True)", "max(x)", "min(x)", "[*x]", "list(reversed(x))"),
    *("list(enumerate(x))", "list(zip(x, x[1:]))", "bool(x)", "not x", "str(x)", "int(x)", "float(x)"),
    *("ord(x)", "[c for c in x if c > 'a']", "dict.fromkeys", "x is x", "x and 1", "x or 1"),
    *("f'{x}'", "f'{x!r}'", "f'{x!s:>4}'", "f'{x!a}'", "f'{x:5}'", "f'{x:*^7}'", "f'{x:.2}'", "f'{x:<6.1}|'"),
    *("'%s' % x", "'%r' % x", "'%a' % x", "'%5s|%-5s|%.1s' % (x, x, x)", "'%c' % x", "'%d' % x", "'%%' % ()"),
    *("'{}'.format(x)", "'{!r:>9}'.format(x)", "'{0:^5}{0}'.format(x)", "'{a[0]}'.format(a=x)"),
    *("x.format()", "x.format(1)", "x % ()", "x % (1,)", "x % 1", "hash(x) == hash(x + '')", "any(x)", "all(x)"),
    *("set(x) == {*x}", "isinstance(x, str)", "callable(x)", "{x: 1}[x]", "x in [x]", "x in (1, 2)", "next(iter(x), 0)"),
]  # fmt: skip
OF_TEXT.remove("dict.fromkeys")

LISTS = ["[]", "[None]", "['b', 'a']", "[3, 'x', None]", "[(2, 'b'), (1, 'z'), (1, 'a')]",
         "['x', 'y', 'x', 'z', 'x']", "[1, 2, 1, 3]", "[2.5, -1, True]", "[{'k': 1}, {'k': 0}]"]  # fmt: skip
OF_LISTS = [
    *("x.append(1)", "x.append(x[0])", "x.append()", "x.append(1, 2)", "x.extend([1, 'a'])", "x.extend('ab')"),
    *("x.extend(range(2))", "x.extend({'q': 1})", "x.extend(c for c in 'ab')", "x.extend(1)", "x.extend(x)"),
    *("x.insert(0, 9)", "x.insert(1, 9)", "x.insert(-1, 9)", "x.insert(99, 9)", "x.insert(-99, 9)", "x.insert(0)"),
    *("x.pop()", "x.pop(0)", "x.pop(-2)", "x.pop(7)", "x.pop(-7)", "x.pop('a')", "x.remove('x')", "x.remove(1)"),
    *("x.remove(None)", "x.remove(['a', None])", "x.index('x')", "x.index('x', 1)", "x.index('x', 1, 2)", "x.index('x', -2)"),
    *("x.index(1)", "x.index(1, 1)", "x.index(1, 1, 3)", "x.index(1, -1)", "x.index(True)", "x.index((1, 'z'))"),
    *("x.count('x')", "x.count(1)", "x.count(None)", "x.reverse()", "x.clear()", "x.copy()"),
    *("x.copy() is x", "x.sort()", "x.sort(reverse=True)", "x.sort(key=str)", "x.sort(key=lambda v: -len(str(v)))"),
    *("x.sort(key=str, reverse=True)", "sorted(x)", "sorted(x, reverse=True)", "sorted(x, key=lambda v: str(v)[::-1])"),
    *("sorted(x, reverse=1)", "sorted(x, key=None)", "min(x)", "max(x)", "min(x, key=str)", "max(x, key=str)"),
    *("max(x, default=7)", "min(x, default=7)", "max(x, key=str, default=0)", "max(x, key=lambda v: 0)", "min(x, key=lambda v: 0)"),
    *("x[0]", "x[-1]", "x[4]", "x[-6]", "x[1:]", "x[:-1]", "x[::2]", "x[::-1]", "x[5:]", "x['a']", "x[0.5]", "x[True:]", "x[::0]", "x[1.5:]", "x[:[1]]"),
    *("x[None]", "x.__len__", "len(x)", "x + ['q']", "['q'] + x", "x + []", "x * 2 if 'x' in x else 0", "x == [1, 2, 1, 3]"),
    *("x != [None]", "x == []", "x == ['b', 'a']", "x == [['k'], ['a', None]]", "[] == x", "x == (1,)", "x is x", "x is []", "None in x"),
    *("'x' in x", "1 not in x", "(1, 'a') in x", "1.0 in x", "list(x)", "tuple(x)", "[*x, 1]", "list(reversed(x))"),
    *("list(enumerate(x))", "list(enumerate(x, 3))", "list(enumerate(x, start=-1))", "list(zip(x, 'ab'))", "list(zip(x))"),
    *("list(zip(x, x[1:], strict=False))", "list(zip(x, 'ab', strict=True))", "list(map(str, x))", "list(map(lambda a, b: (a, b), x, 'abc'))"),
    *("list(filter(None, x))", "list(filter(lambda v: v != 1, x))", "any([not v for v in x])", "all([v is None for v in x])"),
    *("next(iter(x))", "next(iter(x), 'none')", "[v for v in x if v]", "{str(v): v for v in x}", "set(map(str, x)) == {str(v) for v in x}"),
    *("str(x)", "f'{x}'", "f'{x!r:>30}'", "'%s' % x", "'{}'.format(x)", "' '.join(map(str, x))", "bool(x)", "not x", "x or 1", "x and 1"),
    *("isinstance(x, list)", "isinstance(x, (tuple, dict))", "dict(x)", "dict(x[:0])", "dict(enumerate(x))", "hash(x)", "{x: 1}", "callable(x)"),
    *("sum(x)", "sum(x, 0)", "sum(x[:0], 5)", "sum([[v] for v in x], [])", "sum((v for v in [1, 2]), 10)", "hasattr(x, 'append')", "hasattr(x, 'nope')"),
]  # fmt: skip
OF_LISTS = [c for c in OF_LISTS if "__len__" not in c]


# a list of lists is a tensor where it is compared with a number, and for `max` without a key
NESTED = ["[['k'], ['a', None]]", "[['x'], []]", "[[], ['x'], ['x']]"]
OF_NESTED = [
    c for c in OF_LISTS if "1" not in c and (not c.startswith(("min(x", "max(x")) or "key=" in c)
]
OF_NESTED += [
    "x.count(['x'])",
    "['k'] in x",
    "x.index(['x'])",
    "x.remove(['x'])",
    "['x', 'y'] in x",
]


DICTIONARIES = [
    "{}",
    "{'a': 1}",
    "{'b': 2, 'a': 1}",
    "{1: 'x', (1, 2): [3], None: 0.5}",
    "{True: 'yes', 2.0: 'no'}",
    "{'a': {'b': {}}}",
]
OF_DICTIONARIES = [
    *("x['a']", "x['q']", "x[1]", "x[1.0]", "x[2]", "x[(1, 2)]", "x[None]", "x[[1]]", "x.get('a')", "x.get('q')", "x.get('q', 7)"),
    *("x.get([1])", "x.get('a', 7)", "x.get()", "x.pop('a')", "x.pop('q')", "x.pop('q', 7)", "x.pop('a', 7)", "x.pop(1)"),
    *("x.popitem()", "x.setdefault('a', 5)", "x.setdefault('q', 5)", "x.setdefault('q')", "x.setdefault([])", "x.clear()", "x.copy()"),
    *("x.copy() is x", "x.copy() == x", "x.update({'q': 1})", "x.update(q=2)", "x.update({'a': 0}, b=9)", "x.update([('p', 1), (2, 3)])"),
    *("x.update(zip('ab', [5, 6]))", "x.update([(1,)])", "x.update(1)", "x.update()", "x.update([([], 1)])", "x.update('ab')"),
    *("list(x)", "list(x.keys())", "list(x.values())", "list(x.items())", "x.keys()", "x.values()", "x.items()", "len(x)", "len(x.items())"),
    *("'a' in x", "'q' not in x", "1 in x", "None in x", "[1] in x", "'a' in x.keys()", "1 in x.values()", "('a', 1) in x.items()", "(1, 2) in x"),
    *("x == {'a': 1}", "x != {'a': 1}", "x == {}", "x == {'a': 1, 'b': 2}", "x == [('a', 1)]", "x != 1", "{**x} == x", "x is x", "{} is x"),
    *("x | {'a': 5}", "{'a': 5} | x", "x | [1]", "x & x", "x + x", "x - x", "x * 2", "x < x", "{**x, 'z': 1}", "dict(x, k=1)", "dict(x)", "dict(k=1)"),
    *("x.keys() & {'a'}", "x.keys() | {'a'} == {'a'} | x.keys()", "x.keys() - {'a'} == {*x} - {'a'}", "x.keys() ^ x.keys()", "x.keys() <= {'a', 'b'}"),
    *("x.keys() == {'a'}", "x.items() == x.items()", "bool(x)", "not x", "x or 1", "x and 1", "str(x)", "f'{x}'", "'%s' % x", "'%(a)s' % x"),
    *("'%(a)s %(b)d' % x", "'{a}'.format(**x)", "'{0[a]}'.format(x)", "sorted(x, key=str)", "max(x, key=str)", "min(x.values(), key=str, default=0)"),
    *("[k for k in x]", "[(k, v) for k, v in x.items()]", "{v: k for k, v in x.items()}", "{k: v for k, v in x.items() if k != 'a'}", "sum(len(str(k)) for k in x)"),
    *("list(enumerate(x))", "list(zip(x, x.values()))", "dict(zip(x.keys(), range(9)))", "list(reversed(x))", "list(map(str, x))", "next(iter(x))", "hash(x)"),
    *("isinstance(x, dict)", "isinstance(x, (set, list))", "tuple(x)", "set(x) == {*x}", "any(x)", "all(x.values())", "x.nope", "list(reversed(x.items()))"),
]  # fmt: skip
OF_DICTIONARIES.remove("x.nope")

SETS = ["set()", "{1}", "{1, 2}", "{'a'}", "{(1, 2)}", "{0, None, 'b'}"]
OF_SETS = [
    f"x.{name}({arguments})"
    for name in (["union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint", "update"])
    for arguments in ("{1}", "{1, 2, 3}", "[1, 1]", "range(3)", "'ab'", "set()", "x", "1", "[[]]", "", "{1}, {2}", "{'a': 1}")
]  # fmt: skip
OF_SETS += [f"x {sign} {other}" for sign in ("|", "&", "-", "^", "<", "<=", ">", ">=", "==", "!=") for other in ("{1}", "{1, 2}", "set()", "{'a'}", "[1]", "1", "x")]  # fmt: skip
OF_SETS += [
    *("x.add(1)", "x.add((1, 2))", "x.add([1])", "x.add()", "x.remove(1)", "x.remove('zz')", "x.remove([1])", "x.discard(1)", "x.discard('zz')"),
    *("x.discard([])", "x.clear()", "x.copy()", "x.copy() is x", "x.copy() == x", "len(x)", "1 in x", "'a' in x", "(1, 2) in x", "[1] in x", "1.0 in x"),
    *("True in x", "2 not in x", "bool(x)", "not x", "sorted(x, key=str)", "set([1, 1])", "set('a')", "set(x) == x", "list(x) == [*x]", "tuple(x) == (*x,)"),
    *("sum(x)", "max(x, key=str, default=0)", "{str(v) for v in x} == set(map(str, x))", "x[0]", "hash(x)", "{x}", "isinstance(x, set)", "list(reversed(x))"),
    *("len([v for v in x if v])", "x.pop() if len(x) < 2 else 0", "str(x) if len(x) < 2 else 0", "f'{x}' if len(x) < 2 else 0", "any(x)", "all(x)", "[*x] == list(x)"),
]  # fmt: skip

TUPLES = [
    "()",
    "(1,)",
    "(1, 2, 1)",
    "('b', 'a')",
    "((1, 'x'), (1, 'a'))",
    "(None, 2.5, True)",
    "({1: 2}, 'k')",
]
OF_TUPLES = [
    *("x[0]", "x[-1]", "x[5]", "x[-5]", "x[1:]", "x[:1]", "x[::0]", "x[:1.0]", "x[::-1]", "x['a']", "x[0.5]", "x[None]", "x[0, 1]", "x.index(1)", "x.index(1, 1)", "x.index('a')"),
    *("x.index(1, 1, 2)", "x.index(1, -1)", "x.index('q')", "x.count(1)", "x.count('a')", "x.count()", "x + (1,)", "(1,) + x", "x + [1]", "x * 2", "2 * x", "x * 0"),
    *("x * -1", "x * True", "x * 1.5", "x * x", "x - x", "x == (1,)", "x != (1,)", "x == ()", "x == [1]", "x < (1,)", "x < (1, 2, 2)", "x <= (1, 2, 1)", "x > ('a',)"),
    *("x >= ()", "x < x", "x <= x", "x > x", "x >= x", "1 in x", "'a' in x", "None in x", "(1, 'x') in x", "2 not in x", "len(x)", "list(x)", "tuple(x)", "(*x, 0)"),
    *("sorted(x)", "sorted(x, key=str)", "max(x)", "min(x)", "max(x, default=0)", "list(reversed(x))", "list(enumerate(x, 1))", "list(zip(x, x))", "sum(x)", "hash(x) == hash(x)"),
    *("{x: 1}", "{x}", "bool(x)", "not x", "x or 1", "x and 1", "str(x)", "f'{x}'", "f'{x!s:>9}'", "'%s' % (x,)", "'%s %s' % x", "'{}'.format(x)", "'{0[0]}'.format(x)", "'{} {}'.format(*x)"),
    *("isinstance(x, tuple)", "isinstance(x, (list, dict))", "any(x)", "all(x)", "x is x", "set(x)", "dict([x])", "dict(x)", "[a for a in x]", "next(iter(x))", "list(map(str, x))"),
    *("(lambda a, *b: (a, b))(*x)", "[a for a, *b in [x]]", "[b for *a, b in [x]]", "[a + b for a, b in [x]]", "'-'.join(x)", "(lambda a, b=0: (a, b))(*x)"),
]  # fmt: skip

NUMBERS = ["0", "1", "-7", "2.5", "-0.5", "True", "False", "10**9", "1e18", "65", "1e16", "-3.0"]
OF_NUMBERS = [f"f'{{x:{form}}}'" for form in (
    *("d", "5d", "05d", "+d", "x", "X", "o", "b", "#x", "c", "n", ",", "_", "e", ".3e", "f", ".0f", "8.2f", "<8.1f|", "^9", "*^9", "=+9", "g", ".2g"),
    *("G", "%", ".1%", "s", "5", " d", " .1f", ",.2f", "08.3f", ">", "", "#.3g", "q", "..", "10.3", "e<6", "z.1f"),
)]  # fmt: skip
OF_NUMBERS += [f"'%{form}' % x" for form in (
    *("d", "5d", "-5d|", "05d", "+d", " d", "i", "u", "x", "X", "o", "#x", "#o", "e", ".2e", "E", "f", ".0f", "8.2f", "-8.1f|", "g", ".3g", "G", "s", "r", "a"),
    *("5s", ".2s", "c", "5.1s|", "%", "q", "ld", "hd", "+.1f", "#g", "5%", "08.3f", "-08d|", "+ d"),
)]  # fmt: skip
OF_NUMBERS += [
    *("'%*d' % (5, x)", "'%-*d|' % (5, x)", "'%.*f' % (1, x)", "'%*.*f' % (8, 2, x)", "'%s %s' % (x, x)", "'%d %s' % x", "'%' % x", "'%(a)d' % {'a': x}", "'%(b)d' % {'a': x}"),
    *("'{:{}}'.format(x, 9)", "'{:{w}.{p}f}'.format(x, w=9, p=2)", "'{0:>{1}}'.format(x, 6)", "'{:{}}'.format(x)", "'{} {1}'.format(x, x)", "'{1} {0}'.format(x, 1)", "'{0} {}'.format(x, x)"),
    *("'{a} {b}'.format(a=x, b=1)", "'{a}'.format(x)", "'{}'.format()", "'{2}'.format(x, x)", "'{{{}}}'.format(x)", "'{'.format(x)", "'}'.format(x)", "'{!r}'.format(x)", "'{!q}'.format(x)", "'{0[0]}'.format(x)"),
    *("str(x)", "repr(x)", "f'{x!r}'", "f'{x = }'", "f'{x=:>9}'", "f'{x:{8}}'", "f'{x:{8}.{2}}'", "int(x)", "float(x)", "bool(x)", "abs(x)", "-x", "+x", "not x", "round(x)", "round(x * 1, 1)"),
    *("round(x * 1, -1)", "round(x, None)", "divmod(x, 3)", "divmod(x, -2.5)", "x // 2", "x % 3", "x % -2.5", "-x // 3", "x ** 2", "x * x", "x - 1", "x / 4", "x < 1", "x <= 1", "x > 1", "x >= 1"),
    *("x == 1", "x != 1", "1 < x < 70", "x == 1 == True", "x is x", "x is 1.0", "x is 1", "x is not 1", "x is True", "x in (1, 2.5)", "x not in [0]", "x in {1, 65}", "x in {1: 2}", "x and 5", "x or 5"),
    *("min(1, x, key=lambda v: -v)", "max(x, -x, key=abs)", "range(x)", "list(range(x))[:3] if -9 < x < 99 else 0", "chr(x * 1)", "len(x)", "list(x)"),
    *("isinstance(x, int)", "isinstance(x, float)", "isinstance(x, bool)", "isinstance(x, (str, int))", "hash(x) == hash(x)", "callable(x)", "{x: 1}", "{x, 1}", "[0, 1][x * 1]", "'ab'[x * 1]", "'a' * x if x < 9 else 0"),
    *("(1, 2) * x if x < 9 else 0", "x if x else 'zero'", "pow(x, 2)", "type(x).__name__", "x & 6", "x | 6", "x ^ 6", "~(x * 1)", "[x] == [1]", "(x,) < (1,)", "[10, 20, 30][x:]", "x + 'a'", "'a' + x", "x + (1,)", "x + None"),
]  # fmt: skip
OF_NUMBERS = [c for c in OF_NUMBERS if c not in ("x is 1.0", "x is 1", "x is not 1")]

ITEMS = [
    "[]",
    "[3, 1, 2]",
    "'abcd'",
    "(0, 5)",
    "{'k': 1, 'l': 2}",
    "range(4)",
    "[2.5, -1, 7, 4, 4]",
    "5",
    "None",
]
OF_ITEMS = [
    *("list(itertools.accumulate(range(5)))", "list(itertools.accumulate([2.5, 1]))", "list(itertools.accumulate([]))"),
    *("list(itertools.chain(x, 'z'))", "list(itertools.chain())", "list(itertools.product(x, [0, 1]))", "list(itertools.product(x, repeat=2))"),
    *("list(itertools.combinations(x, 2))", "list(itertools.combinations(x, 0))", "list(itertools.permutations(x, 2))", "len(list(itertools.permutations(x)))", "list(itertools.combinations(x, 9))"),
    *("list(itertools.accumulate(x, lambda a, b: b))", "list(itertools.islice(x, 2))", "list(itertools.islice(x, 1, 3))", "list(itertools.islice(x, 1, None))"),
    *("list(itertools.islice(x, 0, None, 2))", "list(itertools.islice(x, None))", "list(itertools.islice(itertools.cycle(x), 6))", "list(itertools.zip_longest(x, 'ab'))", "list(itertools.islice(x, 0))"),
    *("list(itertools.zip_longest(x, 'ab', fillvalue=0))", "list(itertools.repeat(x, 2))", "list(itertools.islice(itertools.repeat(x), 3))", "list(itertools.repeat(x, 0))", "list(itertools.islice(x, 0, 9, 3))"),
    *("functools.reduce(lambda a, b: (a, b), x)", "functools.reduce(lambda a, b: (a, b), x, 0)", "functools.partial(max, 2)(3)", "functools.partial(lambda *a, **k: (a, k), x, k=1)(4, m=2)", "functools.partial(lambda *a, **k: (a, k), k=1)(k=x)"),
    *("copy.copy(x)", "copy.copy(x) == x", "copy.deepcopy(x)", "copy.deepcopy([x, x])", "copy.copy([x])[0] is x", "(lambda p: (p[0] is p[1]))(copy.deepcopy([[x], [x]]))", "(lambda q: (lambda p: p[0] is p[1])(copy.deepcopy([q, q])))([x])"),
    *("list(itertools.islice(itertools.count(), 3))", "list(itertools.islice(itertools.count(2), 3))", "list(itertools.islice(itertools.count(2, -0.5), 3))", "list(itertools.islice(itertools.count(step=3), 3))"),
    *("sorted(x)", "list(map(lambda v: (v, v), x))", "list(filter(lambda v: v, x))", "list(enumerate(x, True))"),
    *("math.fsum(x)", "math.prod(x)", "math.prod(x, start=2)", "math.dist(x, x)", "math.dist([1.0, 2.0], [4.0, 6.0])", "math.gcd(*x)", "math.lcm(*x)", "math.gcd()", "math.lcm()", "math.gcd(12, 18, 27)"),
    *("next(iter(x))", "next(iter(x), 'end')", "[*x]", "{*x} == set(x)", "(lambda *a: len(a))(*x)", "[a for a in x if a]", "len(x)", "list(zip(x, x))", "list(zip(x, 'ab', strict=True))"),
]  # fmt: skip
SEEDS = ["0", "7", "'word'", "2.5", "-3", "True", "None", "[1]"]
OF_SEEDS = [
    f"(random.seed(x), {call}) if x is not None else 0"
    for call in (
        *("random.random()", "random.uniform(1, 4)", "random.gauss(0, 1)", "random.gauss(2.0, 3.0)", "random.gauss()", "random.gauss(1)", "random.gauss(sigma=2)"),
        *("random.normalvariate(1.0, 0.5)", "random.normalvariate()", "random.randint(2, 9)", "random.randint(4, 4)", "random.randint(5, 4)", "random.randrange(9)", "random.randrange(2, 9)"),
        *("random.randrange(9, 2, -2)", "random.randrange(2, 2)", "random.randrange(1.5)", "random.choice([4, 5, 6])", "random.choice('abc')", "random.choice([])", "random.choices('abc', k=4)"),
        *("random.choices('abc', [1, 2, 0], k=5)", "random.choices([1, 2], weights=[0.5, 0.0])", "random.choices('ab', [1], k=2)", "random.choices('ab', k=0)", "random.choices([], k=1)"),
        *("random.sample(range(9), 3)", "random.sample([1, 2], 2)", "random.sample([1], 2)", "random.sample([1], 0)", "random.sample([1, 2, 3], -1)", "random.shuffle([1, 2])"),
        *("(lambda l: (random.shuffle(l), l))([1, 2, 3, 4, 5])", "random.uniform(-1.5, -1.5)"),
    )
]  # fmt: skip
WHOLES = ["0", "1", "5", "12", "-4", "2.5", "20"]
OF_WHOLES = [
    *("math.factorial(x)", "math.comb(x, 2)", "math.comb(5, x)", "math.perm(x)", "math.perm(x, 2)", "math.perm(5, x)", "math.gcd(x, 18)", "math.lcm(x, 4)", "math.isqrt(x)", "math.gcd(x)", "math.lcm(x, 6, 10)"),
    *("math.frexp(x)", "math.ldexp(x, 3)", "math.ldexp(0.5, x)", "math.modf(x)", "math.nextafter(x, 9)", "math.ulp(x)", "math.dist([x, 1.0], [2.0, x])", "math.fsum([x, 0.1, 0.2])", "math.prod([x, 3])", "math.gcd('a', 2)", "math.fabs(x * 1.0)", "['k'] * x"),
    *("math.floor(x)", "math.ceil(x)", "math.trunc(x)", "math.copysign(2.0, x)", "math.hypot(x, 3.0)", "math.isfinite(x)", "math.isnan(x)", "math.isinf(x)", "math.isclose(x, 1)", "math.fmod(x, 3.0)"),
    *("range(x)", "list(range(2, x))[:9]", "list(range(x, 0, -2))[:9]", "range(1, x, 2)", "chr(x)", "'ab' * x", "(1,) * x", "[7, 8, 9][x]", "'abc'[:x]", "[7, 8, 9][x:]", "[7, 8, 9][::x]"),
]  # fmt: skip

# numbers mean what they mean in PyTorch: ints have 64 bits, `~True` is False, `max` promotes
TABLES = {
    "text": (TEXTS, OF_TEXT), "lists": (LISTS, OF_LISTS), "lists of lists": (NESTED, OF_NESTED),
    "dictionaries": (DICTIONARIES, OF_DICTIONARIES), "sets": (SETS, OF_SETS), "tuples": (TUPLES, OF_TUPLES),
    "numbers": (NUMBERS, OF_NUMBERS), "items": (ITEMS, OF_ITEMS), "random numbers": (SEEDS, OF_SEEDS), "whole numbers": (WHOLES, OF_WHOLES),
}  # fmt: skip


@pytest.mark.parametrize(("values", "calls"), TABLES.values(), ids=TABLES)
def test_every_call_on_every_value_is_python_s(values, calls):
    wrong = differences(values, calls)
    assert not wrong, "\n".join(f"{call}: {a}\n  in Python {b}" for call, a, b in wrong)
