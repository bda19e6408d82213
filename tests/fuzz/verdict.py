"""What an outcome must not be."""

from __future__ import annotations

import re

from .children import SECONDS, Outcome

COLOUR = re.compile(r"\x1b\[[\d;]*m")
STATUSES = range(7)
FIRST = re.compile(r"^.*: (error|warning)\[[a-z0-9-]+\]: \S|^Usage: |\"severity\":\"error\"", re.M)


def fault(outcome: Outcome) -> str | None:
    """What is wrong with an outcome, in a few words that are the same for the same fault; None if
    it is as it should be.
    """
    if outcome.status is None:
        return "goes on and on"
    if outcome.status < 0:
        return f"killed by signal {-outcome.status}"
    if outcome.status == 70 or "Traceback" in outcome.err:
        found = re.search(r"(a bug in gradcli|Traceback): (\w+)", outcome.err)
        place = re.search(r"at \S*?((?:gradcli|numpy|site-packages)/\S+:\d+)", outcome.err)
        return " ".join(["bug", *(found.groups()[1:] if found else ()), place[1] if place else ""])
    if outcome.status not in STATUSES:
        return f"status {outcome.status}"
    if outcome.seconds > SECONDS:
        return f"takes longer than {SECONDS:g} s"
    elsewhere = outcome.status < 2 or "record" in outcome.case.argv  # among the rows
    if not elsewhere and not FIRST.search(COLOUR.sub("", outcome.err + outcome.out)):
        return f"status {outcome.status} without a message"
    if "Exception ignored" in outcome.err:
        return "an exception that is ignored"
    return None
