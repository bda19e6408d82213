"""`gradcli run` of notebooks, pages of Markdown, and programs with `# %%`."""

import json
from pathlib import Path

import pytest

from gradcli.engine.run.execution.growing import Growing

LESSONS = Path(__file__).parents[2] / "formats" / "reference"


def notebook(path, *cells, **fields):
    """Write a notebook: texts are cells of code, objects are cells as they stand."""
    made = [
        cell
        if isinstance(cell, dict)
        else {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": cell,
        }
        for cell in cells
    ]
    whole = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4, **fields}
    path.write_text(json.dumps(whole), "utf-8")
    return path


def stored(source, *outputs, **fields):
    """A cell with stored outputs."""
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "source": source,
        "outputs": [*outputs],
        **fields,
    }


def result(text):
    return {
        "output_type": "execute_result",
        "execution_count": 1,
        "metadata": {},
        "data": {"text/plain": text},
    }


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


CELLS = ["x = tensor(3., requires_grad=True)", "y = x ** 2\ny", "y.backward()\nprint(1)\nx.grad"]


@pytest.mark.parametrize("name", ["torch_autograd", "jax_derivatives"])
def test_lessons_give_their_stored_outputs(cli, name):
    status, _, err = cli("run", LESSONS / f"{name}.ipynb", "--expect")

    assert (status, "all agree; 1 cell without" in err) == (0, True), err


def test_each_cell_shows_its_last_expression(cli, tmp_path):
    file = notebook(tmp_path / "a.ipynb", *CELLS, "x * 2;")

    status, out, err = cli("run", file)
    assert (status, err) == (0, "")
    assert out == "tensor(9., grad_fn=<PowBackward0>)\n1\ntensor(6.)\n"
    assert cli("run", file, "-r")[1] == "6.0\n"
    found = json.loads(cli("run", file, "--json")[1])
    assert found["printed"] == ["tensor(9., grad_fn=<PowBackward0>)", "1", "tensor(6.)"]
    assert found["result"] == 6.0
    assert found["grad"] == {"x": 6.0}
    assert "grad_fn" in cli("run", file, "-f", "human")[1]
    assert cli("run", file, "--show", "x")[1].endswith("x\t3.0\n")


def test_other_commands_take_all_cells_as_one_program(cli, tmp_path):
    file = notebook(tmp_path / "a.ipynb", "x = 3.0", "y = x ** 2", "!ls", "y * x")

    assert cli("grad", file, "x=2", "-q")[1] == "result\t8.0\ngrad.x\t12.0\n"
    assert cli("check", file)[0] == 0
    assert cli("gradcheck", file, "-q")[0] == 0
    assert cli("run", file, "--rows", "-", stdin="x\n1\n2\n")[1] == "result\n1.0\n8.0\n"
    assert cli("run", "-", stdin=file.read_text())[:2] == (0, "27.0\n")


@pytest.mark.parametrize(
    ("cells", "status", "says", "out"),
    [
        (["x = 1\nx", "y = (", "2"], 3, "a.ipynb:cell 2:1:5: error[unclosed-bracket]", "1\n"),
        (["x = 1\nx", "\nz"], 3, "a.ipynb:cell 2:2:1: error[unknown-name]: `z` is never", "1\n"),
        (["1", "assert 1 > 2, 'no'"], 1, "a.ipynb:cell 2:1:1: error[assertion-failed]: no", "1\n"),
        (["1", "print(2)\n[][3]"], 5, "a.ipynb:cell 2:2:1: error[index-out-of-range]", "1\n2\n"),
        (["input a: float\na"], 4, "a.ipynb:cell 1:1:1: error[missing-input]", ""),
        (["def f():\n    return [][1]", "", "f()"], 5, "a.ipynb:cell 1:2:12: error", ""),
    ],
)
def test_an_error_stops_at_its_cell(cli, tmp_path, monkeypatch, cells, status, says, out):
    monkeypatch.chdir(tmp_path)
    file = notebook(tmp_path / "a.ipynb", *cells)

    found = cli("run", "a.ipynb")
    assert (found[0], found[1]) == (status, out)
    assert found[2].startswith(says), found[2]
    assert cli("run", "a.ipynb", "-o", "b.ipynb")[0] == status
    if status == 4:
        assert not Path("b.ipynb").exists()
        return
    made = json.loads(Path("b.ipynb").read_text())["cells"]
    errors = [o for cell in made for o in cell["outputs"] if o["output_type"] == "error"]
    assert len(errors) == 1
    assert errors[0]["ename"] in found[2]
    assert json.loads(file.read_text())["cells"][0]["outputs"] == []


def test_messages_show_lines_of_other_cells_with_their_cell(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path / "a.ipynb", "\n\nx = ones(2)", "def f(a):\n    return a @ x", "f(ones(3))")

    err = cli("run", "a.ipynb")[2]
    lines = err.splitlines()
    assert lines[0].startswith("a.ipynb:cell 2:2:12: error[shape-mismatch]")
    assert lines[2:4] == ["... cell 1", "3 | x = ones(2)"]
    assert lines[5:7] == ["... cell 2", "2 |     return a @ x"]
    assert "called from cell 3, line 1" in err
    told = json.loads(cli("run", "a.ipynb", "--diagnostics", "json")[2])
    assert (told["file"], told["cell"], told["line"]) == ("a.ipynb", 2, 2)


def test_commands_of_the_notebook_are_passed_over_with_one_note(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    timed = ["%%timeit\ny = 1", "%%time\ny = x * 3\ny"]
    cells = ["%matplotlib inline\nx = 2.0", "!ls\nx?", "%%bash\necho x", *timed]
    notebook(tmp_path / "a.ipynb", *cells)

    status, out, err = cli("run", "a.ipynb")
    assert (status, out) == (0, "6.0\n")
    head = "a.ipynb:cell 1:1:1: warning[line-passed-over]: 8 lines of a notebook's own commands"
    assert err.startswith(head)
    assert err.count("line-passed-over") == 1
    assert "1 | %matplotlib inline" in err


def test_a_written_notebook_keeps_what_it_does_not_know(cli, tmp_path):
    text = {"cell_type": "markdown", "metadata": {"k": [1]}, "source": ["# é\n", "b"], "id": "t"}
    code = stored(["x = 2\n", "print('a')\n", "x"], stream("old"), id="c", extra={"a": 1})
    raw = {"cell_type": "raw", "metadata": {}, "source": "raw", "id": "r"}
    odd = stored("%%bash\nls", stream("kept"), id="d")
    file = notebook(tmp_path / "a.ipynb", text, code, raw, odd, nbformat_minor=5, more="kept")

    assert cli("run", file, "-q", "-o", file)[:2] == (0, "")
    made = json.loads(file.read_text("utf-8"))
    assert made["more"] == "kept"
    assert made["cells"][0] == text
    assert made["cells"][2] == raw
    assert made["cells"][3] == odd
    assert made["cells"][1]["extra"] == {"a": 1}
    assert made["cells"][1]["execution_count"] == 1
    assert made["cells"][1]["outputs"] == [
        {"name": "stdout", "output_type": "stream", "text": ["a\n"]},
        {
            "data": {"text/plain": ["2"]},
            "execution_count": 1,
            "metadata": {},
            "output_type": "execute_result",
        },
    ]


@pytest.mark.parametrize(
    ("cell", "agrees"),
    [
        (stored("1 + 1", result("2")), True),
        (stored("1 + 1", result("3")), False),
        (stored("print(2)", stream("2\n")), True),
        (stored("print(2)", stream(["2\n", "3\n"])), False),
        (stored("print(2)", stream("2\n"), result("2")), False),
        (stored("print(1)\n2", stream("1\n")), False),
        (stored("print(1)\n2", stream("1\n"), {"output_type": "display_data", "data": {}}), True),
        (stored("x = 1", stream("progress", "stderr")), True),
        (stored("def f(x): return x\nf", result("<function __main__.f(x)>")), True),
        (stored("(tensor(1., requires_grad=True) * 2).grad_fn",
                result("<MulBackward0 object at 0x7f0000000010>")), True),
        (stored("print('done in 1.25 s')", stream("done in 13.5 s\n")), True),
        (stored("print('at 0x7fab12340000')", stream("at 0x7f0012345678\n")), True),
        (stored("0.1 + 0.2", result("0.30000000000000004")), True),
        (stored("0.1 + 0.2", result("0.3")), False),
        (stored("[][1]", {"output_type": "error", "ename": "IndexError", "evalue": "a"},
                metadata={"tags": ["raises-exception"]}), True),
        (stored("1", {"output_type": "error", "ename": "IndexError", "evalue": "a"}), False),
        (stored("import matplotlib.pyplot as plt\nplt.plot([1, 2])",
                result("[<matplotlib.lines.Line2D at 0x7f0000000010>]")), True),
    ],
)  # fmt: skip
def test_expect_compares_stored_outputs(cli, tmp_path, cell, agrees):
    file = notebook(tmp_path / "a.ipynb", cell, "print('not stored')")

    status, _, err = cli("run", file, "--expect")
    assert (status, "error[output-differs]" not in err) == (int(not agrees), agrees), err
    assert "without a stored output" in err


@pytest.mark.parametrize(
    ("before", "is_array"),
    [("array([9.])", True), ("Array([9.], dtype=float32)", True), ("[9.]", True),
     ("np.float64(9.0)", True), ("tensor([8.])", False), ("9.0", False)],
)  # fmt: skip
def test_a_stored_array_is_told_from_another_value(cli, tmp_path, before, is_array):
    file = notebook(tmp_path / "a.ipynb", stored("tensor([9.])", result(before)))

    status, _, err = cli("run", file, "--expect")
    assert (status, "help: an array of NumPy or JAX is shown as a tensor" in err) == (1, is_array)


def test_a_difference_tells_its_first_line(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook(tmp_path / "a.ipynb", "k = 1", stored("print('a')\nprint('b')", stream("a\nc\n")))

    status, out, err = cli("run", "a.ipynb", "--expect")
    assert (status, out) == (1, "a\nb\n")
    assert err.startswith("a.ipynb:cell 2:2:1: error[output-differs]: the output of cell 2")
    assert "stored in line 2: c" in err
    assert "now in line 2: b" in err
    assert "compared the outputs of 1 cell: 1 differs; 1 cell without a stored output" in err


def test_an_error_that_is_part_of_the_lesson_is_passed(cli, tmp_path):
    tags = {"tags": ["raises-exception"]}
    file = notebook(tmp_path / "a.ipynb", "x = 1", stored("x = 2\n[][1]", metadata=tags), "x")

    status, _out, _ = cli("run", file, "-q", "-o", tmp_path / "b.ipynb")
    assert (status, cli("run", file)[1]) == (0, "2\n")
    kinds = [o["output_type"] for c in json.loads((tmp_path / "b.ipynb").read_text())["cells"]
             for o in c["outputs"]]  # fmt: skip
    assert kinds == ["error", "execute_result"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "it has no `nbformat`"),
        ('{"nbformat": 4', "its JSON ends or breaks off"),
        ('{"nbformat": 3, "worksheets": []}', "of format 3, not 4"),
        ('{"nbformat": 4, "cells": 3}', "it has no list `cells`"),
        ('{"nbformat": 4, "cells": [3]}', "it has no list `cells`"),
        *(
            (
                '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "2", ' + field + "}]}",
                says,
            )
            for field, says in (
                ('"source": 5', "`source` of a cell of the notebook is 5, not a text"),
                ('"source": [1]', "not a text"),
                ('"outputs": 3', "`outputs` of a cell of the notebook is 3, not a list"),
                ('"outputs": [3]', "has 3 where format 4 has an object"),
                (
                    '"outputs": [{"data": 5}]',
                    "`data` of a cell of the notebook is 5, not an object",
                ),
                ('"outputs": [{"output_type": "stream", "text": 5}]', "is 5, not a text"),
                ('"metadata": 7', "`metadata` of a cell"),
                ('"metadata": {"tags": 7}', "`tags` of a cell"),
            )
        ),
    ],
)
def test_a_file_that_is_no_notebook_is_refused(cli, tmp_path, text, says):
    file = tmp_path / "a.ipynb"
    file.write_text(text)

    for command in ("run", "grad", "check"):
        status, _, err = cli(command, file)
        assert (status, "error[bad-notebook]" in err, says in err) == (3, True, True)


def test_a_page_without_blocks_of_code_is_refused(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text("# Title\n\n```sh\nls\n```\n")

    assert "`a.md` has no block of code" in cli("run", "a.md")[2]


def test_only_the_first_block_behind_a_cell_is_its_output(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text("> ```python\n> 2\n> ```\n> ```text\n> 2\n> ```\n\n```\nmore\n```\n")

    assert cli("run", "a.md", "--expect")[:2] == (0, "2\n")


@pytest.mark.parametrize(
    ("cell", "option"),
    [
        ("while True:\n    x = 1", "--max-steps=100"),
        ("def f(n): return f(n + 1)\nf(0)", "--max-depth=50"),
        ("zeros(40000, 40000)", "--max-memory=200MiB"),
    ],
)
def test_a_limit_stops_at_its_cell(cli, tmp_path, cell, option):
    file = notebook(tmp_path / "a.ipynb", "print(1)", cell, "print(2)")

    assert cli("run", file, option, "-q", "-o", tmp_path / "b.ipynb")[0] == 6
    outputs = [cell["outputs"] for cell in json.loads((tmp_path / "b.ipynb").read_text())["cells"]]
    assert [len(found) for found in outputs] == [1, 1, 0]
    assert cli("run", file, option)[:2] == (6, "1\n")


def test_an_interrupt_ends_after_the_cells_before_it(cli, tmp_path, monkeypatch):
    def interrupted(self, program):
        if len(program.main.body) > len(self.program.main.body if self.program else ()) + 1:
            raise KeyboardInterrupt
        return run(self, program)

    run = Growing.run
    monkeypatch.setattr(Growing, "run", interrupted)
    file = notebook(tmp_path / "a.ipynb", "print(11)", "x = 22\ny = x", "print(33)")
    assert cli("run", file) == (130, "11\n", "")
    assert cli("run", file, "--expect")[:2] == (130, "11\n")
    for form in ("ipynb", "html"):
        assert cli("run", file, "-o", tmp_path / f"b.{form}") == (130, "", "")
        written = (tmp_path / f"b.{form}").read_text()
        assert "<pre>11" in written or '"11\\n"' in written
        assert "cell 2:1:1: interrupted" in written
        assert "<pre>33" not in written
        assert '"33\\n"' not in written


@pytest.mark.parametrize("option", ["--show=x", "--graph", "--kinks"])
@pytest.mark.parametrize("suffix", ["html", "ipynb"])
def test_a_page_has_no_place_for_other_views(cli, tmp_path, option, suffix):
    file = notebook(tmp_path / "a.ipynb", "x = 1")

    status, _, err = cli("run", file, option, "-o", tmp_path / f"b.{suffix}")
    assert (status, f"`{option.partition('=')[0]}` does not go with {suffix} output" in err) == (
        2,
        True,
    )


def test_an_empty_notebook_runs(cli, tmp_path):
    assert cli("run", notebook(tmp_path / "a.ipynb")) == (0, "", "")
    assert cli("run", notebook(tmp_path / "b.ipynb", "", " \n"), "--expect")[0] == 0


PAGE = """# A lesson

```python
x = tensor(3., requires_grad=True)
x ** 2
```

```output
tensor(9., grad_fn=<PowBackward0>)
```

1. In a list:

   ```grad
   print(x.item())
   x.item() + 1
   ```
   ```
   3.0
   4.0
   ```

~~~sh
rm -r nothing
~~~

```python
{last}
```
"""


def test_a_page_of_markdown_is_a_program(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text(PAGE.replace("{last}", "y = x * 2"))

    status, out, err = cli("run", "a.md", "--expect")
    assert (status, out) == (0, "tensor(9., grad_fn=<PowBackward0>)\n3.0\n4.0\n")
    assert "compared the outputs of 2 cells: all agree; 1 cell without" in err
    Path("a.md").write_text(PAGE.replace("{last}", "\nx @ x @ x"))
    status, out, err = cli("run", "a.md")
    assert (status, err.partition(" ")[0]) == (5, "a.md:29:1:")
    Path("a.md").write_text(PAGE.replace("x.item() + 1", "w + 1"))
    assert cli("run", "a.md", "--diagnostics", "concise")[2].startswith("a.md:16:4: error")
    Path("a.md").write_text(PAGE.replace("9.", "8.").replace("{last}", "x"))
    assert cli("run", "a.md", "--expect")[0] == 1
    assert cli("run", "a.md", "-q", "-o", "b.ipynb")[0] == 0
    cells = json.loads(Path("b.ipynb").read_text())["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "code"] * 3


def test_lines_with_percent_signs_part_a_program(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("# %% [markdown]\n# # Title\n# %%\nx = 2\nx\n#%% two\nx + k\n")

    status, out, err = cli("run", "a.py", "--cells")
    assert (status, out, err.partition(" ")[0]) == (3, "2\n", "a.py:7:5:")
    assert cli("run", "a.py", "k=1")[:2] == (0, "3.0\n")
    assert cli("run", "a.py", "--expect")[0] == cli("run", "a.py", "-o", "a.html")[0] == 2


def test_a_program_of_its_own_gets_values_and_shows_a_record(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["k = 3.0\nz = 1", "%%grad -i k\nz = k ** 2\nprint(z)\nz", "z"]
    notebook(tmp_path / "a.ipynb", *cells)

    status, out, err = cli("run", "a.ipynb")
    assert (status, err) == (0, "")
    assert out.splitlines() == ["9.0", "z = 9", "", "name  value  gradient", "k     3      6", "1"]
    notebook(tmp_path / "a.ipynb", "k = 3.0", "\n%%grad -i k\nk +\n")
    assert cli("run", "a.ipynb")[2].startswith("a.ipynb:cell 2:3:4: error[syntax-error]")
    for line in ("-i nothing", "--nonsense", "-i", "--seed x", "'"):
        notebook(tmp_path / "a.ipynb", "k = 3.0", f"%%grad {line}\nk")
        assert cli("run", "a.ipynb")[0] == 2


def test_written_notebooks_are_valid(cli, tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text(PAGE.replace("{last}", "[][1]"))
    Path("a.py").write_text("# %%\nx = 2\nprint(x)\nx\n")
    notebook(Path("b.ipynb"), *CELLS)
    for name, more in (("a.md", []), ("a.py", ["--cells"]), ("b.ipynb", [])):
        cli("run", name, *more, "-q", "-o", "out.ipynb")
        nbformat.validate(nbformat.read("out.ipynb", nbformat.NO_CONVERT))
        assert cli("run", "out.ipynb", "-q", "--expect")[0] == (5 if name == "a.md" else 0)


def test_a_page_has_text_code_outputs_graphs_and_plots(cli, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib.font_manager")
    monkeypatch.chdir(tmp_path)
    text = {"cell_type": "markdown", "metadata": {}, "source": "# A <b>lesson</b>\n\n*text*"}
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    notebook(Path("a.ipynb"), text, *CELLS, plot, "print('<&>')", "[][1]", "late = 1")

    assert cli("run", "a.ipynb", "-o", "a.html")[0] == 5
    page = Path("a.html").read_text("utf-8")
    assert "<title>A &lt;b&gt;lesson&lt;/b&gt;</title>" in page
    assert "<em>text</em>" in page
    assert "<b>" not in page
    assert 'src="data:image/png;base64,' in page
    assert "<details>" in page
    assert "<svg" in page
    assert "&lt;&amp;&gt;" in page
    assert "tensor(9., grad_fn=&lt;PowBackward0&gt;)" in page
    assert "index-out-of-range" not in page
    assert "cell 6:1:1: " in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert cli("run", "a.ipynb", "-q", "-o", "b.ipynb")[0] == 5
    made = json.loads(Path("b.ipynb").read_text())["cells"]
    assert made[4]["outputs"][0]["data"]["image/png"]
