"""The state of one run: random numbers, output, passes and watched names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.watched_names import WatchedNames
from gradcli.engine.tape.graph import GONE, LIVE, SPENT, Node, Site
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np
from gradcli.engine.values.limits import QUESTION, Counters
from gradcli.errors import Diagnostic
from gradcli.limits import DEFAULT

if TYPE_CHECKING:
    from gradcli.engine.run.session.taken_steps import TakenSteps


class RandomNumbers:
    """Random numbers of a run: PyTorch's, NumPy's and Python's generators from one seed, each made
    at its first use.

    Fields:
        stream: which of the seed's streams this run takes.
        precision: the dtype whose numbers PyTorch's names draw if they are given none. It is
            PyTorch's own default, float32, also where the numbers are kept as float64.
    """

    def __init__(self, seed: int | None = None, stream: int = 0) -> None:
        self.stream = stream
        self.precision = "float32"
        self._seed = seed
        self._generator: Any = None
        self._numpy: Any = None
        self._python: Any = None

    @property
    def seed(self) -> int:
        """The seed that was given, or else drawn at its first use."""
        if self._seed is None:
            self._seed = int.from_bytes(os.urandom(8))
        return self._seed

    @property
    def generator(self) -> Any:
        """The `TorchGenerator` that PyTorch's names draw from."""
        if self._generator is None:
            self.begin(self.seed, self.stream)
        return self._generator

    def precision_for(self, dtype: str | None) -> str:
        """The dtype whose numbers are drawn for a tensor of a dtype, which may be the default."""
        return self.precision if dtype in (None, QUESTION.default_dtype) else str(dtype)

    def begin(self, seed: int, stream: int = 0) -> None:
        """Restart the random numbers of PyTorch's names at a stream of a seed."""
        from gradcli.engine.numerics.torch_generator import TorchGenerator

        self._generator = TorchGenerator(seed, stream)

    @property
    def numpy(self) -> Any:
        """The generator of `np.random`, at the run's seed until the program gives it one."""
        if self._numpy is None:
            seed = [self.seed % 2**32, self.stream % 2**32]
            self._numpy = np.random.RandomState(seed)
        return self._numpy

    @numpy.setter
    def numpy(self, generator: Any) -> None:
        self._numpy = generator

    @property
    def python(self) -> Any:
        """The generator of Python's `random`, at the run's seed until the program gives it one."""
        if self._python is None:
            from random import Random

            self._python = Random(self.seed + (self.stream << 64))
        return self._python


class Output:
    """The targets of a run's printed text, warnings and plots."""

    def __init__(self, echo: Callable[[str], None] = lambda text: None, plots: Any = None) -> None:
        self.echo = echo
        self.plots = plots
        self.warnings: dict[str, Diagnostic] = {}

    def warn(self, code: str, message: str, help: str, site: Site | None) -> None:
        """Add a warning about a place of the program, unless there is one of its code."""
        if site is not None and code not in self.warnings:
            self.warnings[code] = Diagnostic(
                code, message, None, site.span, help=help, severity="warning"
            )


class Passes:
    """`backward`, `grad` and dual tensors of one run.

    Fields:
        subject: the tensor that `backward` was called on last, with its cotangent, in a run that
            keeps values.
        transforms: how many nested transforms are running.
        rules: how many calls of functions with rules of the program's own there were.
        ending: functions to call at the end of the current pass.
        duals: tangents of dual tensors, by their points; None outside `dual_level`.
        anomaly: passes refuse a node that gives nan.
        notes: what the program has noted on nodes, as `grad_fn.metadata`.
    """

    def __init__(self, *, repeated: bool) -> None:
        self.subject: tuple[Tensor, Any] | None = None
        self.transforms = 0
        self.rules = 0
        self.ending: list[Callable[[], Any]] = []
        self.duals: dict[Node, Any] | None = None
        self.anomaly = False
        self.notes: dict[Node, dict[Any, Any]] = {}
        self._repeated = repeated  # the command may go through the same nodes later
        self._retained: WeakSet[Tensor] | None = None

    def left(self, retain: bool) -> int:
        """The state in which a `backward` of the program leaves the nodes that it visits. Nodes
        that another derivative may still need are not freed.
        """
        if retain:
            return LIVE
        return SPENT if self._repeated or self.transforms > 0 else GONE

    def retain(self, x: Tensor) -> None:
        """Keep the gradient of a computed tensor in each pass."""
        if self._retained is None:
            self._retained = WeakSet()
        self._retained.add(x)

    @property
    def retained(self) -> list[Tensor]:
        """The computed tensors that keep their gradients in each pass."""
        return [*(self._retained or ())]

    @contextmanager
    def one(self) -> Iterator[None]:
        """A pass, at whose end is done what hooks have asked for."""
        before, self.ending = self.ending, []
        try:
            yield
            for end in self.ending:
                end()
        finally:
            self.ending = before


class Session(Evaluator):
    """The state of one run, grouped by its users. It is its own evaluator, so that code that does
    ops reaches `recording` and `do` at once. A function that needs one part gets only that part.

    Fields:
        watched: the names that the command differentiates.
        random: its random numbers.
        output: the sinks of its texts, plots and warnings.
        passes: the state of its backward passes.
        counters: its remaining steps and calls.
        own_calls: called with each call of an own function: the function, its arguments, its site.
        steps: of the differential equations that it solves; None if nobody asks for them.
        packing_refused: why hooks of saved tensors are refused now, the innermost reason last.
        functions: built-ins that the program uses as values, by name.
    """

    def __init__(
        self,
        *,
        watched: WatchedNames | None = None,
        random: RandomNumbers | None = None,
        output: Output | None = None,
        counters: Counters | None = None,
        own_calls: Callable[[Any, Sequence[Any], Site | None], None] | None = None,
        steps: TakenSteps | None = None,
        **evaluation: bool,
    ) -> None:
        super().__init__(**evaluation)
        self.watched = watched or WatchedNames()
        self.random = random or RandomNumbers()
        self.output = output or Output()
        self.passes = Passes(repeated=bool(self.watched.names) or self.keep)
        self.counters = counters or Counters(DEFAULT)
        self.own_calls = own_calls
        self.steps = steps
        self.packing_refused: list[str] = []
        self.functions: dict[str, Callable[..., Any]] = {}
