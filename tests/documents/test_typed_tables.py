"""Excel workbooks, saved datasets, and names of classes in Arrow tables."""

from __future__ import annotations

import datetime
import io
import json
import shutil
import subprocess
import sys
import zipfile

import pytest

from widemargin.documents.formats.tables import excel
from widemargin.documents.reading import read_collection, read_documents
from widemargin.documents.record import Document
from widemargin.errors import DataError, UsageError


class TestExcel:
    @pytest.fixture
    def write(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")

        def write_book(**sheets):
            book = openpyxl.Workbook()
            book.remove(book.active)
            for title, rows in sheets.items():
                sheet = book.create_sheet(title)
                for row in rows:
                    sheet.append(row)
            book.save(tmp_path / "t.xlsx")
            return tmp_path / "t.xlsx"

        return write_book

    def test_cells_become_text(self, write):
        day = datetime.datetime(2024, 5, 1)
        path = write(
            one=[["id", "text", "label", "when"], [1, "a", 2.0, day], [None] * 4, [2, 12.5, True, None]]
        )
        reader = read_documents(path)
        assert reader.description.endswith(
            'Excel, sheet one: text from "text", labels from "label", ids from "id".'
        )
        assert list(reader) == [Document("1", "a", ("2",)), Document("2", "12.5", ("true",))]
        assert read_collection(path, text=["text", "when"]).texts == ["a\x1f2024-05-01", "12.5\x1f"]

    def test_sheets(self, write):
        path = write(one=[["text"], ["a"]], two=[["text"], ["b"]])
        reader = read_documents(path)
        assert "sheet one (others: two; --sheet chooses)" in reader.description
        assert read_collection(path, sheet="two").texts == ["b"]
        with pytest.raises(UsageError, match=r"--sheet three: the sheets of .* are one, two"):
            read_documents(path, sheet="three")
        assert read_collection(path, remembered={"sheet": "two"}).texts == ["b"]

    def test_without_a_header(self, write):
        rows = [["spam", "win a prize"], ["ham", "see you at noon"], ["spam", "cheap"], ["spam"]]
        found = read_collection(write(one=rows), header=False)
        assert found.texts == ["win a prize", "see you at noon", "cheap", ""]
        assert found.labels == [("spam",), ("ham",), ("spam",), ("spam",)]

    def test_what_stands_beside_the_table(self, write):
        with pytest.raises(DataError, match=r"sheet one, row 3: 3 cells, but the table has 2 columns"):
            read_collection(write(one=[["text", "label"], ["a", "x"], ["b", "y", "note"]]))
        with pytest.raises(DataError, match=r"sheet one: is empty"):
            read_collection(write(one=[]))
        with pytest.raises(DataError, match=r"has no documents"):
            read_collection(write(one=[["text", "label"]]))

    def test_limits(self, write, monkeypatch):
        path = write(one=[["text"], ["a" * 5000]])
        with pytest.raises(DataError, match=r"row 2: one document has more than 1 kB"):
            list(read_documents(path, max_document=1000))
        monkeypatch.setattr("widemargin.documents.sources.archives.HARMLESS", 1000)
        monkeypatch.setattr("widemargin.documents.sources.archives.MOST_EXPANSION", 1)
        with pytest.raises(DataError, match=r"unpacks to more than"):
            read_documents(path)

    def test_other_names_and_damage(self, write, tmp_path):
        path = write(one=[["text"], ["a"]])
        shutil.copy(path, tmp_path / "book")
        assert read_collection(tmp_path / "book").texts == ["a"]
        data = path.read_bytes()
        for size in (10, len(data) // 2, len(data) - 30):
            path.write_bytes(data[:size])
            with pytest.raises(DataError, match=r"not an .xlsx workbook, or damaged"):
                list(read_documents(path))
        with zipfile.ZipFile(path, "w") as book:
            book.writestr("xl/workbook.xml", "<a>")
        with pytest.raises(DataError, match=r"not an .xlsx workbook, or damaged"):
            list(read_documents(path))

    def test_in_an_archive(self, write, tmp_path):
        path = write(one=[["text", "label"], ["a", "x"]])
        with zipfile.ZipFile(tmp_path / "d.zip", "w") as archive:
            archive.write(path, "in/t.xlsx")
        assert read_collection(tmp_path / "d.zip").texts == ["a"]

    def test_the_missing_extra_is_named(self, write, monkeypatch):
        path = write(one=[["text"], ["a"]])
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        with pytest.raises(UsageError, match=r"pip install widemargin\[excel\]"):
            read_documents(path)


class TestSavedDatasets:
    @pytest.fixture(scope="class")
    @classmethod
    def saved(cls, tmp_path_factory):
        datasets = pytest.importorskip("datasets")
        datasets.disable_progress_bars()
        features = datasets.Features(
            {
                "sentence": datasets.Value("string"),
                "label": datasets.ClassLabel(names=["ham", "spam"]),
                "topics": datasets.Sequence(datasets.ClassLabel(names=["money", "sport"])),
            }
        )
        columns = {
            "sentence": ["see you", "win a prize", "unknown"],
            "label": [0, 1, -1],
            "topics": [[1], [0, 1], []],
        }
        whole = datasets.Dataset.from_dict(columns, features=features)
        place = tmp_path_factory.mktemp("saved")
        whole.save_to_disk(str(place / "one"), num_shards=2)
        datasets.DatasetDict({"train": whole, "test": whole.select([1])}).save_to_disk(str(place / "both"))
        whole.to_parquet(str(place / "t.parquet"))
        return place

    def test_numbers_of_classes_become_names(self, saved):
        for path in (saved / "one", saved / "t.parquet"):
            found = read_collection(path)
            assert found.texts == ["see you", "win a prize", "unknown"]
            assert found.labels == [("ham",), ("spam",), None]
            topics = read_collection(path, label="topics")
            assert topics.labels == [("sport",), ("money", "sport"), ()]

    def test_splits(self, saved):
        assert read_collection(saved / "both", split="test").texts == ["win a prize"]
        assert len(read_collection(saved / "both", split="train")) == 3
        with pytest.raises(UsageError, match=r"the splits train, test. Choose one: --split train"):
            read_documents(saved / "both")
        with pytest.raises(UsageError, match=r"--split dev: the splits of .* are train, test"):
            read_documents(saved / "both", split="dev")
        with pytest.raises(UsageError, match=r"has no splits"):
            read_documents(saved / "one", split="train")

    def test_in_an_archive(self, saved, tmp_path):
        shutil.make_archive(str(tmp_path / "one"), "zip", saved / "one")
        shutil.make_archive(str(tmp_path / "both"), "gztar", saved / "both")
        assert len(read_collection(tmp_path / "one.zip")) == 3
        assert read_collection(tmp_path / "both.tar.gz", split="test").texts == ["win a prize"]

    def test_damage(self, saved, tmp_path):
        shutil.copytree(saved / "one", tmp_path / "one")
        state = json.loads((tmp_path / "one/state.json").read_text())
        data = tmp_path / "one" / state["_data_files"][0]["filename"]
        whole = data.read_bytes()
        data.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataError, match=r"not an Arrow file, or damaged"):
            list(read_documents(tmp_path / "one"))
        data.unlink()
        with pytest.raises(DataError, match=r"the file .*arrow is missing"):
            read_documents(tmp_path / "one")
        (tmp_path / "one/state.json").write_text("[")
        with pytest.raises(DataError, match=r"state.json: not JSON"):
            read_documents(tmp_path / "one")

    def test_their_library_is_not_imported(self, saved):
        program = (
            "import sys\nfrom widemargin.documents.reading import read_collection\n"
            "assert len(read_collection(sys.argv[1])) == 3\nassert 'datasets' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", program, str(saved / "one")], check=True)


def test_sizes_of_workbooks_in_memory():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as book:
        book.writestr("a", "b")
    buffer.seek(3)
    excel._check_size(buffer, "t.xlsx")
    assert buffer.tell() == 0
