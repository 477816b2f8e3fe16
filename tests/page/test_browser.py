"""The page in a browser: a headless Chromium, driven by Playwright. No console message, and what a person does there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from heterodoop.page import attempts, render

from .jobs import folder

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
MANY = 100_000


@pytest.fixture(scope="module")
def browser() -> Iterator:
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found, "Chromium is needed (Debian, Ubuntu: apt install chromium)"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def show(browser, tmp_path: Path) -> Iterator:
    """Opens the page of a report of so many attempts; what the console says is an error."""
    said: list[str] = []
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(request.url) if not request.url.startswith(("file:", "data:")) else None)

    def open_it(count: int):
        job = attempts.of_folder(folder(tmp_path / "out.report", count))
        (tmp_path / "page.html").write_text(render.page(job), encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        return page, job

    yield open_it
    page.close()
    assert not said


def shown(page) -> int:
    return page.locator("#attempts tbody tr").count()


def test_it_opens_and_its_bars_are_the_slots_seconds(show) -> None:
    page, job = show(400)
    assert page.evaluate("job.slotSeconds()") == pytest.approx([row.seconds for row in job.rows], abs=1e-3)
    assert page.locator("#sentence").inner_text().startswith("Waiting for its filters: 100 %")
    assert page.locator(".chart canvas").count() == 4 and shown(page) == 200
    assert page.locator("#tables h2").all_inner_texts()[0].startswith("What went otherwise")


def test_what_a_person_does(show) -> None:
    page, job = show(400)
    assert page.evaluate("job.view()") == pytest.approx([0, job.seconds])
    page.keyboard.press("+")
    closer = page.evaluate("job.view()")
    assert closer[1] - closer[0] == pytest.approx(job.seconds / 2, rel=0.02)
    page.keyboard.press("ArrowRight")
    assert page.evaluate("job.view()")[0] > closer[0]
    page.keyboard.press("0")
    assert page.evaluate("job.view()") == pytest.approx([0, job.seconds])
    page.keyboard.press("/")
    page.keyboard.type("m_000007 FAILED")
    assert shown(page) == 1 and page.locator("#found").inner_text() == "1 attempts"
    page.locator("#attempts tbody tr").first.click()
    assert "<b>no</b>" in page.locator("#chosen").inner_text()  # as text
    view = page.evaluate("job.view()")
    assert view[1] - view[0] < job.seconds * 0.9
    page.locator("#search").fill("")
    page.keyboard.press("Escape")
    assert page.locator("#chosen").is_hidden()
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.locator("#theme").click()
    assert {theme, page.evaluate("document.documentElement.dataset.theme")} == {"light", "dark"}
    page.locator("#attempts th", has_text="attempt").click()
    assert page.locator("#attempts tbody tr td").first.inner_text() == "m_000000_0"


def test_the_wheel_goes_closer_and_a_click_chooses(show) -> None:
    page, job = show(60)
    box = page.locator("#slots").bounding_box()
    page.mouse.move(box["x"] + 400, box["y"] + 30)
    page.mouse.wheel(0, -500)
    page.wait_for_function(f"job.view()[1] - job.view()[0] < {job.seconds * 0.95}")
    page.keyboard.press("0")
    page.mouse.click(box["x"] + 120, box["y"] + 8 + (box["height"] - 70) / 20 / 2)  # the first attempt of the first slot
    assert "m_000000_0" in page.locator("#chosen").inner_text()


def test_a_job_of_many_attempts(show) -> None:
    page, _ = show(MANY)
    assert page.evaluate("job.blocks()") < 20 * 1400  # no more than there are pixels to see them in
    page.locator("#search").fill("failed")
    assert shown(page) == 1
