"""Tables and folders of results in a store: a server on loopback that speaks as S3 does."""

import json
import os
import subprocess
import sys
import time
import urllib.request

import pytest
from support.processes.in_process import command

pytest.importorskip("moto.server")
pytest.importorskip("s3fs")
parquet = pytest.importorskip("pyarrow.parquet")

pyarrow = pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")

pytestmark = pytest.mark.long  # the server takes seconds to start


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server, whose own words go to a file."""
    said = tmp_path_factory.mktemp("server") / "said"
    code = (
        "from moto.server import ThreadedMotoServer; import time\n"
        "server = ThreadedMotoServer('127.0.0.1', 0, verbose=False)\n"
        "server.start(); print(server.get_host_and_port()[1], flush=True); time.sleep(600)"
    )
    with said.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=file, text=True
        )
    try:
        port = process.stdout.readline().strip()
        assert port, said.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def files(server, monkeypatch):
    """The store, empty but for a bucket with three parts of a table in two forms."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "none")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    reset = urllib.request.Request(f"{server}/moto-api/reset", method="POST")
    urllib.request.urlopen(reset, timeout=60).close()
    fsspec.config.conf.clear()
    found = fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)
    found.mkdir("lake")
    for k in (1, 2, 10):
        xs = [i / 7 + k for i in range(50)]
        ids = [f"r{k}-{i}" for i in range(50)]
        text = "".join(f"{name},{x}\n" for name, x in zip(ids, xs, strict=True))
        found.pipe_file(f"lake/csv/a{k}.csv", f"id,x\n{text}".encode())
        with found.open(f"lake/parquet/a{k}.parquet", "wb") as file:
            parquet.write_table(pyarrow.table({"id": ids, "x": xs}), file)
    return found


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_from_a_store_to_a_store(form, files, tmp_path):
    """The bytes of a run over files of this machine; asked again, nothing is done."""
    files.get(f"lake/{form}/", f"{tmp_path}/", recursive=True)
    line = ("grad", "x ** 2", "--keep", "id", "-q")
    assert command(*line, "--rows", f"{tmp_path}/*.{form}", "-o", f"{tmp_path}/out/")[0] == 0
    asked = (*line, "--rows", f"s3://lake/{form}/*.{form}", "-o", "s3://lake/out/")
    status, out, err = command(*asked)
    assert (status, out, err) == (0, "", "")
    names = [f"a{k}.{form}" for k in (1, 2, 10)]
    for name in names:
        assert files.cat_file(f"lake/out/{name}") == (tmp_path / "out" / name).read_bytes()
    about = json.loads(files.cat_file("lake/out/_gradcli.json"))
    assert [part["output"] for part in about["parts"]] == names
    assert {name.rpartition("/")[2] for name in files.find("lake/out")} == {
        *names,
        "_gradcli.json",
    }
    before = [files.info(f"lake/out/{name}")["LastModified"] for name in names]
    assert command(*asked)[0] == 0
    assert [files.info(f"lake/out/{name}")["LastModified"] for name in names] == before


def test_a_run_in_a_store_that_is_taken_up(files):
    """A part fails; the others are done, and once it is mended, only it is asked again."""
    good = files.cat_file("lake/csv/a2.csv")
    files.pipe_file("lake/csv/a2.csv", b"\x89PNG\r\n\x1a\n")
    line = ("run", "x + 1", "--rows", "s3://lake/csv/", "-o", "s3://lake/out/")
    status, _, err = command(*line)
    assert (status, "1 of 3 parts are done in `s3://lake/out/`" in err) == (4, True), err
    kept = files.info("lake/out/a1.csv")["LastModified"]
    files.pipe_file("lake/csv/a2.csv", good)
    time.sleep(1)  # times in a store have whole seconds
    status, _, err = command(*line)
    assert (status, "1 of 3 parts are done already" in err) == (0, True), err
    assert files.info("lake/out/a1.csv")["LastModified"] == kept
    assert len(files.find("lake/out")) == 4


def test_another_run_in_a_store_is_refused(files):
    """A lock of a run that lives; one of a run that has been silent for a minute is passed over."""
    about = {"run": "1", "host": "there", "process": 7, "time": time.time()}
    files.pipe_file("lake/out/_gradcli.lock", json.dumps(about).encode())
    line = ("run", "x + 1", "--rows", "s3://lake/csv/", "-o", "s3://lake/out/", "-q")
    status, _, err = command(*line)
    assert (status, "another gradcli (process 7 on there) is writing" in err) == (2, True), err
    about["time"] -= 100
    files.pipe_file("lake/out/_gradcli.lock", json.dumps(about).encode())
    assert command(*line)[0] == 0


def test_what_a_store_does_not_have_is_told(files):
    status, _, err = command("run", "x + 1", "--rows", "s3://nowhere/a.csv")
    assert (status, "cannot read `s3://nowhere/a.csv`" in err) == (4, True), err
    status, _, err = command("run", "x + 1", "--rows", "s3://lake/csv/", "-o", "s3://nowhere/out/")
    assert (status, "s3://nowhere/out/" in err) == (2, True), err


def test_workers_of_a_cluster_read_and_write_a_store(files, tmp_path):
    pytest.importorskip("distributed")
    line = [sys.executable, "-m", "gradcli", "grad", "x ** 2", "--rows", "s3://lake/csv/", "-q"]
    asked = [*line, "-o", "s3://lake/out/", "--cluster", "local:1"]
    done = subprocess.run(
        asked, check=False, capture_output=True, text=True, timeout=300, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    one = command(*line[3:])[1]
    found = [files.cat_file(f"lake/out/a{k}.csv").decode() for k in (1, 2, 10)]
    head = "result,grad.x\n"
    assert head + "".join(text.removeprefix(head) for text in found) == one


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_fit_to_records_of_a_store(form, files, tmp_path):
    """The digits of a fit to files of this machine, by this process and by a worker."""
    pytest.importorskip("scipy")
    files.get(f"lake/{form}/", f"{tmp_path}/", recursive=True)
    line = ("fit", "a * x / (b + x)", "a=1", "b=10", "--observed", "x / (9 + x) + sin(x) / 50")
    one = command(*line, "--json", "--rows", f"{tmp_path}/*.{form}")
    assert one[0] == 0, one
    asked = (*line, "--json", "--rows", f"s3://lake/{form}/*.{form}")
    assert command(*asked) == one
    if form == "parquet":
        pytest.importorskip("distributed")
        done = subprocess.run(
            [sys.executable, "-m", "gradcli", *asked, "--cluster", "local:1"],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert (done.returncode, done.stdout) == (0, one[1]), done.stderr


def test_a_fit_to_records_that_a_store_does_not_have(files):
    line = ("fit", "a * x", "a=1", "--observed", "x", "--rows")
    for name in ("s3://lake/csv/a3.csv", "s3://nowhere/a.csv"):
        status, out, err = command(*line, name)
        assert (status, out, f"cannot read `{name}`" in err) == (4, "", True), err
