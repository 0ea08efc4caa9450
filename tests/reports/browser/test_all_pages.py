"""Every kind of page, as commands write it, in a real browser: on a phone, a tablet, a screen."""

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from safetensors.torch import save_file

from rnnbounds.cli import main

pytestmark = pytest.mark.slow

PAGES = {
    "certificate, certified": "certified/index.html",
    "certificate, attacked": "attacked/index.html",
    "certificate, refuted": "refuted/index.html",
    "certificate, undecided": "undecided/index.html",
    "certificate on data": "both/index.html",
    "measure": "measured/index.html",
    "measure, near the data": "near/index.html",
    "measure, share not stated": "short/index.html",
    "compare, green": "green.html",
    "compare, red": "red.html",
    "experiment": "curves/index.html",
}
AT = [(360, "light"), (768, "dark"), (1280, "dark")]
AXE_AT = [(360, "light"), (1280, "dark")]
WRONG = """() => {
  const found = [];
  const wide = document.documentElement;
  if (wide.scrollWidth > wide.clientWidth) found.push(`the page is ${wide.scrollWidth} wide`);
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
        write_models()
        write_measurements()
        write_experiments()
    return home


def calls(*lines):
    """Each command, and the exit code that it has to end with."""
    for line, code in lines:
        assert main(line.split()) == code, line


def write_models():
    """Certificates of each verdict, and what changed between two."""
    lstm(0.4, "model.safetensors")
    lstm(3.0, "wild.safetensors")
    save_file(
        {"weight_hh_l0": 3 * torch.eye(2), "weight_ih_l0": torch.ones(2, 1)}, "apart.safetensors"
    )
    asked = "--eps 0.1 --eps 0.01"
    calls(
        (f"certify model.safetensors --inputs=-1:1 {asked} --out certified", 0),
        (f"certify model.safetensors --inputs=-1:1 {asked} --attack --out attacked", 0),
        ("certify apart.safetensors --cell rnn-tanh --input-bound 1 --out refuted", 1),
        ("certify wild.safetensors --inputs=-1:1 --out undecided", 1),
    )
    lstm(0.48, "later.safetensors")
    calls(
        (f"certify later.safetensors --inputs=-1:1 {asked} --out later", 0),
        ("compare certified/certificate.json certified/certificate.json --page green.html", 0),
        ("compare certified/certificate.json later/certificate.json --page red.html", 1),
    )


def write_measurements():
    """Of windows drawn alike: stated, near the data, and short of a share."""
    np.save("data.npy", np.random.default_rng(0).uniform(-1, 1, (60, 24, 1)))
    calls(
        ("measure model.safetensors --data data.npy --eps 0.1 --eps 0.001 --out measured", 0),
        ("measure model.safetensors --data data.npy --near 0.01 --eps 0.1 --out near", 0),
        ("measure wild.safetensors --data data.npy --eps 1e-9 --share 0.7 --out short", 1),
        ("certify model.safetensors --inputs=-1:1 --data data.npy --eps 0.1 --out both", 0),
    )


def write_experiments():
    """One of curves, of a few steps."""
    small = 'tasks=["characters"] cells=["RNN"] states=3 steps=3'
    options = " ".join(f"--set {one}" for one in small.split())
    calls((f"experiment truncation-curve --seeds 2 {options} --out curves", 0))


@pytest.fixture
def page_at(folder):
    """Where each page lies."""
    return lambda name: folder / PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole(opened, page_at, name):
    """No request, no message, no scrolling sideways, no text of a figure cut off or covered, no
    violation of the rules of accessibility; loaded once and looked at in every size and theme."""
    page, said = opened(page_at(name))
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    for width, theme in AT:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=theme)
        assert page.evaluate(WRONG) == [], (width, theme)
        if (width, theme) in AXE_AT:
            found = Axe().run(page).response["violations"]
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == [], (width, theme)
    assert said == []


@pytest.mark.parametrize(
    ("name", "tone", "fails"),
    [
        ("certificate, certified", "good", False),
        ("certificate, refuted", "bad", True),
        ("certificate, undecided", "open", False),
        ("measure", "good", False),
        ("measure, share not stated", "bad", True),
        ("compare, green", "good", False),
        ("compare, red", "bad", True),
    ],
)
def test_the_answer_is_in_colour_and_in_sight(opened, page_at, name, tone, fails):
    """On a phone the verdict stands on the first screen, in its colour; what fails is red."""
    page, _ = opened(page_at(name), 360)
    verdict = page.locator(f".lead > .verdict.{tone}")
    assert verdict.count() == 1
    box = verdict.bounding_box()
    assert box["y"] + box["height"] < 800
    assert page.locator(".masthead.fails").count() == int(fails)
