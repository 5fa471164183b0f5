"""Times of documents: dates or numbers from a column, for splits that follow time."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from widemargin import TextClassifier
from widemargin.documents.reading import read_collection
from widemargin.documents.times import parse_times
from widemargin.errors import DataError, DataWarning, UsageError

ROWS = [
    ("2020-01-02", "corn up"),
    ("2019-12-31T23:59:59", "rates fall"),
    ("", "wheat"),
    ("2020-01-02", "bank"),
]


def as_csv(folder, rows=ROWS):
    path = folder / "d.csv"
    lines = [f"{when},{text},{'g' if k % 2 == 0 else 'm'}" for k, (when, text) in enumerate(rows)]
    path.write_text("\n".join(["when,body,team", *lines]) + "\n", encoding="utf-8")
    return path


def as_jsonl(folder, rows):
    path = folder / "d.jsonl"
    records = [{"text": text, "labels": ["g"], "when": when} for when, text in rows]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_dates_are_ordered_and_missing_ones_are_nan():
    times = parse_times(
        ["2020-01-02", "2020-01-01T23:00", "2020-01-01 23:00:00+00:00", None, "2020-01-02T01:00+02:00"]
    )
    assert times[0] > times[1] == times[2] > 0
    assert math.isnan(times[3])
    assert times[4] == times[1]


@pytest.mark.parametrize("value", ["yesterday", "1/2/2020", "2020-13-01"])
def test_other_words_are_refused(value):
    with pytest.raises(DataError, match=f"Document b has the time '{value}'"):
        parse_times(["2020-01-01", value], ["a", "b"])


def test_dates_and_numbers_do_not_mix():
    with pytest.raises(DataError, match="a number, but others have a date"):
        parse_times(["2020-01-01", "2020"])


def test_a_column_of_a_table(tmp_path):
    found = read_collection(as_csv(tmp_path), label="team", time="when")
    assert found.texts == [text for _, text in ROWS]
    assert found.times[0] == found.times[3] > found.times[1]
    assert math.isnan(found.times[2])
    assert read_collection(as_csv(tmp_path), label="team").times is None
    some = found.subset([3, 2])
    assert some.texts == ["bank", "wheat"]
    assert some.times[0] == found.times[3]


@pytest.mark.parametrize("first", [1987, 1987.5, "1987", None])
def test_a_field_of_json_lines(tmp_path, first):
    found = read_collection(as_jsonl(tmp_path, [(first, "corn"), (1990, "wheat\x1f up")]), time="when")
    assert found.texts == ["corn", "wheat  up"]
    assert found.times[1] == 1990
    assert found.times[0] == float(first) if first is not None else math.isnan(found.times[0])


def test_several_columns_and_a_time(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("when,title,body,label\n2001,Corn,up again,g\n2002,,down,m\n", encoding="utf-8")
    found = read_collection(path, text=["title", "body"], time="when")
    assert found.texts == ["Corn\x1fup again", "\x1fdown"]
    assert found.times == [2001.0, 2002.0]


def test_a_parquet_column(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import datetime

    import pyarrow.parquet as pq

    days = [datetime.date(2020, 1, 2), None, datetime.date(2019, 1, 2)]
    pq.write_table(
        pa.table({"text": ["a b", "c", "d"], "label": ["x", "y", "x"], "day": days}), tmp_path / "d.parquet"
    )
    found = read_collection(tmp_path / "d.parquet", time="day")
    assert found.times[0] > found.times[2]
    assert math.isnan(found.times[1])
    assert found.texts == ["a b", "c", "d"]


def test_a_missing_column_is_named(tmp_path):
    with pytest.raises(DataError, match=r'no column "date"; columns are when, body, team\. Pass --time when'):
        read_collection(as_csv(tmp_path), time="date")
    (tmp_path / "d.txt").write_text("__label__a corn\n__label__b bank\n", encoding="utf-8")
    with pytest.raises(DataError, match="no columns when"):
        read_collection(tmp_path / "d.txt", format="fasttext", time="when")


class TestTraining:
    texts = ("corn wheat up", "wheat corn", "bank rate", "rate loan bank") * 10
    y = ("g", "g", "m", "m") * 10

    def test_times_of_a_classifier(self):
        times = np.arange(len(self.texts), dtype=float)
        found = TextClassifier(tune="fast", estimate=None).fit(list(self.texts), list(self.y), times=times)
        assert found.training_summary_["tuning"]["estimate"] == "later documents"

    def test_unlabeled_documents_take_their_times_along(self):
        y = [None, *self.y[1:]]
        with pytest.warns(DataWarning, match="no label"):
            found = TextClassifier(tune="fast", estimate=None).fit(list(self.texts), y, times=np.arange(40))
        assert found.training_summary_["tuning"]["estimate"] == "later documents"

    def test_a_space_has_no_times(self):
        from widemargin.tune.search_space import Space

        with pytest.raises(UsageError, match="default search"):
            TextClassifier(tune="fast", space=Space(), estimate=None).fit(
                list(self.texts), list(self.y), times=np.arange(40)
            )
