"""The end of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.values.data import Data
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.model import Layout
from gradcli.questions.fitting.roles import Roles
from gradcli.questions.fitting.shares import Frame, Setup, Shares
from gradcli.questions.fitting.starts import Best
from gradcli.questions.fitting.sums import Facts
from gradcli.record import Record


class Ended(Record):
    """The end of a fit, with all that belongs to it.

    Fields:
        best: The best search.
        layout: The estimated parameters.
        start: Where they began.
        held: The values of the other parameters.
        roles, asked: What was asked.
        facts: What is known of the records.
        shares, setup, frame: The records, and what all steps had in common.
    """

    __slots__ = (
        *("best", "layout", "start", "held", "roles", "asked", "facts", "shares", "setup", "frame"),
    )
    best: Best
    layout: Layout
    start: Data
    held: Mapping[str, Any]
    roles: Roles
    asked: Asked
    facts: Facts
    shares: Shares
    setup: Setup
    frame: Frame
