"""`--from s3://BUCKET/PREFIX`: exported Parquet in an object store, read by DuckDB's extension httpfs.

With a server (moto) and the extension, questions are asked of a bucket; without them these tests are skipped.
"""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import scorehouse as library
from tests.cli.running import Scorehouse, refused
from warehouse import QuestionError, SourceError
from warehouse.database import buckets
from warehouse.database.buckets import Bucket, let_in, located

SET = ("sim24", "cs-uk")
WORDS = (
    "list systems",
    "rank all all -m pa -m acc_eq(by=item)",
    "compare sim24 all -m pa --resamples 20",
    "counts all all",
    "spans sim24 en-de",
    "cutoff sim24 en-de simBLEU --view transfer --resamples 20",
)
SECRET, TOKEN = "a secret's key", "a token"


class _Connection:
    """A connection that keeps what it should execute, and fails at some of it."""

    def __init__(self, *refused: str) -> None:
        self.refused, self.executed = refused, list[str]()

    def execute(self, query: str) -> None:
        if query in self.refused:
            raise duckdb.IOException(f"IO Error: no {query}\nmore")
        self.executed.append(query)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in buckets._CREDENTIALS.values():
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_bucket_is_a_path_whose_text_is_its_url() -> None:
    place = located(Path("s3://scores/all years")) / "score" / "lp=en-de"
    assert isinstance(place, Bucket)
    assert str(place) == "s3://scores/all years/score/lp=en-de"
    assert place.is_relative_to(place.parent.resolve())
    assert not isinstance(located("s3/scores"), Bucket)


def test_credentials_come_from_the_environment_and_leave_no_setting(environment: pytest.MonkeyPatch) -> None:
    connection: Any = _Connection()
    let_in(connection)
    assert connection.executed[-1] == "CREATE SECRET (TYPE s3)"
    environment.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    environment.setenv("AWS_ENDPOINT_URL", "http://localhost:9000")
    connection = _Connection()
    let_in(connection)
    loaded, *settings, secret = connection.executed
    assert loaded == "LOAD httpfs"
    assert "SET s3_secret_access_key = ''" in settings
    assert "SECRET 'a secret''s key', ENDPOINT 'localhost:9000', URL_STYLE 'path', USE_SSL false" in secret


def test_an_extension_that_cannot_be_had_is_one_line(
    scorehouse: Scorehouse, environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connection: Any = _Connection("LOAD httpfs")
    with pytest.raises(SourceError, match="cannot install: IO Error: no LOAD httpfs; install it where"):
        let_in(connection)
    assert connection.executed == ["INSTALL httpfs"]
    environment.setattr("duckdb.connect", lambda **_: _Connection("LOAD httpfs", "INSTALL httpfs"))
    buckets._reader.cache_clear()
    ran = scorehouse("rank", *SET, "--from", "s3://scores/all")
    refused(ran, 3, f"needs the extension httpfs, which DuckDB {duckdb.__version__} cannot install", "mount the bucket")


@pytest.fixture(scope="module")
def bucket(exported_evalsets: Path) -> Iterator[tuple[str, Any]]:
    """The URL of an export on a local server, and a client of the server."""
    server = pytest.importorskip("moto.server", reason="moto, a server for S3, is not installed")
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    with contextlib.suppress(ImportError):  # the extension as a package
        __import__("duckdb_extensions").import_extension("httpfs")
    try:
        duckdb.connect().execute("LOAD httpfs")
    except duckdb.Error as error:
        pytest.skip(f"DuckDB has no httpfs here: {str(error).splitlines()[0]}")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    own = {"aws_access_key_id": "x", "aws_secret_access_key": SECRET, "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", **own)
    for name in ("scores", "other"):
        client.create_bucket(Bucket=name)
    for path in exported_evalsets.rglob("*"):
        if path.is_file():
            client.upload_file(str(path), "scores", f"a b/{path.relative_to(exported_evalsets).as_posix()}")
    for name in ("scores", "other"):
        client.put_object(Bucket=name, Key="a b/beside.csv", Body=b"a\n1\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("AWS_ACCESS_KEY_ID", "x")
        patched.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patched.setenv("AWS_SESSION_TOKEN", TOKEN)
        patched.setenv("AWS_REGION", "us-east-1")
        patched.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        yield "s3://scores/a b", client
    running.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
class TestOnAServer:
    def test_answers_are_those_of_the_folder(
        self, scorehouse: Scorehouse, exported_evalsets: Path, bucket: tuple[str, Any]
    ) -> None:
        for words in WORDS:
            asked = (*words.split(), "--format", "csv", "--from")
            here, there = scorehouse(*asked, exported_evalsets), scorehouse(*asked, bucket[0])
            assert (there.code, there.out, there.err) == (here.code, here.out, here.err), words
        expected = library.means(exported_evalsets, *SET).frame
        assert library.means(bucket[0], *SET).frame.equals(expected)
        assert scorehouse("diff", exported_evalsets, bucket[0], "-m", "pa").code == 0

    @pytest.mark.slow
    def test_workers_read_a_bucket(
        self, scorehouse: Scorehouse, exported_evalsets: Path, bucket: tuple[str, Any]
    ) -> None:
        distributed = pytest.importorskip("distributed", reason="the dask extra is not installed")
        more = {"processes": False, "dashboard_address": ":0", "protocol": "tcp"}
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **more) as cluster:
            asked = ("counts", "all", "all", "--format", "csv", "--from")
            there = scorehouse(*asked, bucket[0], "--workers", cluster.scheduler_address)
        assert (there.code, there.out) == (0, scorehouse(*asked, exported_evalsets).out)

    def test_a_query_reaches_nothing_else_and_sees_no_secret(self, bucket: tuple[str, Any]) -> None:
        url, client = bucket
        with library.open(url) as folder:
            for query in (
                f"FROM read_text('{url}/beside.csv')",
                f"FROM read_blob('{url}/scorehouse-export.json')",
                f"FROM glob('{url}/**')",
                "FROM read_csv('s3://other/a b/beside.csv')",
                f"FROM read_csv('{client.meta.endpoint_url}/other/a%20b/beside.csv')",
                f"FROM read_text('{__file__}')",
            ):
                with pytest.raises(QuestionError, match="disabled by configuration"):
                    folder.sql(query)
            for query in ("INSTALL json", "LOAD json", "DROP SECRET __default_s3", "CREATE SECRET (TYPE s3)"):
                with pytest.raises(QuestionError, match="refused"):
                    folder.sql(query)
            for query in ("FROM duckdb_settings()", "FROM duckdb_secrets()"):
                rows = str(folder.sql(query).rows())
                assert SECRET not in rows
                assert TOKEN not in rows

    def test_what_is_no_whole_export_is_refused_in_one_line(
        self, scorehouse: Scorehouse, bucket: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url, client = bucket
        key = "a b/score/testset=sim24/lp=cs-uk/data.parquet"
        whole = client.get_object(Bucket="scores", Key=key)["Body"].read()
        refused(scorehouse("rank", *SET, "--from", "s3://scores/none"), 3, "s3://scores/none: no exported Parquet")
        client.put_object(Bucket="scores", Key=key, Body=whole[:-9] + b"?" + whole[-8:])
        refused(scorehouse("rank", *SET, "--from", url), 3, "1 of ", "differ from the manifest: score/testset=sim24")
        client.delete_object(Bucket="scores", Key=key)
        refused(scorehouse("rank", *SET, "--from", url), 3, "missing: score/testset=sim24/lp=cs-uk")
        client.put_object(Bucket="scores", Key=key, Body=whole)
        client.put_object(Bucket="scores", Key="a b/scorehouse-export.unfinished", Body=b"")
        refused(scorehouse("rank", *SET, "--from", url), 3, "an unfinished export")
        client.delete_object(Bucket="scores", Key="a b/scorehouse-export.unfinished")
        assert scorehouse("rank", *SET, "-m", "pa", "--from", url).code == 0
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        refused(scorehouse("rank", *SET, "--from", url), 3, "s3://scores/a b/scorehouse-export.json: cannot be read")
