"""The signs of zeros in arrays that a loop changes in their memory.

A sum with an array of zeros and one item makes the other elements 0.0 that are -0.0. A word in
memory tells which elements may be -0.0: 0 for any, 1 for none, the address of an item for those of
that item alone. The first sum goes through all elements, and the first sum to another item again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradcli.engine.compile.llvm.arrays.steps import Map, Node, Part
from gradcli.engine.compile.llvm.arrays.symbolic import Steps
from gradcli.engine.compile.llvm.emit.body import write_word
from gradcli.engine.compile.llvm.emit.writer import RARE, Number, Writer


class Signs:
    """Emits sums with an item of an array, and what they have to know of the signs of zeros.

    Args:
        w: Receives the code.
        steps: Collects steps on arrays.
        flush: Emits the steps collected so far; the nodes it is given must be in memory then.
    """

    def __init__(self, w: Writer, steps: Steps, flush: Callable[[Sequence[Node]], None]) -> None:
        self._w = w
        self._steps = steps
        self._flush = flush
        self._words: dict[int, str] = {}

    def begin(self, root: int, word: str) -> None:
        """Any element of the array with the number `root` may be -0.0; `word` is the address of the
        word that tells it.
        """
        self._words[root] = word
        write_word(self._w, Number("0", "int"), word)

    def may_be_negative(self, root: int, address: str) -> None:
        """Elements of the item at an address may be -0.0 now."""
        w, word = self._w, self._words[root]
        known, own = w.put(f"load i64, ptr {word}"), w.put(f"ptrtoint ptr {address} to i64")
        is_none, is_own = (w.put(f"icmp eq i64 {known}, {x}") for x in ("1", own))
        is_alone = w.put(f"or i1 {is_none}, {is_own}")
        write_word(w, Number(w.put(f"select i1 {is_alone}, i64 {own}, i64 0"), "int"), word)

    def sum(self, root: int, node: Node, item: Part, x: Part | Number) -> Part | Number:
        """The sum of an item of an array and a number, or a part of that shape. Other elements that
        are -0.0 become 0.0.
        """
        found = self._added(node, item, x)
        w, word = self._w, self._words[root]
        known = w.put(f"load i64, ptr {word}")
        own = w.put(f"ptrtoint ptr {item.node.at} to i64")
        is_other, some = w.put(f"icmp ne i64 {known}, {own}"), w.put(f"icmp ne i64 {known}, 1")
        several, on = w.label(), w.label()
        w.branch(w.put(f"and i1 {is_other}, {some}"), several, on, RARE)
        w.start(several)
        is_any = w.put(f"icmp eq i64 {known}, 0")
        write_word(w, Number(w.put(f"select i1 {is_any}, i64 {own}, i64 1"), "int"), word)
        self._without_negative(node)
        w.go(on)
        w.start(on)
        return found

    def _added(self, node: Node, item: Part, x: Part | Number) -> Part | Number:
        w, made = self._w, Node(node.type, item.shape)
        if item.count > 1:
            self._steps.steps.append(Map(made, np.add, (node.type,) * 3, (item, x)))
            self._flush([made])
            return self._steps.whole(made).part()
        number = w.read_element(node.type, x.node.at) if isinstance(x, Part) else x
        before = w.read_element(node.type, item.node.at)
        return Number(w.put(f"fadd double {before.text}, {number.text}"), node.type)

    def _without_negative(self, node: Node) -> None:
        whole = self._steps.whole(Node(node.type, node.shape, node.at)).part()
        zero = self._steps.symbol(0.0).source
        assert isinstance(zero, Number)
        self._steps.steps.append(Map(whole.node, np.add, (node.type,) * 3, (whole, zero)))
        self._flush([])
