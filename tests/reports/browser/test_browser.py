"""What a reader sees: formulas whole, no request, nothing that a keyboard cannot do."""

import pytest
from axe_playwright_python.sync_playwright import Axe

pytestmark = pytest.mark.slow

UNFOLD = "for (const d of document.querySelectorAll('details')) d.open = true"
CLIPPED = """() => {
  const wide = document.documentElement.clientWidth;
  const found = [];
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
  if (document.documentElement.scrollWidth > wide) found.push('the page is wider than it may be');
  return found;
}"""
TOUCHING = """() => {
  const found = [];
  for (const axis of document.querySelectorAll('svg.chart .axis')) {
    const boxes = [...axis.querySelectorAll('text')].map((text) => text.getBoundingClientRect());
    boxes.forEach((one, i) => boxes.slice(i + 1).forEach((other, j) => {
      const beside = one.left - 1 < other.right && other.left - 1 < one.right;
      if (beside && one.top < other.bottom && other.top < one.bottom)
        found.push([...axis.querySelectorAll('text')].map((text) => text.textContent).join(' '));
    }));
  }
  return found;
}"""
BROKEN = """() => {
  const found = [];
  for (const cell of document.querySelectorAll('th, td:first-child, .changes td')) {
    if (cell.closest('thead')?.clientWidth < 2) continue;  // for readers that hear it
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) for (const word of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      if (range.getClientRects().length > 1) found.push(word[0]);
    }
  }
  return found;
}"""
AT = [(360, "light"), (390, "dark"), (768, "light"), (1280, "dark")]


def test_every_formula_is_laid_out(opened, whole):
    """Of all claims, forms and false variants: each in a box within the page and all its frames,
    whole or to be scrolled to, by keys too."""
    page, told = opened(whole)
    page.evaluate(UNFOLD)
    assert page.locator("math").count() > 1000
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(CLIPPED) == []
    assert told == []


@pytest.mark.parametrize(("width", "theme"), AT)
def test_nothing_leaves_and_nothing_bars(opened, told, width, theme):
    """No request, no message, no violation of the rules of accessibility, all of it unfolded."""
    page, said = opened(told, width, theme)
    page.evaluate(UNFOLD)
    assert page.evaluate(CLIPPED) == []
    assert page.locator("svg.chart .axis text").count() > 50
    assert page.evaluate(TOUCHING) == []
    assert page.evaluate(BROKEN) == []
    found = Axe().run(page).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
    assert said == []


def test_by_keyboard_alone(opened, told):
    """Filter, sort, fold and copy are reached with the tabulator and done with keys."""
    page, said = opened(told, permissions=["clipboard-read", "clipboard-write"])
    rows = page.locator("table.claims tr[data-id]")
    names = page.locator("table.claims tr[data-id]:visible").evaluate_all(
        "rows => rows.map((row) => row.dataset.id)"
    )

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
    assert rows.evaluate_all("rows => rows.map((row) => row.dataset.name)") == sorted(
        rows.evaluate_all("rows => rows.map((row) => row.dataset.name)")
    )
    page.keyboard.press("Home")
    assert rows.evaluate_all("rows => rows.map((row) => row.dataset.id)") == names
    to("#fold")
    page.keyboard.press("Enter")
    assert page.locator("main details:not([open])").count() == 0
    page.keyboard.press("Enter")
    assert page.locator("main details[open]").count() == 0
    page.locator("section.claim summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("main details[open]").count() == 1
    page.keyboard.press("Space")
    assert page.locator("main details[open]").count() == 0
    assert said == []


def test_commands_are_copied(opened, told):
    """The button beside a command gives the clipboard that command, letter by letter."""
    page, _ = opened(told, permissions=["clipboard-read", "clipboard-write"])
    page.evaluate(UNFOLD)
    command = page.locator("pre.replay").first
    page.locator("button.copy").first.press("Enter")
    page.locator("button.copy", has_text="Copied").first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == command.text_content()


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
