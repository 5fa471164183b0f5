"""Queries: a real SQLite file, a real PostgreSQL server where it is installed, and no password anywhere."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from widemargin.documents.reading import read_collection, read_documents
from widemargin.documents.record import Document
from widemargin.documents.sources.parts import SqlQuery
from widemargin.errors import DataError, MissingFileError, UsageError

SECRET = "p%40ss-w0rd"
ROWS = [(1, "The printer is broken", "hardware"), (2, "100% of invoices, at 12:30", None)]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "tickets.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table tickets (id integer, body text, team text)")
        connection.executemany("insert into tickets values (?, ?, ?)", ROWS)
    connection.close()
    return path


class TestSqlite:
    def test_rows_are_documents(self, database):
        reader = read_documents(SqlQuery(f"sqlite:///{database}", "select * from tickets"))
        assert reader.description == (
            f'sqlite:///{database}: query: text from "body", labels from "team", ids from "id".'
        )
        assert list(reader) == [
            Document("1", ROWS[0][1], ("hardware",)),
            Document("2", ROWS[1][1], None),
        ]

    def test_beside_a_file(self, database, tmp_path):
        (tmp_path / "more.csv").write_text("id,body,team\n3,Slow wifi,network\n")
        found = read_collection(
            [tmp_path / "more.csv", SqlQuery(f"sqlite:///{database}", "select * from tickets")]
        )
        assert found.ids == ["3", "1", "2"]

    def test_a_relative_path(self, database, monkeypatch):
        monkeypatch.chdir(database.parent)
        query = SqlQuery("sqlite:///tickets.db", "select body, team from tickets where body like '%12:30'")
        assert read_collection(query).texts == [ROWS[1][1]]

    def test_several_columns_and_names(self, database):
        query = SqlQuery(f"sqlite:///{database}", "select body, team, 'a' || id as title from tickets")
        assert read_collection(query, text=["title", "body"]).texts[0] == f"a1\x1f{ROWS[0][1]}"
        with pytest.raises(DataError, match=r'no column "text"; columns are body, team, title'):
            read_documents(query, text="text")

    def test_the_database_is_not_changed(self, database):
        before = database.read_bytes()
        for statement in ("delete from tickets", "create table more (a)", "drop table tickets"):
            with pytest.raises((DataError, UsageError)):
                list(read_documents(SqlQuery(f"sqlite:///{database}", statement)))
        assert database.read_bytes() == before
        assert sorted(path.name for path in database.parent.iterdir()) == ["tickets.db"]

    @pytest.mark.parametrize(
        ("query", "message"),
        [
            ("select missing from tickets", "no such column: missing"),
            ("select * from nowhere", "no such table: nowhere"),
            ("selekt", "syntax error"),
            ("select body, team as body from tickets", 'two columns are called "body"'),
            ("select * from tickets where id = 7", "has no documents"),
        ],
    )
    def test_mistakes(self, database, query, message):
        with pytest.raises(DataError, match=message):
            list(read_documents(SqlQuery(f"sqlite:///{database}", query)))

    def test_other_mistakes(self, database, tmp_path):
        with pytest.raises(MissingFileError, match=r"none.db: no such file"):
            read_documents(SqlQuery(f"sqlite:///{tmp_path / 'none.db'}", "select 1"))
        assert not (tmp_path / "none.db").exists()
        with pytest.raises(UsageError, match=r"must be the address of a database"):
            read_documents(SqlQuery("tickets.db", "select 1"))
        with pytest.raises(UsageError, match=r"the query is empty"):
            read_documents(SqlQuery(f"sqlite:///{database}", " "))
        (tmp_path / "no.db").write_text("not a database, but long enough to be taken for one" * 9)
        with pytest.raises(DataError, match=r"not a database"):
            read_documents(SqlQuery(f"sqlite:///{tmp_path / 'no.db'}", "select * from a"))
        with pytest.raises(DataError, match=r'row 1, "body": one document has more than 5 bytes'):
            list(read_documents(SqlQuery(f"sqlite:///{database}", "select * from tickets"), max_document=5))

    def test_rows_arrive_in_batches(self, tmp_path):
        path = tmp_path / "large.db"
        with sqlite3.connect(path) as connection:
            connection.execute("create table t (body text)")
            connection.executemany("insert into t values (?)", (("x" * 5000,) for _ in range(10_000)))
        connection.close()
        tracemalloc.start()
        reader = read_documents(SqlQuery(f"sqlite:///{path}", "select * from t"))
        count = sum(map(len, reader.batches()))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count == 10_000
        assert peak < 25_000_000, "all rows have 50 MB"


class TestSecrets:
    URL = f"postgresql://me:{SECRET}@127.0.0.1:1/tickets?sslpassword=other-secret"

    def test_a_query_as_text(self):
        query = SqlQuery(self.URL, "select 1")
        for shown in (str(query), repr(query), f"{query}"):
            assert shown == "postgresql://127.0.0.1:1/tickets"

    def test_errors_have_none(self):
        pytest.importorskip("sqlalchemy")
        pytest.importorskip("psycopg")
        for url in (self.URL, self.URL.replace("postgresql:", "nosuch:"), f"postgresql://me:{SECRET}@[/x"):
            with pytest.raises((DataError, UsageError)) as caught:
                read_documents(SqlQuery(url, "select 1"))
            for secret in (SECRET, "p@ss-w0rd", "other-secret"):
                assert secret not in str(caught.value)
            assert caught.value.__suppress_context__

    def test_messages_of_databases_are_cleaned(self):
        query = SqlQuery(self.URL, "select 1")
        message = query.without_secrets(f"cannot use {self.URL}: p@ss-w0rd, {SECRET}\n or other-secret")
        assert message == "cannot use ***: ***, *** or ***"

    def test_the_missing_extra_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "sqlalchemy", None)
        with pytest.raises(UsageError, match=r"pip install widemargin\[sql\]"):
            read_documents(SqlQuery(self.URL, "select 1"))


def _programs() -> Path | None:
    """Where PostgreSQL's server programs are."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    return next((place for place in places if (place / "initdb").exists()), found and Path(found).parent)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a throw-away PostgreSQL server with a table of tickets."""
    psycopg = pytest.importorskip("psycopg")
    pytest.importorskip("sqlalchemy")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    import tempfile

    place = Path(tempfile.mkdtemp(prefix="wm-pg-"))
    as_user: list[str] = []
    user = getpass.getuser()
    if os.geteuid() == 0:  # initdb refuses root
        user = "postgres"
        if subprocess.run(["id", user], capture_output=True, check=False).returncode:
            shutil.rmtree(place)
            pytest.skip("there is no user postgres to run the server")
        shutil.chown(place, user)
        as_user = ["runuser", "-u", user, "--"]

    def program(name, *arguments):
        done = subprocess.run(
            [*as_user, str(programs / name), *arguments], capture_output=True, check=False, cwd=place
        )
        assert done.returncode == 0, done.stderr.decode()

    password = place / "password"
    password.write_text("p@ss-w0rd")
    password.chmod(0o644)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = str(place / "data")
    try:
        program("initdb", "-D", data, "-U", "me", "-A", "scram-sha-256", "--pwfile", str(password), "-N")
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={place} -c fsync=off"
        program("pg_ctl", "-D", data, "-o", options, "-l", str(place / "log"), "-w", "start")
        try:
            url = f"postgresql://me:{SECRET}@127.0.0.1:{port}/postgres"
            with psycopg.connect(url) as connection:
                connection.execute("create table tickets (id int, body text, team text)")
                with connection.cursor() as cursor:
                    cursor.executemany("insert into tickets values (%s, %s, %s)", ROWS)
                many = "select 'x' || i as body from generate_series(1, 20000) i"
                connection.execute(f"create table large as {many}")
            yield url
        finally:
            program("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(place, ignore_errors=True)


class TestPostgres:
    def test_rows_are_documents(self, server):
        reader = read_documents(SqlQuery(server, "select id, body, team from tickets order by id"))
        assert SECRET not in reader.description
        assert list(reader) == [
            Document("1", ROWS[0][1], ("hardware",)),
            Document("2", ROWS[1][1], None),
        ]
        percent = SqlQuery(server, "select body, team from tickets where body like '100%12:30'")
        assert read_collection(percent).texts == [ROWS[1][1]]

    def test_a_cursor_of_the_server(self, server):
        import psycopg

        reader = read_documents(SqlQuery(server, "select * from large"))
        blocks = reader.blocks()
        next(blocks)
        with psycopg.connect(server) as connection:
            others = "select query from pg_stat_activity where pid <> pg_backend_pid()"
            running = [query for (query,) in connection.execute(others).fetchall()]
        assert any(query.upper().startswith("FETCH") for query in running), running
        assert sum(map(len, blocks)) > 0, "the rest is fetched later"

    def test_nothing_is_changed(self, server):
        with pytest.raises((DataError, UsageError)):
            list(read_documents(SqlQuery(server, "delete from tickets returning body, team")))
        assert len(read_collection(SqlQuery(server, "select body from tickets"))) == 2

    def test_a_wrong_password_is_not_repeated(self, server):
        with pytest.raises(DataError, match=r"password authentication failed") as caught:
            read_documents(SqlQuery(server.replace(SECRET, "wrong-one"), "select 1"))
        assert "wrong-one" not in str(caught.value)

    def test_the_password_is_nowhere(self, server, tmp_path, capfd):
        from widemargin.cli import main

        model = tmp_path / "m.wm"
        query = "select 'text ' || (i % 2) as body, i % 2 as team from generate_series(1, 20) i"
        common = ["--sql", server, query]
        assert main(["train", *common, "-o", str(model), "--tune", "none"]) == 0
        assert main(["evaluate", str(model), *common, "--json", "--debug"]) == 0
        assert main(["compare", *common, "--learners", "naive-bayes", "--folds", "2"]) == 0
        assert main(["evaluate", str(model), "--sql", server, "select nothing", "--debug"]) == 65
        printed = "".join(capfd.readouterr())
        assert "postgresql://127.0.0.1" in printed
        for secret in (SECRET, "p@ss-w0rd"):
            assert secret not in printed
            assert secret.encode() not in model.read_bytes()
