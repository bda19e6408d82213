"""Number the slots of functions during lowering, and collect their instructions."""

from __future__ import annotations

from gradcli.grammar.meaning.names import Names
from gradcli.grammar.meaning.scopes import Scope
from gradcli.ir import program as ir
from gradcli.ir.visit import all_functions


class Function:
    """Slots of one function while its body is lowered. A temporary is free again after the
    instruction that reads it; `hidden` slots hold classes and names that their bodies assign.
    `owner` is the slot of the class around it, if any.
    """

    def __init__(self, scope: Scope | None, outer: Function | None, context: str) -> None:
        self.scope = scope
        self.outer = outer
        self.context = context  # the ctx parameter of an own function's method, else ""
        self.slots: dict[str, int] = {}
        self.temporaries: list[int] = []
        self.captures: dict[int, None] = {}
        self.busy = 0
        self.owner: int | None = None if outer is None else outer.owner
        self.members: dict[str, int] = {}  # of the class whose body is being lowered
        self.hidden: list[int] = []
        self.first: int | None = None  # the first parameter of a method, which `super()` uses

    @property
    def locals(self) -> tuple[int, ...]:
        """Its own slots."""
        return (*self.slots.values(), *self.hidden, *self.temporaries)


class Slots:
    """State of the lowering: the current function and block."""

    def __init__(self, names: Names, before: ir.Program | None = None) -> None:
        self.names = names
        self.count = 0
        self.variables: dict[int, str] = {}
        self.function = Function(None, None, "")
        self.out: list[ir.Instruction] = []
        self.renamed: set[str] = set()  # names that may get another value amid an expression
        if before is not None:
            self.continue_behind(before)
        for name in (*names.top, *names.sizes, *names.free):
            self.declare(name)

    def continue_behind(self, before: ir.Program) -> None:
        """Keep the slots of the cells before, and number new ones after them."""
        self.variables = dict(before.variables)
        for slot in before.main.locals:
            if slot in before.variables:
                self.function.slots[before.variables[slot]] = slot
            else:
                self.function.hidden.append(slot)
        used = (slot for f in all_functions(before.main) for slot in f.locals)
        self.count = max((*before.variables, *used), default=0)

    def new(self) -> int:
        """The number of a new slot."""
        self.count += 1
        return self.count

    def declare(self, name: str) -> int:
        """The slot of a name in the current function, added if it has none."""
        slots = self.function.slots
        if name not in slots:
            slots[name] = self.new()
            self.variables[slots[name]] = name
        return slots[name]

    def hide(self) -> int:
        """A new slot without a name that is never reused."""
        self.function.hidden.append(self.new())
        return self.function.hidden[-1]

    def capture(self, slot: int) -> int:
        """A slot of this or an enclosing function; the functions in between capture it."""
        function = self.function
        while function.outer is not None and slot not in function.locals:
            function.captures[slot] = None
            function = function.outer
        return slot

    def temporary(self) -> int:
        """A slot for an unnamed value."""
        function = self.function
        if function.busy == len(function.temporaries):
            function.temporaries.append(self.new())
        function.busy += 1
        return function.temporaries[function.busy - 1]

    def slot_of(self, name: str) -> int | None:
        """The slot of a name in this or an enclosing function, captured in between; None if it has
        none.
        """
        if name in self.function.members:
            return self.function.members[name]
        inner: list[Function] = []
        function: Function | None = self.function
        while function is not None:
            slot = function.slots.get(name)
            if slot is not None:
                for user in inner:
                    user.captures[slot] = None
                return slot
            inner.append(function)
            function = function.outer
        return None

    def own_slot(self, name: str) -> int:
        """The slot of a name that the program assigns."""
        slot = self.slot_of(name)
        assert slot is not None
        return slot

    def emit(self, instruction: ir.Instruction) -> None:
        """Add an instruction to the current block."""
        self.out.append(instruction)

    def target(self, busy: int, into: int | None) -> int:
        """The slot for a result: `into`, or a temporary after those made since `busy` are free
        again.
        """
        self.function.busy = busy
        return self.temporary() if into is None else into
