"""The page of the service in a real browser: by keyboard, on a phone, with hostile texts."""

from __future__ import annotations

import pytest

from tests.browser import chromium, serious_faults
from tests.serve.conftest import PROBE

HOSTILE = [
    "<script>window.ran = 1</script> invoice",
    "</textarea><img src=x onerror='window.ran = 1'> printer",
    "\"'><svg onload=window.ran=1> wifi",
    "\u202einvoice\u2066 javascript:window.ran=1",
    "a" * 3000 + " invoice",
]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def page(browser, server):
    """The page of a model, 320 pixels wide; what goes wrong in it is in `page.wrong`."""
    opened = browser.new_page(viewport={"width": 320, "height": 640})
    opened.wrong = []
    opened.on("pageerror", lambda error: opened.wrong.append(str(error)))
    opened.on("dialog", lambda dialog: opened.wrong.append(dialog.message))
    opened.on("request", lambda asked: asked.url.startswith(server.url) or opened.wrong.append(asked.url))
    opened.goto(f"{server.url}/?model=sets")
    yield opened
    assert opened.wrong == []
    opened.close()


def test_by_keyboard(page):
    text = page.get_by_label("Text")
    text.focus()
    page.keyboard.type(PROBE)
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("mark.wm-for").count() >= 1
    assert page.get_by_role("rowheader", name="billing").count() == 1
    assert page.get_by_label("Text").input_value() == PROBE
    assert serious_faults(page) == []


def test_hostile_texts(page):
    for text in HOSTILE:
        page.get_by_label("Text").fill(text)
        with page.expect_navigation():
            page.get_by_role("button", name="Label").click()
        assert page.evaluate("window.ran") is None
        # Nothing sticks out of a phone.
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator("script, img, svg").count() == 0


def test_other_models(page):
    page.get_by_role("link", name="fields").click()
    assert page.get_by_label("title").count() == 1
    assert page.get_by_role("link", name="fields").get_attribute("aria-current") == "page"
    assert serious_faults(page) == []
