"""`np.vectorize`: a function of parts of arrays on every part."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.builtins.trees import filled, leaves_of
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.functions import called
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, shape_of
from gradcli.engine.values.sizes import broadcast, describe
from gradcli.errors import run_error

FAMILY = 353, "NumPy's functions of functions"

Core = tuple[str, ...]
"""The names of the last dimensions of an array, which the function sees."""

_ARGUMENT = r"\((?:\w+(?:,\w+)*)?\)"
_SIGNATURE = re.compile(rf"({_ARGUMENT}(?:,{_ARGUMENT})*)->({_ARGUMENT}(?:,{_ARGUMENT})*)")


def _cores(signature: Any) -> tuple[list[Core], list[Core]]:
    """The dimensions of arguments and results in a text such as `(n,m),(m)->(n)`."""
    text = re.sub(r"\s+", "", signature) if isinstance(signature, str) else ""
    found = _SIGNATURE.fullmatch(text)
    if found is None:
        message = f"a signature is such as '(n,m),(m)->(n)', got {describe(signature)}"
        raise run_error("bad-argument", message, raises=ValueError)
    sides = [re.findall(r"\((.*?)\)", side) for side in found.groups()]
    given, out = ([tuple(name for name in d.split(",") if name) for d in s] for s in sides)
    return given, out


class _Vectorized:
    """The function of arrays, which does not go through the arguments at the places `excluded`."""

    def __init__(
        self, session: Any, function: Any, excluded: frozenset[Any], signature: Any
    ) -> None:
        self.session = session
        self.function = function
        self.excluded = excluded
        self.cores = None if signature is None else _cores(signature)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        moving = [i for i, a in enumerate(args) if i not in self.excluded and a is not None]
        arrays = [self._array(args[i]) for i in moving]

        def one(*parts: Any) -> Any:
            whole = list(args)
            for i, part in zip(moving, parts, strict=True):
                whole[i] = part
            return called(self.function, whole, "vectorize", keywords)

        cores: Sequence[Core] = [()] * len(arrays) if self.cores is None else self.cores[0]
        if len(cores) != len(arrays):
            message = f"the signature is for {len(cores)} arguments, got {len(arrays)}"
            raise run_error("wrong-arity", message, raises=TypeError)
        sizes: dict[str, int] = {}
        for array, core in zip(arrays, cores, strict=True):
            self._held(sizes, shape_of(array), core)
        return self._each(one, arrays, [len(core) for core in cores], sizes)

    def _array(self, value: Any) -> Any:
        value = self.session.tensor(list(value) if isinstance(value, (tuple, range)) else value)
        if not (isinstance(value, Tensor) or type(value) in NUMBERS):
            message = f"`np.vectorize` needs a number or tensor, got {describe(value)}"
            raise run_error("wrong-type", message, raises=TypeError)
        return value

    def _held(self, sizes: dict[str, int], shape: tuple[int, ...], core: Core) -> None:
        """Note the sizes of named dimensions, which are the same everywhere."""
        if len(shape) < len(core):
            message = f"the signature needs {len(core)} dimensions, got the shape {list(shape)}"
            raise run_error("shape-mismatch", message, raises=ValueError)
        for name, n in zip(core, shape[len(shape) - len(core) :], strict=True):
            if sizes.setdefault(name, n) != n:
                message = f"`{name}` of the signature is {sizes[name]} and {n}"
                raise run_error("shape-mismatch", message, raises=ValueError)

    def _each(
        self,
        one: Callable[..., Any],
        arrays: Sequence[Any],
        cores: Sequence[int],
        sizes: Mapping[str, int],
    ) -> Any:
        """The results of all parts. Dimensions before the last `cores` broadcast."""
        shapes = [shape_of(a) for a in arrays]
        around = [shape[: len(shape) - n] for shape, n in zip(shapes, cores, strict=True)]
        if not any(around):
            return self._checked(one(*arrays), sizes)
        size = broadcast(*around)
        shown = [
            self.session.do(ops.broadcast_to, [a], {"size": (*size, *shape[len(shape) - n :])})
            for a, shape, n in zip(arrays, shapes, cores, strict=True)
        ]
        rows = zip(*(self.session.iterate(a) for a in shown), strict=True)
        found = [self._each(one, row, cores, sizes) for row in rows]
        if not found:
            raise run_error("empty-reduction", "`np.vectorize` needs at least one part")
        columns = zip(*([*leaves_of(value)] for value in found), strict=True)
        return filled(found[0], (self.session.tensor([*column]) for column in columns))

    def _checked(self, out: Any, sizes: Mapping[str, int]) -> Any:
        """A result of the function, whose dimensions are those of the signature."""
        out = self.session.tensor(out)
        if self.cores is None:
            return out
        results = [self.session.tensor(v) for v in (out if isinstance(out, tuple) else (out,))]
        if len(results) != len(self.cores[1]):
            message = f"the signature has {len(self.cores[1])} results, got {len(results)}"
            raise run_error("wrong-arity", message, raises=TypeError)
        held = {**sizes}
        for result, core in zip(results, self.cores[1], strict=True):
            if not (isinstance(result, Tensor) or type(result) in NUMBERS):
                message = f"a function of arrays returns arrays, it returned {describe(result)}"
                raise run_error("wrong-type", message, raises=TypeError)
            if len(shape_of(result)) != len(core):
                message = f"the signature has {len(core)} dimensions, got {list(shape_of(result))}"
                raise run_error("shape-mismatch", message, raises=ValueError)
            self._held(held, shape_of(result), core)
        return out


def _vectorize(session: Any, function: Any, excluded: Any, signature: Any) -> Any:
    def made(decorated: Any) -> _Vectorized:
        return _Vectorized(session, decorated, frozenset(session.items(excluded)), signature)

    return made if function is None else made(function)


vectorize: Op = host(
    "numpy_vectorize",
    _vectorize,
    args=("function=None",),
    params={"excluded": (), "signature": None},
    doc="`np.vectorize`: the function on each element, or on each part of the dimensions that "
    "`signature` names, such as `'(n),(n)->()'`. Arguments whose places are in `excluded` are "
    "passed as they are.",
    source="NumPy: vectorize",
    keeps=True,
)
