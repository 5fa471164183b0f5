"""SVM-light's model files."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from widemargin.documents.formats.svmlight_model import (
    KERNELS,
    SvmLightModel,
    is_svmlight_model,
    read_svmlight_model,
    write_svmlight_model,
)
from widemargin.errors import DataError, MissingFileError

# As version 6.02 of svm_learn prints them, blanks at the ends of lines included.
LINES = [
    "SVM-light Version V6.02",
    "2 # kernel type",
    "3 # kernel parameter -d ",
    "0.5 # kernel parameter -g ",
    "1 # kernel parameter -s ",
    "1 # kernel parameter -r ",
    "empty# kernel parameter -u ",
    "9947 # highest feature index ",
    "2000 # number of training documents ",
    "4 # number of support vectors plus 1 ",
    "0.99409391 # threshold b, each following line is a SV (starting with alpha*y)",
    "-0.0056008439257684 6:0.019875912 15:0.033971068 9947:0.29331410 #",
    "1.25e-05 qid:7 1:-2 #a comment: 3:4",
    "0.5 #",
]


def write(tmp_path, lines):
    path = tmp_path / "model"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_what_svm_learn_writes(tmp_path):
    path = write(tmp_path, LINES)
    assert is_svmlight_model(path)
    model = read_svmlight_model(path)
    assert (model.kernel, model.degree, model.gamma, model.scale, model.offset) == ("rbf", 3, 0.5, 1.0, 1.0)
    assert (model.option, model.n_features, model.n_documents, model.version) == (
        "empty",
        9947,
        2000,
        "V6.02",
    )
    assert model.threshold == 0.99409391
    assert model.coefficients.tolist() == [-0.0056008439257684, 1.25e-05, 0.5]
    rows = model.support_vectors.tocoo()
    assert rows.shape == (3, 9947)
    assert list(zip(*(c.tolist() for c in (*rows.coords, rows.data)), strict=True)) == [
        (0, 5, 0.019875912),
        (0, 14, 0.033971068),
        (0, 9946, 0.2933141),
        (1, 0, -2.0),
    ]


def test_windows_line_ends_and_a_missing_last_one(tmp_path):
    path = tmp_path / "model"
    path.write_bytes("\r\n".join(LINES).encode())
    assert read_svmlight_model(path).coefficients.tolist()[-1] == 0.5
    assert read_svmlight_model(path).version == "V6.02"


def test_the_header_is_written_as_svm_learn_does(tmp_path):
    model = read_svmlight_model(write(tmp_path, LINES))
    write_svmlight_model(model, tmp_path / "copy")
    lines = (tmp_path / "copy").read_text().split("\n")
    assert lines[:11] == LINES[:11]
    assert lines[11] == "-0.0056008439257684 6:0.019875912 15:0.033971068 9947:0.2933141 #"
    assert lines[12] == "1.25e-05 1:-2 #"
    assert lines[13:] == ["0.5 #", ""]


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=40)
@given(
    kernel=st.sampled_from(KERNELS),
    rows=st.lists(st.tuples(finite, st.dictionaries(st.integers(0, 30), finite, max_size=5)), max_size=5),
    parameters=st.tuples(finite, st.integers(0, 9), finite, finite, finite),
    single=st.booleans(),
)
def test_round_trip(kernel, rows, parameters, single, tmp_path_factory):
    path = tmp_path_factory.mktemp("round") / "model"
    dense = np.zeros((len(rows), 31))
    for i, (_, features) in enumerate(rows):
        for j, value in features.items():
            dense[i, j] = value
    if single:
        dense = np.clip(dense, -1e38, 1e38).astype(np.float32)
    coefficients = np.array([row[0] for row in rows])
    model = SvmLightModel(kernel, coefficients, sp.csr_array(dense), *parameters, n_documents=7)
    write_svmlight_model(model, path)
    read = read_svmlight_model(path)
    assert (read.kernel, read.threshold, read.degree, read.gamma, read.scale, read.offset) == (
        kernel,
        *parameters,
    )
    assert (read.n_documents, read.n_features) == (7, 31)
    np.testing.assert_array_equal(read.coefficients, coefficients)
    np.testing.assert_array_equal(read.support_vectors.toarray().astype(dense.dtype), dense)


@pytest.mark.parametrize(
    ("number", "line", "message"),
    [
        (1, "1 3:0.5", "line 1: found 1 3:0.5; an SVM-light model begins with `SVM-light Version`"),
        (2, "rbf # kernel type", "line 2: the kernel type is rbf; expected a whole number from 0 to 4"),
        (2, "5 # kernel type", "line 2: the kernel type is 5; SVM-light has the types 0 to 4"),
        (3, "2.5 # d", "line 3: the kernel parameter -d is 2.5; expected a whole number"),
        (4, " # g", "line 4: the kernel parameter -g is missing; expected a number"),
        (5, "nan # s", "line 5: the kernel parameter -s is nan; expected a number"),
        (6, "1e999 # r", "line 6: the kernel parameter -r is 1e999; expected a number"),
        (8, "-1 # highest", "line 8: the highest feature index is -1; expected a number from 0"),
        (8, "9000 # highest", "line 12: feature 9947 is above the highest feature index, 9000"),
        (9, "many", "line 9: the number of training documents is many"),
        (10, "0 #", "line 10: the number of support vectors plus 1 is 0; expected a number from 1"),
        (10, "3 #", "line 14: found a line after the 2 support vectors"),
        (10, "5 #", "ends after line 14, before support vector 4 of 4. Get a complete copy"),
        (10, "99999999999999999999999 #", "line 10"),
        (11, "# threshold", "line 11: the threshold b is missing"),
        (12, "0.1 spam:1 #", "line 12: found 0.1 spam:1 #; expected `alpha"),
        (12, "0.1 3:nan #", "line 12: found 0.1 3:nan #"),
        (12, "3:1 #", "line 12: found 3:1 #"),
        (12, "0.1 2:1 2:1 #", "line 12: the features are not numbers from 1 in ascending order"),
        (12, "0.1 0:1 #", "line 12: the features are not numbers from 1"),
        (12, "0.1 3:1e999 #", "line 12: contains a number beyond double precision"),
        (12, f"0.1 {'9' * 400}:1 #", "line 12: "),
        (13, "", "line 13: found an empty line; expected `alpha"),
    ],
)
def test_malformed_lines_are_told(tmp_path, number, line, message):
    lines = [*LINES]
    lines[number - 1] = line
    path = write(tmp_path, lines)
    with pytest.raises(DataError) as raised:
        read_svmlight_model(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("kept", range(len(LINES)))
def test_a_file_that_is_cut_off(tmp_path, kept):
    (tmp_path / "model").write_text("".join(line + "\n" for line in LINES[:kept]))
    with pytest.raises(DataError, match=f"ends after line {kept}, before "):
        read_svmlight_model(tmp_path / "model")


def test_other_files_are_no_models(tmp_path):
    assert not is_svmlight_model(tmp_path)
    assert not is_svmlight_model(tmp_path / "none")
    (tmp_path / "data.svm").write_text("1 1:1\n")
    assert not is_svmlight_model(tmp_path / "data.svm")
    with pytest.raises(MissingFileError):
        read_svmlight_model(tmp_path / "none")
