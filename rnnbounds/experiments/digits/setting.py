"""The sizes that an experiment with digits has: small ones by default, and full ones."""

from dataclasses import replace

from rnnbounds.experiments.digits.pixels import DATA
from rnnbounds.experiments.digits.record import Setting

SMALL = Setting()
LONG = replace(SMALL, images=1000, epochs=15)  # of 28 × 28 pixels
FULL = Setting(images=10**6, hidden=128, networks=3, epochs=100, batch=128, block=1)


def setting_of(data: str = "digits", full: bool = False, epochs: int | None = None) -> Setting:
    """The small sizes or the full ones, with this number of epochs in place of theirs."""
    sizes = FULL if full else SMALL if data == "digits" else LONG
    told = replace(sizes, data=data if data in DATA else "folder")
    return replace(told, epochs=epochs or told.epochs)
