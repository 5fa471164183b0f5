"""What a notebook shows: everything escaped, with headers and words, not colors alone."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import sklearn

from widemargin import LinearSVM, TextClassifier
from widemargin.report.plots import Line, Panel, Plot
from widemargin.report.tables import Column, Table

HOSTILE = "<script>alert(1)</script>\u202e"
TEXTS = ["wheat and corn harvest", "the bank cut its rate", "corn exports rose", "bank profits fell"] * 3
LABELS = [HOSTILE, "money"] * 6


class Page(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.attributes = [], "", []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def classifier():
    made = TextClassifier(learner=LinearSVM(), tune=None, estimate="leave-one-out", thresholds=None)
    return made.fit(TEXTS, LABELS)


def check(page):
    read = Page(page)
    assert "\u202e" not in page
    assert not {"script", "img"} & set(read.tags)
    assert not [name for name in read.attributes if name.startswith("on")]
    return read


def test_a_fitted_classifier_shows_its_parts_and_estimates(classifier):
    bundle = classifier._repr_mimebundle_()
    page = bundle["text/html"]
    own, _, diagram = page.partition("<details>")
    read = check(own)
    for words in ("Vectorizer → LinearSVM", "12 documents", "2 labels", "leave-one-out", "money", "how sure"):
        assert words in read.text
    assert "th" in read.tags
    assert "sk-" in diagram, "scikit-learn's diagram can be unfolded"
    assert bundle["text/plain"] == repr(classifier)
    assert classifier._repr_html_() == page or "wm-notebook" in classifier._repr_html_()


def test_before_fit_scikit_learns_diagram_is_shown():
    page = TextClassifier(LinearSVM())._repr_mimebundle_()["text/html"]
    assert "wm-notebook" not in page
    assert "sk-" in page


def test_scikit_learns_setting_turns_html_off(classifier):
    with sklearn.config_context(display="text"):
        assert set(classifier._repr_mimebundle_()) == {"text/plain"}


def test_a_classifier_without_estimates_lists_its_labels():
    made = TextClassifier(learner=LinearSVM(), tune=None, estimate=None, thresholds=None).fit(TEXTS, LABELS)
    read = check(made._repr_mimebundle_()["text/html"].partition("<details>")[0])
    assert "Not estimated" in read.text
    assert "money" in read.text


def test_an_explanation_highlights_its_text(classifier):
    text = f"the bank & its rate {HOSTILE}"
    explanation = classifier.explain(text, "money")
    read = check(explanation._repr_html_())
    assert "mark" in read.tags
    assert "the bank & its rate" in read.text
    assert f"score {explanation.score:+.4f}" in read.text
    assert "against the label" in read.text
    assert explanation.text == text
    assert "text" not in explanation.to_dict()


def test_a_table_has_header_cells_a_footer_and_notes():
    table = Table(
        HOSTILE,
        [Column("label"), Column("n", "count")],
        [[HOSTILE, 1200]],
        footer=[["sum", 1200]],
        notes=["<b>"],
    )
    page = table._repr_html_()
    read = check(page)
    assert page.count('scope="col"') == 2
    assert {"caption", "tfoot"} <= set(read.tags)
    assert "b" not in read.tags
    assert read.text.count("1,200") == 2


def test_a_plot_is_an_image_with_words():
    pytest.importorskip("matplotlib")
    lines = [Line("F1 <b>", [10, 20, 40], [0.5, 0.7, 0.8])]
    plot = Plot([Panel("Learning curve", "documents", "F1", lines)])
    page = plot._repr_html_()
    read = check(page)
    assert "svg" in read.tags
    assert 'role="img"' in page
    assert "from 0.5 at 10 to 0.8 at 40" in page
    assert "<b>" not in page
    assert plot.svg() == plot.svg(), "the same plot is the same text"
