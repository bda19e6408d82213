"""What built-ins declare of themselves, against a golden file."""

from support.programs.declared_hosts import GOLDEN, declarations


def test_every_built_in_declares_what_its_line_of_the_golden_file_says():
    """The required and optional arguments with their defaults, the flags, the inferred result and
    the code of the refusal of a text.
    """
    wanted = GOLDEN.read_text("utf-8").splitlines()
    assert declarations() == wanted, "`python tests declared_hosts` writes it anew"
