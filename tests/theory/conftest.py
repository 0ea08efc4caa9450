"""What tests of a folder share is imported by name."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = map(str, (HERE, HERE / "axioms", HERE / "kernel", HERE / "proof"))
