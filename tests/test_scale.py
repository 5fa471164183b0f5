"""The benchmark of scale: its documents, how it measures runs, and the table that follows from them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
N = 9_000  # three blocks


def module(name: str):
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def resampled():
    return module("_resampled")


@pytest.fixture(scope="module")
def source(resampled):
    """A small collection of four classes, each with words of its own."""
    random = np.random.default_rng(0)
    texts, labels = [], []
    for place in range(400):
        label = place % 4
        ranks = np.minimum(random.zipf(1.5, 60), 5_000)
        words = [f"w{_letters(rank)}" for rank in ranks] + [f"own{_letters(label)}"] * 3
        texts.append(" ".join(words))
        labels.append(f"class {label}")
    return resampled.make_source("a test", texts, labels)


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def lines(resampled, source, n: int, seed: int = 0) -> bytes:
    return b"".join(bytes(text) for text, _ in resampled.documents(source, n, seed))


@pytest.fixture(scope="module")
def records(resampled, source):
    return [json.loads(line) for line in lines(resampled, source, N).splitlines()]


def test_the_first_documents_do_not_depend_on_how_many_follow(resampled, source):
    whole = lines(resampled, source, N).splitlines()
    assert len(whole) == N
    for n in (1, resampled.BLOCK, resampled.BLOCK + 7):
        assert lines(resampled, source, n).splitlines() == whole[:n]


def test_the_seed_decides(resampled, source):
    assert lines(resampled, source, 500) == lines(resampled, source, 500)
    assert lines(resampled, source, 500) != lines(resampled, source, 500, seed=1)


@pytest.mark.parametrize("n_shards", [1, 3, 8])
def test_shards_hold_the_documents_in_order(resampled, source, tmp_path, n_shards):
    paths = resampled.write_shards(source, tmp_path, N, n_shards)
    assert b"".join(path.read_bytes() for path in paths) == lines(resampled, source, N)
    sizes = [len(path.read_bytes().splitlines()) for path in paths]
    assert max(sizes) - min(sizes) <= 1


def test_labels_and_lengths(resampled, records):
    labels = [record["labels"][0] for record in records]
    counts = np.unique(labels, return_counts=True)[1]
    assert len(counts) == resampled.N_LABELS
    assert counts.min() > 0.8 * N / resampled.N_LABELS
    lengths = np.array([len(record["text"].split()) for record in records])
    assert lengths.mean() == pytest.approx(resampled.WORDS_PER_DOCUMENT, rel=0.02)
    assert lengths.var() == pytest.approx(resampled.WORDS_PER_DOCUMENT, rel=0.1)  # Poisson


def test_the_vocabulary_follows_heaps_law(resampled, source):
    seen: set[str] = set()
    words, sizes, found = 0, [], []
    for line in lines(resampled, source, 4 * N).splitlines():
        here = json.loads(line)["text"].split()
        words += len(here)
        seen.update(here)
        sizes.append(words)
        found.append(len(seen))
    late = slice(len(sizes) // 8, None)
    exponent = np.polyfit(np.log(sizes[late]), np.log(found[late]), 1)[0]
    assert exponent == pytest.approx(source.beta, abs=0.03)


def test_the_words_of_a_class_tell_it(records):
    # The first four labels are the classes themselves, the others are variants of them.
    for label in range(4):
        of_class, of_others = (
            np.mean(
                [
                    f"own{_letters(label)}" in record["text"].split()
                    for record in records
                    if record["labels"][0]
                    in [f"class {other}" for other in range(4) if (other == label) == own]
                ]
            )
            for own in (True, False)
        )
        assert of_class > of_others + 0.1


@pytest.mark.parametrize("number", [[0], [1, 19, 20, 399, 400], list(range(2_000)), [2**40]])
def test_spelled_numbers_differ(resampled, number):
    text, sizes = resampled._spell(np.array(number))
    words = bytes(text).split(b" ")[:-1]
    assert len(set(words)) == len(number)
    assert [len(word) + 1 for word in words] == sizes.tolist()
    assert all(word.isalpha() for word in words)


@pytest.fixture(scope="module")
def runs():
    return module("_scale_runs")


@pytest.fixture(scope="module")
def shards(resampled, source, tmp_path_factory):
    return resampled.write_shards(source, tmp_path_factory.mktemp("shards"), 1_500, 2)


@pytest.fixture(scope="module")
def run(runs, shards, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return runs.train(shards, folder / "m.wm", folder / "scratch")


@pytest.fixture(scope="module")
def table():
    return module("_scale_table")


class TestRuns:
    def test_a_run_is_measured(self, run):
        assert run.documents == 1_500
        assert run.summary["labels"] == 20
        assert 0 < run.learning_s < run.wall_s
        assert 0 < run.vectorizing_s < run.wall_s
        assert 20e6 < run.peak_bytes < 4e9
        assert run.cpu_s > 0

    def test_objectives_are_those_of_the_learner(self, runs, run, shards):
        found = runs.objectives([run.model, run.model], shards, 1)
        assert found[0] == found[1]
        assert found[0] == pytest.approx(run.summary["objective"], rel=1e-4)

    def test_models_are_compared_by_bytes_and_terms(self, runs, run, shards, tmp_path):
        again = runs.train(shards, tmp_path / "again.wm", tmp_path / "scratch")
        assert runs.members_that_differ(run.model, again.model) == 0
        other = runs.train(shards[:1], tmp_path / "other.wm", tmp_path / "scratch")
        assert runs.members_that_differ(run.model, other.model) > 0
        assert runs.terms_that_differ(run.model, again.model) == 0
        assert runs.terms_that_differ(run.model, other.model) > 0

    def test_a_command_that_fails_says_why(self, runs, tmp_path):
        with pytest.raises(runs.RunError, match="66"):
            runs.train([tmp_path / "none.jsonl"], tmp_path / "m.wm", tmp_path / "scratch")


class TestTable:
    @pytest.fixture
    def figures(self):
        return [
            {
                "documents": n,
                "labels": 20,
                "terms": int(50 * n**0.5),
                "wall_s": n / 10_000,
                "cpu_s": 1.5 * n / 10_000,
                "learning_s": n / 20_000,
                "peak_bytes": 10**9,
                "scratch_bytes": 100 * n,
            }
            for n in (125_000, 250_000, 500_000, 1_000_000)
        ]

    def test_measured_rows_are_kept_and_others_marked(self, table, figures):
        found = table.markdown(figures, cores=2)
        rows = [line for line in found.splitlines() if line.startswith("|")][2:]
        measured = [row for row in rows if row.split("|")[4].strip() == "1 GB"]
        assert len(measured) == len(figures)
        assert "1.7 | " in next(row for row in measured if "| 1 million |" in row)
        assert all(row.count("*") in (2, 6) for row in rows)  # only the cores, or all but the task

    def test_extrapolated_time_and_disk_grow_in_proportion(self, table, figures):
        found = table.markdown(figures, cores=2).splitlines()
        cells = [
            cell.strip(" *") for cell in next(row for row in found if "| 10 million | 20 |" in row).split("|")
        ]
        assert cells[3] == "158 thousand"
        assert cells[5] == "1 GB"
        assert float(cells[6]) == pytest.approx(1_000 / 60, abs=0.1)
        assert float(cells[6]) > float(cells[7]) > float(cells[8])

    def test_shares_of_work(self, table):
        assert table.shares(10, 10, 2) == (1.0, 0.0)
        assert table.shares(10, 20, 2) == (0.0, 1.0)
        assert table.shares(10, 9, 2) == (1.0, 0.0)  # waiting for the disk

    def test_a_file_without_growth_is_refused(self, table, tmp_path):
        (tmp_path / "rows.json").write_text('{"quality": {}}\n')
        with pytest.raises(SystemExit, match="growth"):
            table.sizing_table(tmp_path / "rows.json")


def test_sizes_as_words():
    scale = module("scale")
    assert scale.size_in_bytes("1GB") == 1e9
    assert scale.size_in_bytes("1.5GiB") == 1.5 * 2**30
    assert scale.size_in_bytes("512MB") == 512e6


def test_the_peer_is_the_largest_part_that_was_trained_in_memory():
    scale, runs = module("scale"), module("_scale_runs")

    class Data:
        """All documents do not fit, a half is trained from disk, and a quarter in memory."""

        def __init__(self) -> None:
            self.tried: list[int] = []

        def bytes_of(self, part: int) -> int:
            return 0

        def run(self, part: int):
            self.tried.append(part)
            if part == 1:
                raise runs.RunError("exit code -9.")
            summary = {"memory": {}} if part == 2 else {}
            return runs.Run(Path(), 1, 1.0, 1.0, 1, 0, summary)

    data = Data()
    part, run = scale.in_memory(data)
    assert (part, run.summary, data.tried) == (4, {}, [1, 2, 4])
    data.run = lambda part: (_ for _ in ()).throw(runs.RunError("no"))
    with pytest.raises(runs.RunError, match="No part"):
        scale.in_memory(data)
