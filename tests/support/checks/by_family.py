"""Run a check of every op as one test for each family: most checks take less time than a test. The
failures of all ops are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op


def by_family(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test for each family from a check of a single case: an op, its name, or parameters
    with the name as id.
    """
    families: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
    for case in cases:
        name, values = _named(case)
        families.setdefault(ops.families[name].rpartition(".")[2], []).append((name, values))

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def test(of_family: list[tuple[str, tuple[Any, ...]]]) -> None:
            failures = []
            for name, values in of_family:
                try:
                    check(*values)
                except Exception as error:
                    error.add_note(f"of {name}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(of_family)} ops", failures)

        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return pytest.mark.parametrize("of_family", families.values(), ids=[*families])(test)

    return decorate


def _named(case: Any) -> tuple[str, tuple[Any, ...]]:
    if isinstance(case, (str, Op)):
        return case if isinstance(case, str) else case.name, (case,)
    return case.id, case.values
