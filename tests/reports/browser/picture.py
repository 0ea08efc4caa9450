"""The README's picture: ``python tests/reports/browser/picture.py page/index.html``.

It is the first screen of a certificate's page.
"""

import sys
from pathlib import Path
from shutil import which

from playwright.sync_api import sync_playwright

PLACE = Path(__file__).parents[3] / "docs" / "certificate.png"


def shoot(page: Path, place: Path = PLACE) -> None:
    """Write the first screen of a page, 1120 by 840 pixels, as it is in light."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"))
        tab = browser.new_page(viewport={"width": 1120, "height": 840}, color_scheme="light")
        tab.set_default_timeout(300_000)
        tab.goto(page.absolute().as_uri())
        tab.screenshot(path=place)
        browser.close()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]))
