"""Texts that programs print go to the stream that they name."""

PROGRAM = """
import sys
x = 2.0
print("out")
print("error", x, file=sys.stderr)
sys.stderr.write("written\\n")
x ** 2
"""
AT_ERRORS = "error 2.0\nwritten\n"


def test_a_run_prints_errors_apart_from_its_result(cli):
    assert cli("run", "-e", PROGRAM, "-f", "plain") == (0, "out\n4.0\n", AT_ERRORS)


def test_a_result_holds_what_is_printed_on_standard_output(cli):
    status, out, said = cli("run", "-e", PROGRAM, "-f", "json")
    assert (status, said) == (0, AT_ERRORS)
    assert '"printed":["out"]' in out


def test_other_questions_print_all_on_standard_error(cli):
    status, _, said = cli("grad", "-e", PROGRAM, "--wrt", "x")
    assert (status, said) == (0, f"out\n{AT_ERRORS}")


def test_a_file_needs_a_method_write(cli):
    status, _, said = cli("run", "-e", "print(1, file=3)")
    assert status == 5
    assert "`file` of `print` needs a method `write`, got 3" in said
