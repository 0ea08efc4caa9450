"""The documentation: Markdown, Python's docstrings, and tables that the commands print.

``sphinx-build -W docs OUT``, or ``tox -e docs``, which also checks that no link is dead.
"""

import sys
from pathlib import Path

import rnnbounds

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from tables import write_tables  # noqa: E402

project = "rnnbounds"
author = "the rnnbounds authors"
copyright = "the rnnbounds authors, MIT licence"
version = release = rnnbounds.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
exclude_patterns = ["records", "generated"]  # included by the pages that show them
suppress_warnings = ["misc.highlighting_failure"]  # blocks that show a shell, or leave lines out

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the source; a signature is to be read
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
html_theme = "furo"
html_title = f"rnnbounds {release}"


def plain(app, what, name, obj, options, lines):
    """Docstrings write absolute values and norms: a bar begins no substitution."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app):
    """Tables that commands print are written before the pages that include them are read."""
    app.connect("builder-inited", lambda _: write_tables(HERE / "generated"))
    app.connect("autodoc-process-docstring", plain)
