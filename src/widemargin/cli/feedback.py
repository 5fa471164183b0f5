"""``widemargin label --query TEXT``: rank documents by a query and by what has been marked among them.

The ranking is a file like its input, with the texts in it: whoever reads it writes "relevant" or "not
relevant" into the labels of a few documents and passes it back.
"""

from __future__ import annotations

from typing import Any

from widemargin.cli import options
from widemargin.cli.commands import Given
from widemargin.cli.files import check_target, read_all, without_labels
from widemargin.cli.label_task import joined
from widemargin.cli.options import chosen_learner
from widemargin.cli.options.given_vectors import refuse_rows
from widemargin.cli.options.text import vectorizing, word_files
from widemargin.cli.output import Stages, counted, note, print_json, say, seconds_in_words, show_table
from widemargin.cli.verbs.predict import writer_for
from widemargin.documents.collection import Collection
from widemargin.documents.record import LabelSet
from widemargin.errors import DataError, UsageError
from widemargin.learn.unlabeled.relevance_feedback import Ranking, RelevanceFeedback
from widemargin.report.tables import Column, Table
from widemargin.tune.learners import text_options
from widemargin.weight.vectorizer import Vectorizer

RELEVANT, OTHER = "relevant", "not relevant"
_SHOWN = 10  # documents to mark, unless --next says how many
_BEGINNING = 60  # characters of a text


def run(given: Given) -> None:
    """Read, rank, write the ranking, and show what to mark next."""
    learning = chosen_learner.given_of(given, given.learner, options.options_of("label").values())
    output = given.output
    if output is not None:
        check_target(output, [given.labeled, given.unlabeled, *word_files(given)])
    terms = vectorizing(given, text_options(given.learner))
    refuse_rows(terms["blocks"], "a query has no row")
    costs = {name: learning[name] for name in ("C", "C_unlabeled") if name in learning}
    feedback = RelevanceFeedback(**costs, positives=_fraction(given), n_jobs=given.threads)
    stages = Stages()
    with stages.stage("read"):
        documents = _read(given)
    marks, ignored = marks_of(documents, given.labeled, given.relevant)
    if ignored:
        note(
            f"The labels of {counted(ignored, 'document')} are neither {RELEVANT!r} nor {OTHER!r}, and are "
            f"ignored. Name the label of relevant documents with --relevant.",
            given.quiet,
        )
    if len(marks) == len(documents):
        raise DataError(
            f"{given.labeled}: all {counted(len(documents), 'document')} are marked. Name a second file with "
            f"documents to rank, or train on these with `train`."
        )
    ranking = _rank(given, feedback, Vectorizer(**terms), documents, marks, stages)
    if output is not None:
        writer_for(output, safe_csv=given.safe_csv)([_rows(documents, marks, ranking)])
    best = ranking.next[: given.next or _SHOWN].tolist()
    summary = {
        "output": output,
        "query": given.query,
        "documents": len(documents),
        "relevant": sum(marks.values()),
        "not_relevant": len(marks) - sum(marks.values()),
        "ranked_by": ranking.method,
        "assumed": len(ranking.assumed),
        "next": [documents.ids[i] for i in best],
        "seconds": stages.seconds,
    }
    if given.json and output != "-":
        print_json(summary)
    elif not given.quiet:
        if output != "-":
            show_table(_table(documents, ranking, best))
        for line in _in_words(summary, given.relevant):
            note(line, False) if output == "-" else say(line)


def marks_of(documents: Collection, source: str, relevant: str | None) -> tuple[dict[int, bool], int]:
    """Which documents are marked, and how many labels are not marks and are ignored.

    With the name of the `relevant` label, documents with any other label, or with none of all, are not
    relevant. Otherwise the marks are "relevant" and "not relevant", and a file without either has no marks.
    """
    labels = documents.labels
    if relevant is not None:
        marks = {i: relevant in known for i, known in enumerate(labels) if known is not None}
        if marks and not any(marks.values()):
            raise DataError(
                f"{source}: none of {counted(len(marks), 'labeled document')} has the label {relevant!r} of "
                f"--relevant. Check its spelling."
            )
        return marks, 0
    kinds: dict[LabelSet, bool] = {(RELEVANT,): True, (OTHER,): False}
    marks = {i: kinds[known] for i, known in enumerate(labels) if known in kinds}
    odd = [i for i, known in enumerate(labels) if known is not None and known not in kinds]
    if marks and odd:
        found = ", ".join(map(repr, labels[odd[0]] or ())) or "no label"
        raise DataError(
            f"{source}: document {documents.ids[odd[0]]!r} is marked {found}; expected {RELEVANT!r} or "
            f"{OTHER!r}. Correct it, or name the label of relevant documents with --relevant."
        )
    return marks, len(odd)


def _read(given: Given) -> Collection:
    reading = options.reading(given)
    documents = read_all(given.labeled, given.quiet, dict(reading))
    if given.unlabeled is not None:
        second = read_all(given.unlabeled, given.quiet, without_labels(reading))
        second.labels[:] = [None] * len(second)
        documents = joined(given.labeled, documents, given.unlabeled, second)
    if not isinstance(documents, Collection):
        raise DataError(f"{given.labeled} holds vectors, but --query needs texts.")
    return documents


def _fraction(given: Given) -> float | None:
    """What --positives says."""
    if not given.positives:
        return None
    name, equals, number = given.positives[0].rpartition("=")
    try:
        fraction = float(number)
    except ValueError:
        fraction = -1.0
    relevant = given.relevant or RELEVANT
    if len(given.positives) > 1 or (equals and name != relevant) or not 0 < fraction < 1:
        raise UsageError(
            f"--positives {' '.join(given.positives)}: expected a fraction between 0 and 1, such as 0.1 or "
            f"{relevant}=0.1."
        )
    return fraction


def _rank(
    given: Given,
    feedback: RelevanceFeedback,
    vectorizer: Vectorizer,
    documents: Collection,
    marks: dict[int, bool],
    stages: Stages,
) -> Ranking:
    try:
        with stages.stage("vectorize"):
            X = vectorizer.fit_transform(documents.texts)
    except DataError as error:
        raise DataError(f"{given.labeled}: {error}") from error
    query = vectorizer.transform([given.query])
    if not query.count_nonzero():
        raise DataError(
            f"--query {given.query!r}: none of its words tells the documents of {given.labeled} apart. They "
            f"occur in none of them, or in all. Use other words."
        )
    with stages.stage("rank"):
        return feedback.rank(X, query, marks)


def _rows(documents: Collection, marks: dict[int, bool], ranking: Ranking) -> list[dict[str, Any]]:
    """A row for every document, the best first; marks stay where they were given."""
    return [
        {
            "id": documents.ids[i],
            "text": documents.texts[i],
            "labels": list(documents.labels[i] or ()) if i in marks else None,
            "score": round(float(ranking.scores[i]), 6),
        }
        for i in ranking.order.tolist()
    ]


def _table(documents: Collection, ranking: Ranking, best: list[int]) -> Table:
    columns = [Column("rank", "count"), Column("id"), Column("score", "decimal", 4), Column("text")]
    rows = [
        [rank, documents.ids[i], float(ranking.scores[i]), _beginning(documents.texts[i])]
        for rank, i in enumerate(best, 1)
    ]
    return Table("Documents to mark next", columns, list(rows))


def _beginning(text: str) -> str:
    """The first words of a text, on one line."""
    words = " ".join(text[: 4 * _BEGINNING].split())
    return words if len(words) <= _BEGINNING else words[: _BEGINNING - 3] + "..."


def _in_words(summary: dict[str, Any], relevant: str | None) -> list[str]:
    marked = summary["relevant"] + summary["not_relevant"]
    how = (
        f"by the query and {counted(marked, 'marked document')} ({summary['relevant']:,} relevant)"
        if summary["ranked_by"] != "query"
        else "by the query"
    )
    lines = [
        f"Ranked {counted(summary['documents'], 'document')} {how}.",
        f"Seconds: {seconds_in_words(summary['seconds'])}.",
    ]
    if summary["output"] not in (None, "-"):
        word = relevant or RELEVANT
        lines.append(
            f"Wrote {summary['output']}. Set the labels of some documents in it to {word!r}, of others to "
            f"{OTHER!r}, and pass it back with the same --query."
        )
    return lines
