"""Draw docs/images/report.png: the beginning of a report of the demo, in Chromium.

Run `widemargin demo` first, then this script in the same folder.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import widemargin
from widemargin.documents.reading import read_collection

DEMO = Path("widemargin-demo")


def main() -> None:
    page = widemargin.report(
        DEMO / "model.wm",
        read_collection(DEMO / "test.jsonl"),
        train=read_collection(DEMO / "train.jsonl"),
        source="test.jsonl",
    )
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        file = Path(folder) / "report.html"
        page.save(file)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1160, "height": 1500}, color_scheme="light")
        view.goto(file.as_uri())
        view.locator("#choose-way").select_option("precision")
        # Fewer rows, so that the picture shows the chooser too.
        view.evaluate("document.querySelector('#categories .scroll').style.maxHeight = '15rem'")
        view.evaluate("document.activeElement.blur()")
        end = view.locator("#thresholds").bounding_box()
        view.screenshot(
            path=Path(__file__).with_suffix(".png"),
            clip={"x": 0, "y": 0, "width": 1160, "height": end["y"] + end["height"]},
            full_page=True,
        )
        browser.close()
    picture = Path(__file__).with_suffix(".png")
    # Half the size, and the text stays sharp.
    Image.open(picture).convert("RGB").quantize(200, kmeans=1).save(picture, optimize=True)


if __name__ == "__main__":
    main()
