"""The pages of reports in a real browser: every control, also by keyboard, on a phone, with hostile data."""

from __future__ import annotations

import json
import re
import shlex
import warnings

import numpy as np
import pytest

import widemargin
from tests.browser import chromium, serious_faults
from tests.model_report.tasks import HOSTILE, hostile_documents
from widemargin import TextClassifier
from widemargin.cli import main
from widemargin.diagnose.page import page as diagnosis_page
from widemargin.measure import clopper_pearson

PHONE = {"width": 320, "height": 640}
OPEN_ALL = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
DESK = {"width": 1100, "height": 800}


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tasks, tmp_path_factory):
    """The files of all kinds of pages, by their names."""
    folder = tmp_path_factory.mktemp("pages")
    many = tasks["multilabel"]
    found = {
        kind: widemargin.report(task.model, task.test, train=task.train, source="test.jsonl")
        for kind, task in tasks.items()
    }
    found["estimates"] = widemargin.report(many.model)
    found["compared"] = widemargin.report(many.model, many.test, other=many.other)
    train, test = hostile_documents(150, 0), hostile_documents(100, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = TextClassifier(estimate="k-fold", tune=None).fit(train.texts, train.labels)
        # Wrong labels, for errors and doubts to show.
        test.labels[::7] = [test.labels[0]] * len(test.labels[::7])
        found["hostile"] = widemargin.report(classifier, test, train=train, source=HOSTILE[0])
        diagnosed = widemargin.diagnose(train, test=test)
    found["diagnosis"] = diagnosis_page(diagnosed, HOSTILE[1], dict(zip(train.ids, train.texts, strict=True)))
    for name, page in found.items():
        page.save(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in found}


@pytest.fixture
def opened(browser, pages):
    """``opened("multilabel")`` opens a page, and records what goes wrong in it."""
    contexts = []

    def open_page(name, **options):
        context = browser.new_context(**{"viewport": DESK, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.wrong, page.requests = [], []
        page.on("console", lambda message: page.wrong.append(message.text))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("dialog", lambda dialog: (page.wrong.append("dialog"), dialog.dismiss()))

        def record(route):
            page.requests.append(route.request.url)
            if route.request.url == pages[name].as_uri():
                route.continue_()
            else:
                route.abort()

        page.route("**/*", record)
        page.goto(pages[name].as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


KINDS = ("binary", "multiclass", "multilabel")
ALL = (*KINDS, "estimates", "compared", "hostile", "diagnosis")


@pytest.mark.parametrize("name", ALL)
def test_nothing_goes_wrong_and_nothing_leaves_the_file(opened, pages, name):
    page = opened(name)
    page.evaluate(OPEN_ALL)
    page.evaluate("document.querySelectorAll('td button').forEach(button => button.click())")
    page.evaluate(OPEN_ALL)
    page.wait_for_timeout(50)
    assert page.wrong == []
    assert page.requests == [pages[name].as_uri()]
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("name", ["multilabel", "estimates", "compared", "hostile", "diagnosis"])
def test_accessibility(opened, name):
    assert serious_faults(opened(name)) == []


@pytest.mark.parametrize("name", ["multiclass", "compared", "diagnosis"])
def test_accessibility_in_dark_colors(opened, name):
    assert serious_faults(opened(name, color_scheme="dark")) == []


@pytest.mark.parametrize("name", ALL)
def test_a_phone_scrolls_down_only(opened, name):
    page = opened(name, viewport=PHONE)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_hostile_labels_and_texts_are_shown_as_text(opened):
    page = opened("hostile")
    assert page.locator("script").count() == 2
    assert page.locator("img, iframe, base, body style, main a[href^='javascript']").count() == 0
    assert page.locator("meta[http-equiv=refresh]").count() == 0
    assert page.evaluate("[...document.querySelectorAll('*')].every(e => [...e.attributes].every("
                         "a => !a.name.startsWith('on')))")  # fmt: skip
    names = page.locator("#terms-table tbody th").all_text_contents()
    assert HOSTILE[0] in names
    assert r"nul \x00 and \x1b[31m escape" in names
    content = page.content()
    assert "\u202e" not in content
    assert "\x00" not in content
    # The command keeps the shell from reading a label, and labels with control characters go into a file.
    for label in ('it\'s "quoted" `now` $(hack)', "nul \x00 and \x1b[31m escape"):
        shown = label.replace("\x00", "\\x00").replace("\x1b", "\\x1b")
        page.locator("#choose-category").select_option(label=shown)
        page.locator("#choose-way").select_option("f1")
        words = shlex.split(page.locator("#command").text_content())
        if shown == label:
            assert words[-1].rpartition("=")[0] == label
        else:
            assert words[-1] == "thresholds.json"
            with page.expect_download() as started:
                page.locator("#download").click()
            saved = json.loads(started.value.path().read_text(encoding="utf-8"))
            assert label in saved
    assert page.evaluate("window.hacked") is None
    assert page.wrong == []


def test_sorting_and_searching(opened):
    page = opened("multilabel")
    table = page.locator("#categories-table")
    headers = table.locator("thead th")
    for column in range(headers.count()):
        header = headers.nth(column)
        header.locator("button").click()
        first = header.get_attribute("aria-sort")
        values = _column(table, column)
        header.locator("button").click()
        assert {first, header.get_attribute("aria-sort")} == {"ascending", "descending"}
        assert _column(table, column) == values[::-1] or len(set(values)) < len(values)
        numbers = [value for value in values if isinstance(value, float)]
        if len(numbers) == len(values):
            assert numbers == sorted(numbers, reverse=first == "descending")
        others = [headers.nth(k).get_attribute("aria-sort") for k in range(headers.count()) if k != column]
        assert set(others) == {"none"}
    page.locator("#categories-table-search").fill("mon")
    assert table.locator("tbody tr:visible").count() == 1
    assert page.locator("#categories-table-found").text_content() == "1 of 4 categories"
    page.locator("#categories-table-search").fill("")
    assert table.locator("tbody tr:visible").count() == 4


def _column(table, column):
    return table.evaluate(
        """(table, column) => [...table.tBodies[0].rows].map(row => {
            const cell = row.cells[column], value = cell.dataset.sort ?? cell.textContent;
            return value !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
        })""",
        column,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("way", "fill"),
    [
        ("f1", {}),
        ("precision", {"target": "80"}),
        ("recall", {"target": "90"}),
        ("cost", {"alarm": "1", "miss": "3"}),
        ("curve", {"point": "3"}),
    ],
)
def test_the_command_does_what_the_page_says(opened, tasks, kind, way, fill, tmp_path, capfd):
    task, page = tasks[kind], opened(kind)
    page.locator("#choose-category").select_option(label="money")
    page.locator("#choose-way").select_option(way)
    for name, value in fill.items():
        page.locator(f"#choose-{name}").fill(value)
    found = _figures(page)
    words = shlex.split(page.locator("#command").text_content())
    assert words[:4] == ["widemargin", "predict", task.model.name, "NEW.jsonl"]
    assert "--thresholds" in words
    new = tmp_path / "new.jsonl"
    rows = zip(task.test.ids, task.test.texts, strict=True)
    new.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in rows), encoding="utf-8")
    capfd.readouterr()
    assert main([words[1], str(task.model), str(new), *words[4:]]) == 0
    decided = [json.loads(line)["labels"] for line in capfd.readouterr().out.splitlines()]
    given = np.array(["money" in labels for labels in decided])
    truth = np.array(["money" in labels for labels in task.test.labels])
    hits = int((given & truth).sum())
    assert (int(found["assigned to"]), int(found["of these right"])) == (given.sum(), hits)
    assert int(found["missed"]) == truth.sum() - hits
    for name, trials in (("precision %", given.sum()), ("recall %", truth.sum())):
        value, low, high = map(float, re.findall(r"[\d.]+", found[name]))
        ends = [float(end) for end in clopper_pearson(hits, trials)]
        assert value == pytest.approx(100 * hits / trials, abs=0.051)
        assert (low, high) == pytest.approx([100 * end for end in ends], abs=0.51)
    if way == "precision":
        assert hits / given.sum() >= 0.8
    if way == "recall":
        assert hits / truth.sum() >= 0.9


def _figures(page):
    cells = page.locator("#result td[data-figure]")
    return {cell.get_attribute("data-figure"): cell.text_content().replace(",", "") for cell in cells.all()}


def test_the_chooser_remembers_and_forgets(opened):
    page = opened("multilabel")
    for label in ("money", "grain"):
        page.locator("#choose-category").select_option(label=label)
        page.locator("#choose-way").select_option("recall")
    words = shlex.split(page.locator("#command").text_content())
    chosen = [word.partition("=")[0] for word in words if "=" in word]
    assert chosen == ["grain", "money"]
    page.locator("#forget").click()
    assert "--thresholds" not in page.locator("#command").text_content()
    assert page.locator("#choose-way").input_value() == "now"
    page.locator("#choose-way").select_option("precision")
    page.locator("#choose-target").fill("101")
    assert "between 0 and 100" in page.locator("#chosen").text_content()
    assert "--thresholds" not in page.locator("#command").text_content()
    page.locator("#choose-way").select_option("cost")
    page.locator("#choose-alarm").fill("-1")
    assert "negative" in page.locator("#chosen").text_content()
    page.locator("#choose-way").select_option("recall")
    page.locator("#choose-target").fill("60")
    page.locator("#copy").click()
    page.wait_for_function("document.getElementById('copied').textContent !== ''")
    # The point in the chart is where the figures say.
    point = page.locator("#pr .point")
    left, _, right, _ = map(float, page.locator("#pr").get_attribute("data-box").split())
    recall = float(_figures(page)["recall %"].split()[0])
    assert (float(point.get_attribute("cx")) - left) / (right - left) * 102 == pytest.approx(recall, abs=0.1)
    assert page.locator("#pr .picked").get_attribute("id") == page.evaluate(
        "'pr-' + document.getElementById('choose-category').value"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_documents_behind_the_cells(opened, tasks, kind):
    page, task = opened(kind), tasks[kind]
    for cell in page.locator("#matrix td button").all()[:8]:
        cell.click()
        assert cell.get_attribute("aria-pressed") == "true"
        found = page.locator("#behind > details")
        assert found.count() == min(60, int(cell.text_content().replace(",", "")))
        truth, decided = page.locator("#behind h3 bdi").all_text_contents()
        name = found.first.locator("summary bdi").text_content()
        labels = task.test.labels[task.test.ids.index(name)]
        assert (truth in labels) == (truth != "(none)")
        assert (decided in labels) == (decided == truth)
    found.first.locator("summary").click()
    text = task.test.texts[task.test.ids.index(found.first.locator("summary bdi").text_content())]
    assert found.first.locator(".document bdi").text_content() == text


def test_links_open_the_text_of_a_doubted_label(opened, tasks):
    page = opened("multilabel")
    link = page.locator("#doubt-test-table a").first
    link.click()
    target = page.locator(link.get_attribute("href"))
    assert target.get_attribute("open") is not None
    place = tasks["multilabel"].test.ids.index(link.text_content())
    assert target.locator(".document").is_visible()
    assert target.locator(".document").text_content() == tasks["multilabel"].test.texts[place]


def test_the_colors_can_be_changed(opened):
    page = opened("multilabel", color_scheme="dark")
    button = page.locator("#theme")
    color = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(color)
    assert button.text_content() == "Light colors"
    button.click()
    assert button.text_content() == "Dark colors"
    light = page.evaluate(color)
    assert light == "rgb(255, 255, 255)"
    assert light != dark
    button.click()
    assert page.evaluate(color) == dark


def test_keyboard_only(opened):
    page = opened("multilabel")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    _tab_to(page, "categories-table-search")
    page.keyboard.type("grain")
    assert page.locator("#categories-table tbody tr:visible").count() == 1
    for _ in "grain":
        page.keyboard.press("Backspace")
    page.keyboard.press("Tab")  # the table, which scrolls
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#categories-table th[aria-sort=ascending]").count() == 1
    while page.evaluate("document.activeElement.dataset.category") is None:
        page.keyboard.press("Tab")
    category = page.evaluate("document.activeElement.dataset.category")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "choose-category"
    assert page.locator("#choose-category").input_value() == category
    page.keyboard.press("Tab")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    assert page.locator("#choose-way").input_value() == "curve"
    page.keyboard.press("Tab")
    before = _figures(page)["assigned to"]
    page.keyboard.press("ArrowRight")
    assert int(_figures(page)["assigned to"]) > int(before)
    while page.evaluate("document.activeElement.getAttribute('aria-pressed')") is None:
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert page.evaluate("document.activeElement.id") == "behind"
    assert page.locator("#behind > details").count() > 0
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#behind > details").first.get_attribute("open") is not None
    assert page.wrong == []


def _tab_to(page, key):
    for _ in range(200):
        if page.evaluate("document.activeElement.id") == key:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{key} is not reached")


def test_every_control_is_reached_by_tab(opened):
    page = opened("multiclass")
    wanted = page.evaluate(
        """() => [...document.querySelectorAll('a, button, input, select, summary, [tabindex="0"]')]
            .filter(e => !e.disabled && e.checkVisibility() && e.tabIndex >= 0)
            .map((e, k) => { e.dataset.place = k; return k; }).length"""
    )
    reached = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        reached.append(int(page.evaluate("document.activeElement.dataset.place ?? -1")))
    assert reached == list(range(wanted)), "in the order of the page"


def test_print_shows_tables_whole(opened):
    page = opened("multilabel")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert not page.locator("#chooser").is_visible()
    assert page.evaluate("[...document.querySelectorAll('.scroll')].every(e => getComputedStyle(e).maxHeight "
                         "=== 'none')")  # fmt: skip
    assert page.locator("#explained-3").get_attribute("open") is None
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#explained-3").get_attribute("open") is not None
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#explained-3").get_attribute("open") is None


@pytest.mark.parametrize("name", ["multilabel", "compared", "diagnosis"])
def test_without_a_script_everything_reads(opened, name):
    page = opened(name, java_script_enabled=False)
    for table in page.locator("main > section > .scroll table").all():
        assert table.is_visible()
        assert table.locator("caption").count() == 1
    if name != "diagnosis":  # too few examples for a curve
        assert page.locator("svg.plot").first.is_visible()
    for one in page.locator(".needs-script").all():
        assert not one.is_visible()
    if name == "multilabel":
        assert page.locator(".only-without-script").first.is_visible()
