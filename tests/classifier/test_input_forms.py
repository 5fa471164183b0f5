"""Texts and labels in the forms of pandas, polars, Arrow and NumPy: the same models as from plain lists."""

from __future__ import annotations

import numpy as np
import pytest

from widemargin import LinearSVM, NaiveBayes, TextClassifier, Vectorizer, compare, diagnose, leave_one_out
from widemargin.errors import DataError, DataWarning, UsageError
from widemargin.labels import Labels

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

TEXTS = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"] * 3
LABELS = ["grain", "money", "trade", "money"] * 3
SETS = [["grain"], ["money", "rates"], ["grain", "trade"], []] * 3
NUMBERS = [3, 7, 5, 7] * 3
BOOLEANS = [True, False, False, True] * 3
INDEX = list(range(100, 112))[::-1]

STRINGS = {
    "tuple": tuple,
    "generator": lambda values: (value for value in values),
    "iterator": iter,
    "dict values": lambda values: dict(enumerate(values)).values(),
    "pandas object": lambda values: pd.Series(values, dtype=object, index=INDEX),
    "pandas string[python]": lambda values: pd.Series(values, dtype=pd.StringDtype("python"), index=INDEX),
    "pandas string[pyarrow]": lambda values: pd.Series(values, dtype=pd.StringDtype("pyarrow"), index=INDEX),
    "pandas arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.string()), index=INDEX),
    "pandas category": lambda values: pd.Series(values, dtype="category", index=INDEX),
    "pandas index": pd.Index,
    "pandas array": lambda values: pd.array(values, dtype="string"),
    "pandas frame": lambda values: pd.DataFrame({"some name": values}, index=INDEX),
    "pandas frame of categories": lambda values: pd.DataFrame({0: values}, dtype="category"),
    "polars": pl.Series,
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "polars enum": lambda values: pl.Series(values, dtype=pl.Enum(sorted(set(values)))),
    "polars frame": lambda values: pl.DataFrame({"some name": values}),
    "polars frame of enum": lambda values: pl.DataFrame(
        {"some name": pl.Series(values, dtype=pl.Enum(sorted(set(values))))}
    ),
    "arrow": pa.array,
    "arrow chunks": lambda values: pa.chunked_array([values[:5], [], values[5:]], type=pa.string()),
    "arrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "arrow dictionary chunks": lambda values: pa.chunked_array([values[:5], values[5:]]).dictionary_encode(),
    "arrow large_string": lambda values: pa.array(values, type=pa.large_string()),
    "arrow string_view": lambda values: pa.array(values, type=pa.string_view()),
    "arrow table": lambda values: pa.table({"some name": values}),
    "arrow batch": lambda values: pa.record_batch({"some name": pa.array(values).dictionary_encode()}),
    "numpy U": np.array,
    "numpy object": lambda values: np.array(values, dtype=object),
    "numpy StringDType": lambda values: np.array(values, dtype=np.dtypes.StringDType()),
    "numpy column": lambda values: np.array(values)[:, None],
    "numpy object column": lambda values: np.array(values, dtype=object)[:, None],
}
COLUMNS_WARN = {"numpy column", "numpy object column"}  # as labels, with the warning of scikit-learn


def of_labels(form: str, values):
    made = STRINGS[form](values)
    return made.ravel() if form in COLUMNS_WARN else made


@pytest.fixture(scope="module")
def plain():
    return TextClassifier(tune=None, estimate=None).fit(TEXTS, LABELS)


@pytest.mark.parametrize("form", STRINGS)
class TestStrings:
    def test_texts(self, plain, form):
        make = STRINGS[form]
        found = TextClassifier(tune=None, estimate=None).fit(make(TEXTS), LABELS)
        assert found.vectorizer_.fields_ is None
        assert list(found.vectorizer_.vocabulary_) == list(plain.vectorizer_.vocabulary_)
        assert (found.learner_.coef_ == plain.learner_.coef_).all()
        assert (plain.decision_function(make(TEXTS)) == plain.decision_function(TEXTS)).all()
        assert plain.predict(make(TEXTS)).tolist() == plain.predict(TEXTS).tolist()

    def test_labels(self, plain, form):
        found = TextClassifier(tune=None, estimate=None).fit(TEXTS, of_labels(form, LABELS))
        assert (found.learner_.coef_ == plain.learner_.coef_).all()
        predicted = found.predict(TEXTS)
        assert isinstance(predicted, np.ndarray)
        assert predicted.tolist() == plain.predict(TEXTS).tolist()

    def test_of_a_vectorizer(self, form):
        make, plain = STRINGS[form], Vectorizer().fit_transform(TEXTS)
        vectorizer = Vectorizer()
        assert (vectorizer.fit_transform(make(TEXTS)) != plain).nnz == 0
        assert (vectorizer.transform(make(TEXTS)) != plain).nnz == 0
        assert (Vectorizer().fit(make(TEXTS)).transform(TEXTS) != plain).nnz == 0

    def test_of_learners(self, form):
        X = Vectorizer().fit_transform(TEXTS)
        y = of_labels(form, LABELS)
        svm = LinearSVM().fit(X, y)
        plain = LinearSVM().fit(X, LABELS)
        assert (svm.coef_ == plain.coef_).all()
        expected = leave_one_out(plain, X, LABELS).scores
        assert (leave_one_out(svm, X, of_labels(form, LABELS)).scores == expected).all()
        assert NaiveBayes().fit(X, of_labels(form, LABELS)).predict(X).tolist() == (
            NaiveBayes().fit(X, LABELS).predict(X).tolist()
        )


@pytest.mark.parametrize(
    "form", ["generator", "pandas frame", "polars categorical", "arrow table", "arrow dictionary chunks"]
)
def test_top_level_functions(form):
    make = STRINGS[form]
    binary = ["grain", "money", "grain", "money"] * 3
    how = {"learners": ["linear-svm"], "folds": 2}
    found = compare(make(TEXTS), make(binary), test=(make(TEXTS), make(binary)), **how)
    expected = compare(TEXTS, binary, test=(TEXTS, binary), **how)
    assert found.rows[0].accuracy == expected.rows[0].accuracy
    ours, theirs = (
        diagnose(*parts).to_dict()
        for parts in ([make(part) for part in [TEXTS, binary] * 2], [TEXTS, binary] * 2)
    )
    assert {key: value for key, value in ours.items() if key != "seconds"} == {
        key: value for key, value in theirs.items() if key != "seconds"
    }


OTHERS = {
    "pandas Int64": (lambda: pd.Series(NUMBERS, dtype="Int64", index=INDEX), NUMBERS),
    "pandas int8": (lambda: pd.Series(NUMBERS, dtype="int8", index=INDEX), NUMBERS),
    "pandas boolean": (lambda: pd.Series(BOOLEANS, dtype="boolean", index=INDEX), BOOLEANS),
    "pandas bool": (lambda: pd.Series(BOOLEANS, index=INDEX), BOOLEANS),
    "pandas categories of numbers": (lambda: pd.Series(NUMBERS, dtype="category"), NUMBERS),
    "pandas frame of Int64": (lambda: pd.DataFrame({"y": NUMBERS}, dtype="Int64"), NUMBERS),
    "polars Int32": (lambda: pl.Series(NUMBERS, dtype=pl.Int32), NUMBERS),
    "polars Boolean": (lambda: pl.Series(BOOLEANS), BOOLEANS),
    "arrow int16": (lambda: pa.array(NUMBERS, type=pa.int16()), NUMBERS),
    "arrow bool": (lambda: pa.array(BOOLEANS), BOOLEANS),
    "range": (lambda: range(12), list(range(12))),
    "pandas lists": (lambda: pd.Series(SETS, index=INDEX), SETS),
    "pandas arrays": (lambda: pd.Series([np.array(one, dtype=object) for one in SETS]), SETS),
    "polars List(String)": (lambda: pl.Series(SETS), SETS),
    "polars frame of lists": (lambda: pl.DataFrame({"y": SETS}), SETS),
    "arrow list<string>": (lambda: pa.array(SETS), SETS),
    "arrow chunks of lists": (lambda: pa.chunked_array([SETS[:5], SETS[5:]]), SETS),
    "generator of sets": (lambda: (set(one) for one in SETS), SETS),
    "numpy objects": (lambda: np.array([*SETS, None], dtype=object)[:-1], SETS),
}


@pytest.mark.parametrize("form", OTHERS)
def test_other_labels(form):
    make, same = OTHERS[form]
    found, expected = Labels.of(make()), Labels.of(same)
    assert found.space.kind == expected.space.kind
    assert found.space.classes.tolist() == expected.space.classes.tolist()
    assert (found.signs == expected.signs).all()
    fitted, plain = (
        TextClassifier(tune=None, estimate=None).fit(TEXTS, make()),
        TextClassifier(tune=None, estimate=None).fit(TEXTS, same),
    )
    assert (fitted.learner_.coef_ == plain.learner_.coef_).all()
    assert list(fitted.predict(TEXTS)) == list(plain.predict(TEXTS))


MISSING = {
    "list": lambda values: [None, *values[1:]],
    "pandas object": lambda values: pd.Series([np.nan, *values[1:]], dtype=object),
    "pandas string": lambda values: pd.Series([pd.NA, *values[1:]], dtype="string"),
    "pandas category": lambda values: pd.Series([None, *values[1:]], dtype="category"),
    "pandas frame": lambda values: pd.DataFrame({"y": [None, *values[1:]]}),
    "polars": lambda values: pl.Series([None, *values[1:]]),
    "polars categorical": lambda values: pl.Series([None, *values[1:]], dtype=pl.Categorical),
    "arrow": lambda values: pa.array([None, *values[1:]]),
    "arrow dictionary": lambda values: pa.array([None, *values[1:]]).dictionary_encode(),
    "numpy StringDType": lambda values: np.array(
        [None, *values[1:]], dtype=np.dtypes.StringDType(na_object=None)
    ),
    "numpy masked": lambda values: np.ma.array(values, mask=[True, *[False] * 11]),
}


@pytest.mark.parametrize("form", MISSING)
class TestMissing:
    def test_label(self, form):
        expected = Labels.partial([None, *LABELS[1:]])
        found = Labels.partial(MISSING[form](LABELS))
        assert (found.signs == expected.signs).all()
        assert found.unlabeled.tolist() == expected.unlabeled.tolist()
        with pytest.warns(DataWarning, match="1 of 12 documents have no label"):
            fitted = TextClassifier(tune=None, estimate=None).fit(TEXTS, MISSING[form](LABELS))
        plain = TextClassifier(tune=None, estimate=None).fit(TEXTS[1:], LABELS[1:])
        assert (fitted.learner_.coef_ == plain.learner_.coef_).all()
        with pytest.raises(DataError, match=r"row 0 has no label.*Drop unlabeled rows"):
            LinearSVM().fit(np.eye(12), MISSING[form](LABELS))

    def test_text(self, form, plain):
        for use in (
            Vectorizer().fit,
            plain.predict,
            lambda texts: TextClassifier(tune=None, estimate=None).fit(texts, LABELS),
        ):
            with pytest.raises(
                DataError, match=r"Document 0 .* is .*, not a text. Drop it and its label.*fillna"
            ):
                use(MISSING[form](TEXTS))


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([3, None, 5, 7] * 3, dtype="Int64"),
        pl.Series([3, None, 5, 7] * 3),
        pa.array([3, None, 5, 7] * 3),
        pd.DataFrame({"y": [3, None, 5, 7] * 3}, dtype="Int64"),
    ],
    ids=["pandas", "polars", "arrow", "frame"],
)
def test_missing_numbers(y):
    found = Labels.partial(y)
    assert found.space.classes.tolist() == [3, 5, 7]
    assert found.space.classes.dtype.kind == "i"
    assert np.flatnonzero(found.unlabeled).tolist() == [1, 5, 9]


@pytest.mark.parametrize(
    "y",
    [pd.Series([*SETS[:-1], None]), pl.Series([*SETS[:-1], None]), pa.array([*SETS[:-1], None])],
    ids=["pandas", "polars", "arrow"],
)
def test_missing_label_sets(y):
    found, expected = Labels.partial(y), Labels.partial([*SETS[:-1], None])
    assert (found.signs == expected.signs).all()
    assert np.flatnonzero(found.unlabeled).tolist() == [11]


def test_columns_of_nulls():
    for y in (pl.Series([None] * 3), pa.nulls(3), pd.Series([None] * 3)):
        with pytest.raises(DataError, match="None of the 3 documents has a label"):
            Labels.partial(y)
        with pytest.raises(DataError, match=r"Document 0 .*not a text. Drop it"):
            Vectorizer().fit(y)


INDICATOR = {"trade": [0, 0, 1, 0] * 3, "grain": [1, 0, 1, 0] * 3}
TABLES = {
    "pandas": lambda columns: pd.DataFrame(
        columns, index=INDEX[: len(columns["grain"])] if "grain" in columns else None
    ),
    "pandas bool": lambda columns: pd.DataFrame(columns).astype(bool),
    "pandas Int64": lambda columns: pd.DataFrame(columns, dtype="Int64"),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("form", TABLES)
class TestIndicators:
    def test_names_of_columns_are_labels(self, form, tmp_path):
        matrix = np.column_stack(list(INDICATOR.values()))
        plain = TextClassifier(tune=None, estimate=None).fit(TEXTS, matrix)
        found = TextClassifier(tune=None, estimate=None).fit(TEXTS, TABLES[form](INDICATOR))
        assert found.classes_.tolist() == ["trade", "grain"]
        assert (found.learner_.coef_ == plain.learner_.coef_).all()
        assert isinstance(found.predict(TEXTS), np.ndarray)
        assert found.predict(TEXTS).tolist() == plain.predict(TEXTS).tolist()
        assert found.explain(TEXTS[0], "grain").score == plain.explain(TEXTS[0], 1).score
        found.save(tmp_path / "m.wm")
        loaded = TextClassifier.load(tmp_path / "m.wm")
        assert loaded.classes_.tolist() == ["trade", "grain"]
        assert loaded.predict(TEXTS).tolist() == plain.predict(TEXTS).tolist()

    def test_columns_are_matched_by_name(self, form):
        space = Labels.of(TABLES[form](INDICATOR)).space
        turned = TABLES[form](dict(reversed(INDICATOR.items())))
        assert (space.encode(turned) == Labels.of(TABLES[form](INDICATOR)).signs).all()
        by_sets = Labels.of([["grain"], ["trade"], []] * 4).space
        assert by_sets.encode(turned)[:, 1].tolist() == [2 * one - 1 for one in INDICATOR["trade"]]
        with pytest.raises(DataError, match=r"y has no column 'trade'; its columns are grain, other"):
            space.encode(TABLES[form]({"grain": [0, 1], "other": [1, 0]}))

    def test_missing_cells(self, form):
        if form == "pandas bool":
            pytest.skip("has no missing values")
        y = TABLES[form]({"trade": [0, None, 1, None], "grain": [1, 0, None, None]})
        expected = Labels.partial([[0, 1], [None, 0], [1, None], [None, None]])
        found = Labels.partial(y)
        assert found.signs.tolist() == expected.signs.tolist()
        assert found.space.classes.tolist() == ["trade", "grain"]


class TestTables:
    COLUMNS = {"title": ["Wheat", "Bank", None, "Profits"] * 3, "body": TEXTS}  # noqa: RUF012

    @pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
    def test_columns_are_fields(self, form):
        made = TABLES[form](self.COLUMNS)
        vectorizer = Vectorizer(blocks=["words", "title:0.5"])
        plain = TextClassifier(vectorizer, tune=None, estimate=None).fit(self.COLUMNS, LABELS)
        found = TextClassifier(vectorizer, tune=None, estimate=None).fit(made, LABELS)
        assert found.vectorizer_.fields_ == ("title", "body")
        assert (found.learner_.coef_ == plain.learner_.coef_).all()
        assert found.predict(made).tolist() == plain.predict(self.COLUMNS).tolist()

    def test_types_of_columns(self):
        """Categories and enumerations are text, in whatever library."""
        texts = ["a b", "b c"]
        expected = Vectorizer(fields=("x", "y")).fit_transform({"x": texts, "y": texts}).toarray()
        for made in (
            pd.DataFrame({"x": texts, "y": texts, "n": [1, 2]}).astype({"x": "category", "y": "string"}),
            pd.DataFrame({"x": texts, "y": texts}, dtype=pd.ArrowDtype(pa.string())),
            pl.DataFrame({"x": texts, "y": texts}, schema={"x": pl.Categorical, "y": pl.Enum(texts)}),
            pa.table({"x": pa.array(texts).dictionary_encode(), "y": pa.array(texts, pa.large_string())}),
        ):
            assert (Vectorizer(fields=("x", "y")).fit_transform(made).toarray() == expected).all()
            classifier = TextClassifier(Vectorizer(fields=("x", "y")), tune=None, estimate=None).fit(
                made, ["p", "q"]
            )
            assert classifier.predict(made).tolist() == ["p", "q"]

    def test_missing_values_of_pandas_are_empty(self):
        frame = pd.DataFrame({"x": ["a", pd.NA], "y": ["b", "c"]}, dtype="string")
        assert Vectorizer(weighting=None).fit_transform(frame).toarray().tolist() == [[1, 1, 0], [0, 0, 1]]

    def test_a_column_of_numbers_needs_names_of_fields(self):
        frame = pd.DataFrame({"id": [1, 2], "x": ["a", "b"]})
        with pytest.raises(DataError, match=r"Column 'id' of document 0 .* is 1, not a text.*fields="):
            TextClassifier(tune=None, estimate=None).fit(frame, ["p", "q"])

    @pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
    def test_numbers_are_vectors(self, form):
        rows = np.random.default_rng(0).normal(size=(12, 2))
        made = TABLES[form](dict(zip("ab", rows.T, strict=True)))
        plain = TextClassifier(tune=None, estimate=None).fit(rows, LABELS)
        found = TextClassifier(tune=None, estimate=None).fit(made, LABELS)
        assert (found.decision_function(made) == plain.decision_function(rows)).all()
        with pytest.warns(DataWarning, match="1 of 12"):
            TextClassifier(tune=None, estimate=None).fit(made, [None, *LABELS[1:]])


class TestErrors:
    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            ("one text", "one (str|text)"),
            (b"one text", "one (bytes|text)"),
            (None, "Expected a list of documents, found None"),
            (7, "Expected a list of documents, found int"),
            (set(TEXTS), "are a set, which has no order. Pass a list"),
            ([1, 2], "Document 0 .* is 1, not a text.*str"),
            (["a", ["b", "c"]], "Document 1 .* is of type list, not a text.*joined by spaces"),
            ([["a"], ["b"]], "Document 0 .* is of type list"),
            (np.array([["a", "b"], ["c", "d"]]), "shape \\(2, 2\\)|these are vectors"),
            (pd.Series([1.5, 2.5]), "Document 0 .* is 1.5, not a text"),
            (pl.Series([1, 2]), "Document 0 .* is 1, not a text"),
            (pa.array([1, 2]), "The Arrow column holds int64, not strings"),
        ],
    )
    def test_texts(self, plain, texts, message):
        for use in (
            Vectorizer().fit,
            plain.predict,
            lambda some: TextClassifier(tune=None, estimate=None).fit(some, ["p", "q"]),
        ):
            with pytest.raises((DataError, UsageError, ValueError), match=message):
                use(texts)

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ("grain", "Expected one label .* per row"),
            (7, "Expected one label .* per row"),
            ({"grain", "money"}, "y is a set, so its labels cannot be matched"),
            ({"a": "b"}, "y is a dict, so its labels cannot be matched"),
            (["a", "b", "c"], "12 documents and 3 labels"),
            (np.array(LABELS, dtype="S"), "The labels are bytes. Decode"),
            (
                pd.DataFrame({"a": ["x"] * 12, "b": ["y"] * 12}),
                "y has 2 columns .*'a' holds 'x' in row 0.*y\\['a'\\]",
            ),
            (pd.DataFrame(np.eye(12)[:, :0]), "y is a table without columns"),
            (pd.DataFrame(np.eye(12, 2), columns=["a", "a"]), "two columns 'a'"),
            (pl.DataFrame({"a": [0.5] * 12, "b": [1] * 12}), "holds 0.5 beside 0 and 1"),
        ],
    )
    def test_labels(self, y, message):
        with pytest.raises(DataError, match=message):
            TextClassifier(tune=None, estimate=None).fit(TEXTS, y)
        with pytest.raises(DataError, match=message):
            LinearSVM().fit(np.eye(12), y)

    def test_bytes_are_texts_in_utf_8(self, plain):
        texts = np.array([text.encode() for text in TEXTS])
        assert plain.predict(texts).tolist() == plain.predict(TEXTS).tolist()
