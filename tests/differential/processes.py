"""Shares seeds among processes, which may die: PyTorch does on some programs."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

CHUNK = 200
DEAD = "the process dies"


def answers(
    ask: Callable[[Any], str], questions: list[Any], jobs: int | None
) -> Iterator[tuple[Any, str]]:
    """Each question with its answer, in any order."""
    context = multiprocessing.get_context("fork")
    waiting = [questions[i : i + CHUNK] for i in range(0, len(questions), CHUNK)]
    running: dict[Connection, list[Any]] = {}
    while waiting or running:
        while waiting and len(running) < (jobs or os.cpu_count() or 1):
            chunk = waiting.pop(0)
            here, there = context.Pipe(duplex=False)
            context.Process(target=_answer, args=(ask, chunk, there)).start()
            there.close()
            running[here] = chunk
        for here in wait(list(running)):
            assert isinstance(here, Connection)
            try:
                answer = here.recv()
            except EOFError:
                left = running.pop(here)
                if left:
                    yield left[0], DEAD
                    waiting.append(left[1:])
                continue
            yield running[here].pop(0), answer


def _answer(ask: Callable[[Any], str], questions: list[Any], there: Connection) -> None:
    for question in questions:
        try:
            answer = ask(question)
        except Exception as error:
            answer = f"no answer: {type(error).__name__}: {error}"
        there.send(answer)
