"""`%%grad` in IPython."""

import pytest

pytest.importorskip("IPython")


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    settings = Config()
    settings.HistoryManager.enabled = False
    made = InteractiveShell(config=settings, ipython_dir=str(tmp_path_factory.mktemp("ipython")))
    made.run_line_magic("load_ext", "gradcli")
    return made


def test_a_cell_leaves_a_record(shell, capsys):
    shell.user_ns["k"] = 3.0
    found = shell.run_cell("%%grad -i k -o left --wrt k\nz = k ** 2\nprint(z)\nz").result

    assert (found.value, found.grad) == (9.0, {"k": 6.0})
    assert shell.user_ns["left"] is found
    assert "z" not in shell.user_ns
    out = capsys.readouterr().out
    assert out.startswith("9.0\n")
    assert "name  value  gradient" in out


def test_a_cell_without_a_result_is_run(shell):
    assert shell.run_cell("%%grad\nz = 2 * 3").result.values == {"z": 6}


def test_arrays_are_given(shell):
    np = pytest.importorskip("numpy")
    shell.user_ns["a"] = np.array([1.0, 2.0])

    assert shell.run_cell("%%grad -i a\nsum(a ** 3)").result.grad["a"].tolist() == [3.0, 12.0]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%%grad\nx = 1\nx + nothing(3)", "3:5: error[unknown-name]: `nothing` is called"),
        ("%%grad -i absent\n1.0", "`absent` in -i of `%%grad` has no value here"),
        ("%%grad --nonsense\n1.0", "`%%grad` has no option `--nonsense`"),
    ],
)
def test_an_error_is_a_message_without_a_traceback(shell, capsys, cell, says):
    assert shell.run_cell(cell).error_in_exec is not None
    out = "".join(capsys.readouterr())
    assert says in out
    assert "Traceback" not in out
