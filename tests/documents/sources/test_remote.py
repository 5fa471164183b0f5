"""Documents by URL: a real HTTP server, S3 through moto's server, files in memory, and every way to fail."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import random
import socket
import subprocess
import sys
import tracemalloc
import urllib.request
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.file_server import serving
from widemargin.documents.reading import read_collection, read_documents, read_stream
from widemargin.documents.sources.finding import bytes_of, known_format
from widemargin.documents.sources.urls import Url
from widemargin.errors import DataError, MissingFileError, StorageError, UsageError

TEXTS = ["the printer is broken", "an invoice was paid twice", "no paper left"]
LABELS = ["hardware", "billing", "hardware"]
SECRET = "hunter2-secret"


def json_lines(texts=TEXTS, labels=LABELS) -> bytes:
    rows = ({"text": text, "labels": [label]} for text, label in zip(texts, labels, strict=True))
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def parquet(texts=TEXTS, labels=LABELS, group: int = 1_000) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"text": texts, "label": labels}), file, row_group_size=group)
    return file.getvalue()


def large_parquet(n: int = 6_000) -> bytes:
    """Several row groups, which cannot be compressed."""
    letters = random.Random(0)
    texts = [f"{letters.randbytes(600).hex()} {place}" for place in range(n)]
    return parquet(texts, ["x"] * n)


CSV = b"text,label\n" + b"".join(f"{t},{label}\n".encode() for t, label in zip(TEXTS, LABELS, strict=True))


@pytest.fixture
def site():
    with serving() as site:
        yield site


@pytest.fixture
def memory():
    import fsspec

    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture(scope="module")
def bucket():
    """An S3 bucket on this machine, with the settings that reach it in the environment."""
    pytest.importorskip("moto", reason="moto is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    set_to = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in set_to.items():
            patch.setenv(name, value)
        import fsspec

        system = fsspec.filesystem("s3")
        system.mkdir("tickets")
        yield system
        system.clear_instance_cache()
    server.stop()


def texts(*urls: str, **options) -> list[str]:
    return list(read_collection(list(urls), **options).texts)


class TestHttp:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("tickets.jsonl", json_lines()),
            ("tickets.jsonl.gz", gzip.compress(json_lines())),
            ("tickets.jsonl.xz", lzma.compress(json_lines())),
            ("tickets.jsonl.zst", zstandard.compress(json_lines())),
            ("tickets", json_lines()),  # known by its first bytes
            ("tickets.csv", CSV),
            ("tickets.csv.gz", gzip.compress(CSV)),
            ("tickets.parquet", parquet()),
        ],
        ids=lambda part: part if isinstance(part, str) else "",
    )
    def test_every_format_is_read(self, site, name, content):
        site.files[name] = content
        found = read_collection(site.url(name))
        assert (list(found.texts), list(found.labels)) == (TEXTS, [(label,) for label in LABELS])

    def test_vectors(self, site):
        site.files["rows.svm"] = b"1 1:0.5 3:2\n-1 2:1\n"
        found = read_collection(site.url("rows.svm"))
        assert found.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]

    def test_compressed_by_the_server_as_well_as_by_name(self, site):
        # Servers announce a .gz file as an encoding of the file inside.
        site.files["tickets.jsonl.gz"] = gzip.compress(json_lines())
        site.headers["tickets.jsonl.gz"] = {"Content-Encoding": "gzip"}
        assert texts(site.url("tickets.jsonl.gz")) == TEXTS

    def test_a_pattern_is_expanded_from_the_index_of_the_server(self, site):
        site.files |= {f"data/{name}.jsonl": json_lines([name], ["x"]) for name in ("b", "c", "a")}
        site.files["data/notes.txt"] = b"not data"
        assert texts(site.url("data/*.jsonl")) == ["a", "b", "c"]

    def test_sizes(self, site):
        site.files |= {f"data/{name}.jsonl": json_lines([name], ["x"]) for name in ("b", "a")}
        assert bytes_of([site.url("data/*.jsonl")]) == sum(map(len, site.files.values()))
        assert bytes_of([site.url("data/a.jsonl")]) == len(site.files["data/a.jsonl"])

    def test_a_redirect_is_followed(self, site):
        site.files["new.jsonl"] = json_lines()
        site.moved["old.jsonl"] = "new.jsonl"
        assert texts(site.url("old.jsonl")) == TEXTS

    def test_user_and_password_are_sent_and_not_shown(self, site):
        site.files["tickets.jsonl"] = json_lines()
        address = site.url("tickets.jsonl").replace("://", f"://me:{SECRET}@")
        reader = read_documents(address)
        assert len(list(reader)) == len(TEXTS)
        assert SECRET not in reader.description
        assert all(authorization for *_, authorization in site.asked)

    def test_a_signed_address(self, site):
        site.files["tickets.csv"] = CSV
        address = site.url("tickets.csv") + f"?X-Amz-Signature={SECRET}&X-Amz-Expires=60"
        reader = read_documents(address)
        assert reader.format == "csv"
        assert len(list(reader)) == len(TEXTS)
        assert SECRET not in reader.description + reader.name
        assert all(SECRET in path for _, path, _, _ in site.asked)

    @pytest.mark.parametrize(
        ("fault", "kind", "words"),
        [
            (404, MissingFileError, "no such file"),
            (410, MissingFileError, "no such file"),
            (401, StorageError, "not permitted (HTTP 401 Unauthorized)"),
            (403, StorageError, "not permitted (HTTP 403 Forbidden)"),
            (500, StorageError, "the server failed (HTTP 500 Internal Server Error)"),
            (503, StorageError, "Try again later"),
            ("cut", DataError, "ends early"),
        ],
    )
    @pytest.mark.parametrize("name", ["tickets.jsonl", "tickets.parquet"])
    def test_faults(self, site, fault, kind, words, name):
        site.files[name] = json_lines() if name.endswith("jsonl") else parquet()
        site.faults[name] = fault
        address = site.url(name).replace("://", f"://me:{SECRET}@") + f"?sig={SECRET}"
        with pytest.raises(kind) as found:
            texts(address)
        message = str(found.value)
        assert words in message
        assert site.url(name) in message
        assert SECRET not in message
        assert found.value.__cause__ is None

    def test_the_shard_that_ends_early_is_named(self, site):
        site.files |= {"a.jsonl": json_lines(), "b.jsonl": json_lines()}
        site.faults["b.jsonl"] = "cut"
        with pytest.raises(DataError, match=r"b\.jsonl: ends early"):
            texts(site.url("a.jsonl"), site.url("b.jsonl"))

    def test_nothing_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with pytest.raises(StorageError, match="not reachable") as found:
            texts(f"http://me:{SECRET}@127.0.0.1:{port}/tickets.jsonl")
        assert SECRET not in str(found.value)

    @pytest.mark.parametrize("change", ["size", "ETag"])
    @pytest.mark.parametrize("name", ["tickets.jsonl", "tickets.parquet"])
    def test_a_file_that_changes_while_it_is_read(self, site, change, name):
        site.files[name] = json_lines() if name.endswith("jsonl") else large_parquet()
        site.headers[name] = {"ETag": '"1"'}
        documents = iter(read_documents(site.url(name)))
        next(documents)
        if change == "size":
            site.files[name] += b"\n"
        else:
            site.headers[name] = {"ETag": '"2"'}
        with pytest.raises(DataError, match="changed while it was read"):
            list(documents)

    def test_a_missing_shard_is_noticed_before_anything_is_read(self, site):
        site.files["a.jsonl"] = json_lines()
        with pytest.raises(MissingFileError, match=r"z\.jsonl"):
            read_documents([site.url("a.jsonl"), site.url("z.jsonl")])
        assert not any(method == "GET" and "a.jsonl" in path for method, path, _, _ in site.asked)

    def test_parquet_is_fetched_in_pieces(self, site):
        site.files["tickets.parquet"] = content = large_parquet()
        assert len(texts(site.url("tickets.parquet"))) == 6_000
        wanted = [part for method, _, part, _ in site.asked if method == "GET"]
        assert len(wanted) > 3
        assert None not in wanted  # never all of it
        sizes = [1 + int(end) - int(begin) for begin, end in (part[6:].split("-") for part in wanted)]
        assert max(sizes) < len(content) / 2

    def test_parquet_from_a_server_without_ranges(self, site):
        site.ranges = False
        site.files["tickets.parquet"] = parquet()
        assert texts(site.url("tickets.parquet")) == TEXTS

    def test_lines_are_read_with_one_request_and_little_memory(self, site):
        text = "word " * 2_000
        site.files["tickets.jsonl"] = json_lines([text] * 2_000, ["x"] * 2_000)  # 20 MB
        tracemalloc.start()
        count = sum(1 for _ in read_documents(site.url("tickets.jsonl")))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count == 2_000
        assert most < len(site.files["tickets.jsonl"]) * 0.8
        assert [method for method, *_ in site.asked].count("GET") == 1

    def test_a_stream(self, site):
        site.files["tickets.jsonl"] = json_lines()
        assert [document.text for document in read_stream(site.url("tickets.jsonl"))] == TEXTS

    def test_a_folder_of_the_web_is_a_page(self, site):
        with pytest.raises((DataError, UsageError, MissingFileError)):
            texts(site.url("data/"))


class TestMemory:
    def test_a_pattern_sorted_by_name(self, memory):
        for name in ("b", "a"):
            memory.pipe(f"/data/{name}.jsonl", json_lines([name], ["x"]))
        memory.pipe("/data/inner/c.jsonl", json_lines(["c"], ["x"]))
        assert texts("memory://data/*.jsonl") == ["a", "b"]
        assert texts("memory://data/**/*.jsonl") == ["a", "b", "c"]
        assert texts("memory://data/[a].jsonl") == ["a"]

    def test_a_pattern_that_matches_nothing(self, memory):
        memory.pipe("/data/a.jsonl", json_lines())
        with pytest.raises(MissingFileError, match=r"memory://data/\*\.csv: no file matches"):
            texts("memory://data/*.csv")

    def test_a_pattern_that_is_none(self, memory):
        with pytest.raises(UsageError, match=r"memory://data/\*\*\.csv: invalid pattern"):
            texts("memory://data/**.csv")

    def test_a_missing_file(self, memory):
        with pytest.raises(MissingFileError, match=r"memory://data/a\.csv: no such file"):
            texts("memory://data/a.csv")

    def test_a_folder_of_files(self, memory):
        for name in ("b", "a"):
            memory.pipe(f"/data/{name}.jsonl", json_lines([name], ["x"]))
        assert texts("memory://data") == ["a", "b"]

    def test_class_folders(self, memory):
        memory.pipe("/mail/spam/1.txt", b"win a prize")
        memory.pipe("/mail/ham/1.txt", b"see you at noon")
        found = read_collection("memory://mail")
        assert sorted(zip(found.texts, found.labels, strict=True)) == [
            ("see you at noon", ("ham",)),
            ("win a prize", ("spam",)),
        ]

    def test_the_folder_of_a_file_as_its_label(self, memory):
        memory.pipe("/mail/spam/all.txt", b"win a prize\nwin two")
        found = read_collection("memory://mail/spam/all.txt", label_from="folder", format="lines")
        assert list(found.labels) == [("spam",)] * 2

    def test_archives_are_refused(self, memory):
        memory.pipe("/mail.tar.gz", b"")
        with pytest.raises(DataError, match="Download it"):
            texts("memory://mail.tar.gz")

    def test_excel(self, memory):
        openpyxl = pytest.importorskip("openpyxl")
        book, file = openpyxl.Workbook(), io.BytesIO()
        for row in (("text", "label"), *zip(TEXTS, LABELS, strict=True)):
            book.active.append(row)
        book.save(file)
        memory.pipe("/tickets.xlsx", file.getvalue())
        assert texts("memory://tickets.xlsx") == TEXTS

    def test_a_file_that_is_replaced(self, memory):
        memory.pipe("/tickets.jsonl", json_lines())
        documents = iter(read_documents("memory://tickets.jsonl"))
        next(documents)
        memory.pipe("/tickets.jsonl", json_lines())
        with pytest.raises(DataError, match=r"tickets\.jsonl: changed"):
            list(documents)

    def test_size(self, memory, tmp_path):
        memory.pipe("/a.jsonl", json_lines())
        (tmp_path / "b.jsonl").write_bytes(json_lines())
        assert bytes_of(["memory://*.jsonl", tmp_path / "b.jsonl"]) == 2 * len(json_lines())
        assert bytes_of(["-"]) is None
        memory.pipe("/folder/c.jsonl", json_lines())
        memory.pipe("/folder/d.jsonl", json_lines())
        assert bytes_of(["memory://folder"]) == 2 * len(json_lines())


class TestS3:
    @pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "csv", "parquet"])
    def test_patterns(self, bucket, ending):
        content = {"jsonl": json_lines(), "jsonl.gz": gzip.compress(json_lines()), "csv": CSV}
        for name in ("b", "a"):
            bucket.pipe(f"tickets/{ending}/{name}.{ending}", content.get(ending, parquet()))
        found = read_collection(f"s3://tickets/{ending}/*.{ending}")
        assert list(found.texts) == TEXTS * 2
        assert [identifier.partition(":")[0] for identifier in found.ids][len(TEXTS) :] == [
            f"b.{ending}"
        ] * len(TEXTS)

    def test_missing(self, bucket):
        with pytest.raises(MissingFileError, match=r"s3://tickets/none\.csv: no such file"):
            texts("s3://tickets/none.csv")
        with pytest.raises(MissingFileError, match="no file matches"):
            texts("s3://tickets/none*.csv")
        with pytest.raises(MissingFileError):
            texts("s3://no-such-bucket/a.csv")

    def test_no_permission(self, bucket):
        bucket.pipe("tickets/a.csv", CSV)
        site = os.environ["AWS_ENDPOINT_URL"]

        def allow(requests: bytes) -> None:  # how many requests are answered whoever asks
            place, kind = f"{site}/moto-api/reset-auth", {"Content-Type": "text/plain"}
            urllib.request.urlopen(urllib.request.Request(place, requests, kind)).close()

        allow(b"0")
        try:
            with pytest.raises(
                StorageError, match=r"s3://tickets/a\.csv: not permitted .*AWS_PROFILE"
            ) as found:
                texts("s3://tickets/a.csv")
        finally:
            allow(b"inf")
        assert SECRET not in str(found.value)

    def test_an_object_that_is_replaced(self, bucket):
        # Large enough to be fetched in several pieces.
        rows = 2_000
        bucket.pipe("tickets/large.jsonl", json_lines(["word " * 1_000] * rows, ["x"] * rows))
        documents = iter(read_documents("s3://tickets/large.jsonl"))
        next(documents)
        bucket.pipe("tickets/large.jsonl", json_lines(["word " * 1_000] * rows, ["y"] * rows))
        with pytest.raises(DataError, match=r"s3://tickets/large\.jsonl: changed"):
            list(documents)


class TestAddresses:
    def test_a_file_on_this_machine(self, tmp_path):
        path = tmp_path / "my tickets.jsonl"
        path.write_bytes(json_lines())
        assert texts(path.as_uri()) == TEXTS
        assert texts(f"file://{tmp_path}/*.jsonl") == TEXTS
        with pytest.raises(MissingFileError, match="none"):
            texts((tmp_path / "none").as_uri())

    def test_an_archive_on_this_machine(self, tmp_path):
        import zipfile

        with zipfile.ZipFile(tmp_path / "mail.zip", "w") as archive:
            archive.writestr("tickets.jsonl", json_lines())
        assert texts((tmp_path / "mail.zip").as_uri()) == TEXTS

    @pytest.mark.parametrize(
        "url", ["nonsense://a/b.csv", "sqlite:///tickets.db", f"postgresql://me:{SECRET}@h/d"]
    )
    def test_an_unknown_protocol(self, url):
        with pytest.raises(UsageError, match=r"there is no protocol .*--sql") as found:
            texts(url)
        assert SECRET not in str(found.value)

    def test_a_path_is_not_an_address(self, tmp_path, monkeypatch):
        with pytest.raises(UsageError, match="Pass the address as a string"):
            read_documents(Path("s3://bucket/a.csv"))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "s3:").mkdir()
        (tmp_path / "s3:/a.jsonl").write_bytes(json_lines())
        assert list(read_collection(Path("s3:/a.jsonl")).texts) == TEXTS

    def test_a_package_that_is_missing(self):
        with pytest.raises(UsageError, match=r"pip install widemargin\[remote\] gcsfs"):
            texts("gs://bucket/a.csv") if not _installed("gcsfs") else pytest.skip("gcsfs is installed")

    def test_without_fsspec(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "fsspec", None)
        with pytest.raises(UsageError, match=r"pip install widemargin\[remote\] s3fs"):
            texts("s3://bucket/a.csv")
        with pytest.raises(UsageError, match=r"pip install widemargin\[remote\]`"):
            texts("https://host.invalid/a.csv")

    def test_names_without_secrets(self):
        url = Url(f"https://me:{SECRET}@host/a.csv?token={SECRET}#part")
        assert (str(url), repr(url), url.name) == ("https://host/a.csv", "https://host/a.csv", "a.csv")
        assert SECRET not in url.without_secrets(f"cannot get {url.address}: {SECRET}")
        assert str(Url("s3://bucket/part-?.csv")) == "s3://bucket/part-?.csv"
        assert str(Url("s3://bucket/me@home.csv")) == "s3://bucket/me@home.csv"

    def test_known_formats(self):
        assert known_format([Url("s3://bucket/a.csv.gz")]) == "csv"
        assert known_format([Url("https://host/a.jsonl?sig=1")]) == "jsonl"

    def test_local_files_do_not_load_fsspec(self, tmp_path):
        (tmp_path / "a.jsonl").write_bytes(json_lines())
        code = (
            "import sys; from widemargin.documents.reading import read_collection; "
            "read_collection(sys.argv[1]); print('fsspec' in sys.modules, 'aiohttp' in sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "a.jsonl")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["False", "False"]


def _installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None
