"""The re-checker on every kind of cell: what is written is proved anew, and what is false falls."""

import json
import math
from dataclasses import replace

import pytest
from cell_systems import SYSTEMS, good, system, verdict
from checked import source

from rnnbounds.impl.checker.truncated import check_certificate
from rnnbounds.impl.errors import FileError


@pytest.mark.slow
@pytest.mark.parametrize("which", SYSTEMS)
def test_good_files(tmp_path, which):
    """Every certificate that is written is proved again, of the source and of no other."""
    held, _ = system(which)
    file = good(tmp_path / "t", which)
    assert verdict(tmp_path / "t", file, source(held))
    other = source(held)
    role = next(iter(other.weights))
    changed = replace(other, weights=other.weights | {role: other.weights[role] * 2})
    assert verdict(tmp_path / "t", file, changed) is False


def test_boxes_that_are_left(tmp_path):
    """A box that one step leaves, one that is too long, none, and a NaN in it."""
    path = tmp_path / "t"
    file = good(path, "gru")
    box = file.certificate["box"]
    for other in ([side / 4 for side in box], [0.0] * len(box)):
        assert verdict(path, file.stating(file.certificate | {"box": other})) is False
    for other in ([*box, 1.0], box[1:], None, [], [math.nan, 1.0], "box", [[1.0], [1.0]]):
        assert verdict(path, file.stating(file.certificate | {"box": other})) is None
    wide = file.certificate | {"box": [8 * side for side in box]}
    assert not verdict(path, file.stating(wide))


def test_layers_that_are_others(tmp_path):
    """Layers that are missing, that come twice, in another order or of another kind of norm."""
    path = tmp_path / "t"
    file = good(path, "lstms")
    first, second = file.certificate["layers"]
    for other in ([first], [first, second, second], [], None, {}, [first, {}], [second, first]):
        assert verdict(path, file.stating(file.certificate | {"layers": other})) is None
    told = [first, second | {"norm": second["norm"] | {"norm": "one"}}]
    assert verdict(path, file.stating(file.certificate | {"layers": told})) is None
    assert verdict(path, file.stating(file.certificate | {"box": [1.0] * 8})) is None
    alone = good(path, "lstm")
    assert verdict(path, alone.stating(alone.certificate | {"layers": [first, second]})) is None


def test_layers_move_one_another(tmp_path):
    """A stack contracts by no less than its cascade: λ of the worst layer alone falls."""
    file = good(tmp_path / "t", "lstms")
    told = file.certificate
    worst = max(layer["norm"]["lambda"] for layer in told["layers"])
    assert worst < told["lambda"]
    between = (worst + told["lambda"]) / 2
    for lam in (worst, between):
        assert verdict(tmp_path / "t", file.stating(told | {"lambda": lam})) is False


def test_layers_feed_one_another(tmp_path):
    """Less than what the layer below gives, or than what it moves, falls; other inputs of the first
    are none of the model's."""
    path = tmp_path / "t"
    file = good(path, "lstms")
    first, second = file.certificate["layers"]
    for name in ("input_bound", "coupling"):
        told = [first, second | {name: second[name] * 0.9}]
        assert verdict(path, file.stating(file.certificate | {"layers": told})) is False
    for told in ([first | {"input_bound": 0.1}, second], [first | {"coupling": 0.1}, second]):
        assert verdict(path, file.stating(file.certificate | {"layers": told})) is None


@pytest.mark.parametrize("which", ["gru", "rnns", "deep"])
def test_whole_certificates(tmp_path, which):
    """What 'certify' writes is proved for its model, and for no other; other sizes fall."""
    held, told = system(which)
    path = tmp_path / "certificate.json"

    def fallen(document):
        path.write_text(json.dumps(document))
        return {found.name for found in check_certificate(path, source(held))[1] if not found.holds}

    whole = told.to_json()
    assert fallen(whole) == set()
    further = check_certificate(path, source(held))[0]["information"]["further"]
    assert {"norms_tried", "skipped", "stable"} <= set(further)
    assert not {"lambda", "truncation", "constants.drive", "model"} & set(further)
    assert fallen(whole | {"lambda": whole["lambda"] * 0.9}) >= {"contraction"}
    for other, reason in (
        (whole | {"sha256": "0" * 64}, "of another model"),
        (whole | {"verdict": "undecided", "stable": None}, "is undecided: there is no window"),
        (whole | {"cell": "lstm"}, "of another model"),
        (whole | {"readout": {}}, "no certificate that can be checked"),
        ([], "no certificate that can be checked"),
    ):
        with pytest.raises(FileError, match=reason):
            fallen(other)
