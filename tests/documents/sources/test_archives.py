"""Archives: what is read from them, and what is refused before it does harm."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile

import pytest
import zstandard

from widemargin.documents.reading import read_collection, read_documents
from widemargin.documents.record import Document
from widemargin.documents.sources import archives
from widemargin.errors import DataError, DataWarning

MAIL = {"spam/1.txt": "win a prize", "spam/2.txt": "cheap pills", "ham/1.txt": "see you at noon"}
EXPECTED = {(name, text, (name.split("/")[0],)) for name, text in MAIL.items()}


def write_zip(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def write_tar(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def in_every_kind(tmp_path, members):
    """The same members as a .zip and as every .tar."""
    yield write_zip(tmp_path / "d.zip", members)
    yield write_tar(tmp_path / "d.tar", members)
    yield write_tar(tmp_path / "d.tgz", members, "w:gz")
    yield write_tar(tmp_path / "d.tar.xz", members, "w:xz")
    path = tmp_path / "d.tar.zst"
    path.write_bytes(zstandard.compress((tmp_path / "d.tar").read_bytes()))
    yield path


def found(path, **options):
    return {(document.id, document.text, document.labels) for document in read_documents(path, **options)}


def test_class_folders(tmp_path):
    for path in in_every_kind(tmp_path, MAIL):
        assert found(path) == EXPECTED
        assert path.rename(tmp_path / "no-ending")  # the first bytes tell
        if not path.name.endswith(("gz", "xz", "zst")):
            assert found(tmp_path / "no-ending") == EXPECTED
        (tmp_path / "no-ending").rename(path)


def test_the_folder_that_was_packed_is_not_a_class(tmp_path):
    members = {f"mail/{name}": text for name, text in MAIL.items()} | {"mail/README": "about"}
    for path in in_every_kind(tmp_path, members):
        with pytest.warns(DataWarning, match=r"omitted 1 file outside of the class folders"):
            assert found(path) == EXPECTED


def test_hidden_files_are_skipped(tmp_path):
    rubbish = {"__MACOSX/spam/._1.txt": "x", "spam/.DS_Store": "x", ".git/config": "x"}
    for path in in_every_kind(tmp_path, MAIL | rubbish):
        assert found(path) == EXPECTED


def test_data_files(tmp_path):
    members = {
        "d/a.csv": "id,text,label\n1,one,x\n",
        "d/b.jsonl": '{"id": "2", "text": "two", "labels": ["y"]}\n',
    }
    for path in in_every_kind(tmp_path, members):
        collection = read_collection(path)
        assert collection.texts == ["one", "two"]
        assert collection.labels == [("x",), ("y",)]


def test_tables_that_are_read_in_any_order(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": ["one", "two"], "label": ["x", "y"]}), tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    for path in in_every_kind(tmp_path, {"t.parquet": data}):
        assert read_collection(path).texts == ["one", "two"]


def test_names_that_lead_out_of_the_archive_are_only_names(tmp_path):
    members = {"/abs/1.txt": "one", "../../up/1.txt": "two"}
    for path in in_every_kind(tmp_path, members):
        assert {document.id for document in read_documents(path)} == {"abs/1.txt", "up/1.txt"}
    assert sorted(path.name for path in tmp_path.parent.iterdir() if path.suffix == ".txt") == []


@pytest.mark.parametrize("inner", ["inner.zip", "inner.tar.gz", "spam/inner.tgz"])
def test_nested_archives_are_refused_with_the_cure(tmp_path, inner):
    for path in in_every_kind(tmp_path, MAIL | {inner: b"PK"}):
        with pytest.raises(DataError, match=rf"{inner}: an archive inside an archive. Unpack .*, and name"):
            read_documents(path)


def test_encrypted_members_are_refused(tmp_path):
    path = write_zip(tmp_path / "d.zip", MAIL)
    data = bytearray(path.read_bytes())
    for start in (b"PK\x01\x02", b"PK\x03\x04"):
        place = data.find(start) + (8 if start == b"PK\x01\x02" else 6)
        flags = struct.unpack_from("<H", data, place)[0]
        struct.pack_into("<H", data, place, flags | 1)
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"is encrypted. Unpack it with its password"):
        read_documents(path)


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "HARMLESS", 1_000_000)
    members = {f"spam/{i}.txt": "0" * 400_000 for i in range(20)}
    for path in in_every_kind(tmp_path, members):
        if path.suffix == ".tar":
            continue  # as large as what it holds
        with pytest.raises(DataError, match=r"unpacks to more than .* unpack it and name its folder"):
            list(read_documents(path))


def test_a_member_is_a_document_of_limited_size(tmp_path):
    for path in in_every_kind(tmp_path, MAIL | {"spam/long.txt": "a" * 500}):
        with pytest.raises(DataError, match=r"spam/long.txt: one document has more than 100 bytes"):
            list(read_documents(path, max_document=100))


def test_too_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MOST_MEMBERS", 2)
    for path in in_every_kind(tmp_path, MAIL):
        with pytest.raises(DataError, match=r"more than 2 members"):
            read_documents(path)


def test_links_are_omitted(tmp_path):
    with tarfile.open(tmp_path / "d.tar", "w") as archive:
        for name, text in MAIL.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("spam/passwd")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.warns(DataWarning, match=r"omitted 1 link"):
        assert found(tmp_path / "d.tar") == EXPECTED


def test_damaged_archives(tmp_path):
    for path in in_every_kind(tmp_path, {name: text * 500 for name, text in MAIL.items()}):
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"damaged|not a .zip"):
            list(read_documents(path))
    (tmp_path / "d.zip").write_text("text,label\na,x\n")
    with pytest.raises(DataError, match=r"not a .zip file despite its name"):
        read_documents(tmp_path / "d.zip")


def test_an_archive_on_standard_input_and_a_model(tmp_path, monkeypatch):
    path = write_zip(tmp_path / "d.zip", MAIL)
    with path.open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(DataError, match=r"standard input: a zip file cannot be read directly. Save it"):
            read_documents("-")
    write_zip(tmp_path / "m.wm", {"manifest.json": "{}"})
    with pytest.raises(DataError, match=r"m.wm: is a model file"):
        read_documents(tmp_path / "m.wm")


def test_an_empty_archive(tmp_path):
    for path in in_every_kind(tmp_path, {}):
        with pytest.raises(DataError, match=r"is empty|damaged"):
            read_documents(path)


def test_a_document_of_a_zip(tmp_path):
    path = write_zip(tmp_path / "d.zip", {"only.csv": "text,label\none,x\n"})
    assert list(read_documents(path)) == [Document("1", "one", ("x",))]
