"""Contexts that say whether steps are recorded, as values of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.run.code.functions import called
from gradcli.engine.run.session.evaluator import Evaluator


class Recording:
    """`torch.no_grad()` or `torch.enable_grad()` without `with` or `@`."""

    __slots__ = ("_before", "_name", "_on", "_session")
    _members: tuple[dict[str, Any], dict[str, Any]]

    def __init__(self, session: Evaluator, name: str, on: bool) -> None:
        self._session = session
        self._name = name
        self._on = on or session.transparent
        self._before: list[bool] = []

    def enter(self) -> None:
        """Begin a block of it; they nest."""
        self._before.append(self._session.recording)
        self._session.recording = self._on

    def leave(self) -> None:
        """End the block that was begun last."""
        if self._before:
            self._session.recording = self._before.pop()

    def __call__(self, function: Any) -> Callable[..., Any]:
        """The function, done in it whenever it is called."""

        def within(*args: Any, **keywords: Any) -> Any:
            self.enter()
            try:
                return called(function, args, "function", keywords)
            finally:
                self.leave()

        return within

    def __repr__(self) -> str:
        return f"<torch.autograd.grad_mode.{self._name} object>"


class InferenceMode(Recording):
    """`torch.inference_mode(mode)` without `with` or `@`, or with a mode that a value decides."""

    __slots__ = ("_inference",)

    def __init__(self, session: Evaluator, on: bool) -> None:
        super().__init__(session, "inference_mode", not on)
        self._inference = on and not session.transparent

    def enter(self) -> None:
        """Begin a block of it; they nest."""
        self._before.append(self._session.inference.on)
        self._session.inference.on = self._inference
        super().enter()

    def leave(self) -> None:
        """End the block that was begun last."""
        if self._before:
            super().leave()
            self._session.inference.on = self._before.pop()


Recording._members = (
    {},
    {
        "__enter__": lambda mode: mode.enter(),
        "__exit__": lambda mode, *how: mode.leave(),
    },
)
