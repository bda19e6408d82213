"""The end of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data
from gradcli.questions.fitting.asked import Asked
from gradcli.questions.fitting.model import Layout
from gradcli.questions.fitting.roles import Roles
from gradcli.questions.fitting.series import Series
from gradcli.questions.fitting.starts import Best
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole


class Ended(Record):
    """The end of a fit, with all that belongs to it.

    Fields:
        best: The best search.
        layout: The estimated parameters.
        start: Where they began.
        held: The values of the other parameters.
        roles, asked, data: What was asked.
        series: What was fitted.
    """

    __slots__ = ("best", "layout", "start", "held", "roles", "asked", "data", "series")
    best: Best
    layout: Layout
    start: Data
    held: Mapping[str, Any]
    roles: Roles
    asked: Asked
    data: Whole
    series: list[Series]
