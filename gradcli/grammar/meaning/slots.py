"""Number the slots of functions during lowering, and collect their instructions."""

from __future__ import annotations

from gradcli import ir
from gradcli.grammar.meaning.names import Names, Scope


class Function:
    """Slots of one function while its body is lowered. Temporaries are used again as soon as the
    instruction that reads them has been made; the `hidden` ones hold a class and what its body
    assigns. `owner` is the slot of the class whose method it is, or a function in that.
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
        self.members: dict[str, int] = {}  # of the class in whose body the lowering is
        self.hidden: list[int] = []
        self.first: int | None = None  # the first parameter of a method, which `super()` is about

    @property
    def locals(self) -> tuple[int, ...]:
        """Its own slots."""
        return (*self.slots.values(), *self.hidden, *self.temporaries)


class Slots:
    """State of the lowering: the current function and block."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.count = 0
        self.variables: dict[int, str] = {}
        self.function = Function(None, None, "")
        self.out: list[ir.Instruction] = []
        for name in (*names.top, *names.sizes, *names.free):
            self.declare(name)

    def new(self) -> int:
        """The number of a new slot."""
        self.count += 1
        return self.count

    def declare(self, name: str) -> int:
        """The slot of a name of the present function, new if it has none."""
        slots = self.function.slots
        if name not in slots:
            slots[name] = self.new()
            self.variables[slots[name]] = name
        return slots[name]

    def hide(self) -> int:
        """A slot without a name, which is kept."""
        self.function.hidden.append(self.new())
        return self.function.hidden[-1]

    def capture(self, slot: int) -> int:
        """A slot of this function or one around it, which captures it then."""
        function = self.function
        while function.outer is not None and slot not in function.locals:
            function.captures[slot] = None
            function = function.outer
        return slot

    def temporary(self) -> int:
        """A slot for what has no name."""
        function = self.function
        if function.busy == len(function.temporaries):
            function.temporaries.append(self.new())
        function.busy += 1
        return function.temporaries[function.busy - 1]

    def slot_of(self, name: str) -> int | None:
        """The slot of a name of this function or one around it, which captures it then."""
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
        """Put an instruction into the present block."""
        self.out.append(instruction)

    def target(self, busy: int, into: int | None) -> int:
        """Where a result goes once its operands, made since `busy`, have been read."""
        self.function.busy = busy
        return self.temporary() if into is None else into
