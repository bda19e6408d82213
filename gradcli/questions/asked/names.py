"""The names that a request differentiates by: those that it requests, or those inferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.watched_names import WatchedNames
from gradcli.errors import Diagnostic, RunError, UsageError, nearest
from gradcli.ir.program import Program

if TYPE_CHECKING:
    from gradcli.engine.static.origins import Origins


class Watch:
    """The names that a run watches.

    Fields:
        names: The names.
        requested: Those of them that the user has named, in their order.
        infers: True if those of `inferred` count, too.
        keep: True if the run keeps values.
    """

    def __init__(
        self,
        names: Iterable[str],
        *,
        requested: Sequence[str] = (),
        infers: bool = False,
        keep: bool = False,
    ) -> None:
        self.names = frozenset(names)
        self.requested = requested
        self.infers = infers
        self.keep = keep

    def keeping(self) -> Watch:
        """A copy that keeps values, for a run that is to be explained."""
        return Watch(self.names, requested=self.requested, infers=self.infers, keep=True)


def requested(program: Program, wrt: str | Sequence[str], flag: str = "--wrt") -> list[str]:
    """The names that a request has for `--wrt`, or for another flag, each once.

    Raises:
        UsageError: If one is no input and not assigned exactly once.
    """
    given = [wrt] if isinstance(wrt, str) else wrt
    names = list(dict.fromkeys(part.strip() for name in given for part in name.split(",")))
    for name in names:
        if name in program.watchable:
            continue
        if name in program.names:
            message = f"`{name}` is not assigned exactly once, so no one value can be meant"
        else:
            message = f"{flag} names `{name}`, which the program does not have"
        raise _unknown(message, name, watchable(program))
    return names


def watchable(program: Program) -> list[str]:
    """The names that a derivative can be taken by."""
    return [name for name in program.names if name in program.watchable]


def candidates(program: Program) -> list[str]:
    """The names to infer from if the user names none; the run tells which of them count.

    The params; if there are none, the inputs that are not int or bool; if there are none, all
    top-level names.
    """
    params = [i.name for i in program.inputs if i.kind == "param"]
    inputs = [
        i.name
        for i in program.inputs
        if i.kind in ("input", "free") and (i.type is None or i.type[0] == "float")
    ]
    return params or inputs or list(program.names)


def differentiated(
    program: Program,
    watched: WatchedNames,
    watch: Watch,
    values: Mapping[str, Any],
    origins: Callable[[], Origins],
) -> list[str]:
    """The names to differentiate with respect to, after the run.

    Args:
        program: The program.
        watched: What its finished run found at the names that it watched.
        watch: These names.
        values: Top-level names and their values.
        origins: Gives the origins of the result; called if there are no inputs.

    Raises:
        RunError: If a requested one holds no number or tensor.
        UsageError: If there is none.
    """
    for name in watch.requested:
        if name not in watched.points:
            what = f"it is {kind_of(values[name])}" if name in values else "it was not reached"
            message = f"cannot differentiate by `{name}`: {what}"
            raise RunError(Diagnostic("not-differentiable", message))
    if not watch.infers:
        return list(watch.requested)
    both = {*watch.requested, *inferred(program, watched, origins)}
    if not both and has_leaves(program, watched, origins):
        raise UsageError(
            Diagnostic(
                "nothing-to-differentiate",
                "the result depends on no leaf that a top-level name still holds",
                help="give each leaf a name of its own, name an input with --wrt, or declare "
                "`param x = 1.0`",
            )
        )
    if not both:
        raise UsageError(
            Diagnostic(
                "nothing-to-differentiate",
                "the program has no input, param or float constant to differentiate by",
                help="name one with --wrt, or declare `param x = 1.0`",
            )
        )
    return [name for name in program.names if name in both]


def inferred(program: Program, watched: WatchedNames, origins: Callable[[], Origins]) -> list[str]:
    """The params or inputs that turned out to be floats in a finished run. If there are none, the
    names that hold a leaf which requires grad, and on which the result depends by some path of the
    program; of a program without leaves the float constants on which it does.
    """
    found = [name for name in program.names if name in watched.points]
    if not found or not _are_constants(program, found):
        return found
    among = [name for name in found if name in origins().names]
    if has_leaves(program, watched, origins):
        return [name for name in among if name in watched.leaves]
    return among


def has_leaves(program: Program, watched: WatchedNames, origins: Callable[[], Origins]) -> bool:
    """True if a program without inputs has leaves that require grad."""
    inputs = [i for i in program.inputs if i.kind != "constant"]
    return not inputs and (bool(watched.leaves) or origins().leaves)


def _are_constants(program: Program, names: Iterable[str]) -> bool:
    kinds = {i.name: i.kind for i in program.inputs}
    return all(kinds.get(name, "constant") == "constant" for name in names)


def unknown_output(of: str, known: Sequence[str]) -> UsageError:
    """The error for a name of `--of` that does not exist."""
    return _unknown(f"--of names `{of}`, which the program does not have", of, known)


def _unknown(message: str, name: str, known: Sequence[str]) -> UsageError:
    help = nearest(name, known) or (f"it has {', '.join(known)}" if known else None)
    return UsageError(Diagnostic("unknown-name", message, help=help))
