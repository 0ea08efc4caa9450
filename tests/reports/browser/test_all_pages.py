"""Every kind of page in a real browser, on a phone, a tablet and a screen: the pages that commands
write, and the page of a run with every formula of every claim."""

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from safetensors.torch import save_file

from rnnbounds.cli import main

pytestmark = pytest.mark.slow

PAGES = {
    "certificate, certified": ("certified/index.html", "good"),
    "certificate, attacked": ("attacked/index.html", "good"),
    "certificate, refuted": ("refuted/index.html", "bad"),
    "certificate, undecided": ("undecided/index.html", "open"),
    "certificate on data": ("both/index.html", "good"),
    "measure": ("measured/index.html", "good"),
    "measure, near the data": ("near/index.html", ""),
    "measure, share not stated": ("short/index.html", "bad"),
    "compare, green": ("green/index.html", "good"),
    "compare, red": ("red/index.html", "bad"),
    "experiment": ("curves/index.html", ""),
}
AT = [(360, "light"), (768, "dark"), (1280, "dark")]
AXE_AT = [(360, "light"), (1280, "dark")]
UNFOLD = "for (const d of document.querySelectorAll('details')) d.open = true"
WRONG = """() => {
  const found = [];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) found.push('the page is wider than it may be');
  if (!document.querySelector('h1')?.textContent.trim()) found.push('no title');
  for (const svg of document.querySelectorAll('svg')) {
    const label = svg.getAttribute('aria-label') || '', frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent);
    if (!label.trim() || texts.length < 3) found.push(`a figure says little: ${label}`);
    const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
    for (const [text, box] of boxes) {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 ||
          box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        found.push(`cut off: ${text} in ${label}`);
    }
    boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 3) found.push(`${one} over ${other} in ${label}`);
    }));
  }
  for (const box of document.querySelectorAll('.formula')) {
    const math = box.firstElementChild.getBoundingClientRect(), seen = box.getBoundingClientRect();
    let left = 0, right = wide;
    for (let at = box.parentElement; at !== document.body; at = at.parentElement) {
      if (getComputedStyle(at).overflowX === 'visible') continue;
      const frame = at.getBoundingClientRect();
      left = Math.max(left, frame.left);
      right = Math.min(right, frame.right);
    }
    const cut = math.top < seen.top - 1 || math.bottom > seen.bottom + 1;
    const lost = math.left < seen.left - 1 || math.right > seen.left + box.scrollWidth + 1;
    const silent = box.scrollWidth > box.clientWidth && box.tabIndex < 0;
    if (!math.width || !math.height || seen.left < left - 1 || seen.right > right + 1
        || cut || lost || silent)
      found.push([box.textContent, Math.round(seen.left), Math.round(seen.right), cut, lost]);
  }
  return found;
}"""


def lstm(scale, path):
    """A small LSTM whose weights are that large."""
    torch.manual_seed(0)
    net = torch.nn.LSTM(1, 4)
    with torch.no_grad():
        for part in net.parameters():
            part.mul_(scale)
    save_file(net.state_dict(), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """All pages that commands write, of models that take seconds."""
    home = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.delenv("GITHUB_STEP_SUMMARY", raising=False)
        for scale, path in ((0.4, "model"), (3.0, "wild"), (0.48, "later")):
            lstm(scale, f"{path}.safetensors")
        apart = {"weight_hh_l0": 3 * torch.eye(2), "weight_ih_l0": torch.ones(2, 1)}
        save_file(apart, "apart.safetensors")
        data = np.random.default_rng(0).uniform(-1, 1, (240, 24, 1))
        np.save("data.npy", data)
        np.save("few.npy", data[:48, :12])
        asked = "--inputs=-1:1 --eps 0.1 --eps 0.01"
        small = '--set tasks=["characters"] --set cells=["RNN"] --set states=3 --set steps=3'
        for line, code in (
            (f"certify model.safetensors {asked} --out certified", 0),
            (f"certify model.safetensors {asked} --attack --out attacked", 0),
            ("certify apart.safetensors --cell rnn-tanh --inputs 1 --out refuted", 1),
            ("certify wild.safetensors --inputs=-1:1 --out undecided", 1),
            (f"certify later.safetensors {asked} --out later", 0),
            ("compare certified/certificate.json certified/certificate.json --out green", 0),
            ("compare certified/certificate.json later/certificate.json --out red", 1),
            ("measure model.safetensors --data data.npy --eps 0.1 --eps 0.001 --out measured", 0),
            ("measure model.safetensors --data few.npy --near 0.01 --eps 0.1 --out near", 0),
            ("measure wild.safetensors --data few.npy --eps 1e-9 --share 0.7 --out short", 1),
            ("certify model.safetensors --inputs=-1:1 --data data.npy --eps 0.1 --out both", 0),
            (f"experiment truncation-curve --seeds 1 {small} --out curves", 0),
        ):
            assert main(line.split()) == code, line
    return home


def looked_at(page, said):
    """No request, no message, no scrolling sideways, no text of a figure cut off or covered, every
    formula in its box, no violation of the rules of accessibility, in every size and theme."""
    page.evaluate(UNFOLD)
    for width, theme in AT:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(WRONG) == [], (width, theme)
        if (width, theme) in AXE_AT:
            found = Axe().run(page).response["violations"]
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == [], (width, theme)
    assert said == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole(opened, folder, name):
    """On a phone the verdict is in sight, in its colour; what fails is red."""
    place, tone = PAGES[name]
    page, said = opened(folder / place, 360)
    if tone:
        verdict = page.locator(f".lead > .verdict.{tone}")
        assert verdict.count() == 1
        box = verdict.bounding_box()
        assert box["y"] + box["height"] < 800
    assert page.locator(".masthead.fails").count() == int(tone == "bad")
    looked_at(page, said)


def test_the_page_of_a_run_is_whole(opened, told):
    """With curves and what changed."""
    page, said = opened(told)
    assert page.locator("svg.chart .axis text").count() > 50
    looked_at(page, said)


def test_every_formula_is_laid_out(opened, whole):
    """Of all claims, forms, steps and false variants."""
    page, said = opened(whole)
    page.evaluate(UNFOLD)
    assert page.locator("math").count() > 1000
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(WRONG) == []
    assert said == []


def test_by_keyboard_alone(opened, told):
    """Filter, sort, fold and copy are reached with the tabulator and done with keys."""
    page, said = opened(told, permissions=["clipboard-read", "clipboard-write"])
    rows = page.locator("table.claims tr[data-id]")
    names = rows.evaluate_all("rows => rows.map((row) => row.dataset.id)")

    def to(query):
        for _ in range(60):
            if page.evaluate("query => document.activeElement.matches(query)", query):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{query} is not reached")

    to("#filter")
    page.keyboard.type("bounded")
    shown = page.locator("table.claims tr[data-id]:visible")
    assert shown.evaluate_all("rows => rows.map((row) => row.dataset.id)") == ["state-bound"]
    assert page.locator("#count").text_content() == "1 of 3 claims"
    assert page.locator("section.claim:visible").count() == 1
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    assert rows.locator("visible=true").count() == 3
    to("#sort")
    page.keyboard.type("name")
    titles = rows.evaluate_all("rows => rows.map((row) => row.dataset.name)")
    assert titles == sorted(titles)
    page.keyboard.press("Home")
    assert rows.evaluate_all("rows => rows.map((row) => row.dataset.id)") == names
    to("#fold")
    page.keyboard.press("Enter")
    assert page.locator("main details:not([open])").count() == 0
    page.locator("button.copy").first.press("Enter")
    page.locator("button.copy", has_text="Copied").first.wait_for()
    command = page.locator("pre.replay").first.text_content()
    assert page.evaluate("navigator.clipboard.readText()") == command
    assert said == []


def test_without_a_script(opened, told, run):
    """All is there to read; what only a script could do is not offered."""
    page, said = opened(told, java_script_enabled=False)
    assert not page.locator(".tools").is_visible()
    assert page.locator("button.copy").count() == 0
    for claim in run.claims:
        assert page.locator("h3", has_text=claim.title).is_visible()
        summaries = page.locator(f'section[data-id="{claim.id}"] > details > summary')
        summaries.last.click()
        assert page.locator(f'section[data-id="{claim.id}"] .variants').is_visible()
    assert said == []
