"""What several tests use."""

import io
import sys

import pytest

from gradcli.__main__ import _run


@pytest.fixture
def cli(monkeypatch):
    """Runs a command line in this process; gives status, standard output and standard error."""

    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        return _run(arguments), out.getvalue(), err.getvalue()

    return run
