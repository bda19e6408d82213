"""The order in which NumPy adds up the elements of a vector."""

from __future__ import annotations

from typing import TypeAlias

Tree: TypeAlias = "int | tuple[Tree, Tree]"


def sum_order(count: int) -> Tree:
    """Return NumPy's order of summation of up to 128 elements of a row, as a tree: sequential below
    eight, else eight partial sums and then the rest.
    """
    whole = count - count % 8
    sums: list[Tree] = list(range(8 if whole else 1))
    for k in range(8, whole):
        sums[k % 8] = sums[k % 8], k
    while len(sums) > 1:
        sums = [(sums[k], sums[k + 1]) for k in range(0, len(sums), 2)]
    (found,) = sums
    for k in range(max(whole, 1), count):
        found = found, k
    return found


def halves(count: int) -> tuple[int, int]:
    """Return the elements of the two halves of a vector of more than 128 elements whose sums NumPy
    adds (pairwise summation).
    """
    half = count // 2
    half -= half % 8
    return half, count - half
