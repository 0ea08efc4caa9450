"""A state dict that has layers of sequence models, as an opened source."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from rnnbounds.impl.errors import shown
from rnnbounds.impl.reading.opened import LayerInfo
from rnnbounds.impl.reading.recognition.misfit import WeightsError, choices
from rnnbounds.impl.reading.recognition.recognise import recurrent_prefixes
from rnnbounds.impl.reading.sequence.family import Settings
from rnnbounds.impl.reading.sequence.layers import prefixes, read_layer, split_channels

_PART = "recurrence."  # below a layer's prefix, the weights of its cell


@dataclass(frozen=True, eq=False)
class SequenceModel:
    """A state dict with such layers, and the settings of its `config.json`."""

    tensors: Mapping[str, Tensor]
    where: str
    title: str
    settings: Settings

    @cached_property
    def names(self) -> list[str]:
        """The layers, by their prefixes, in the order of their numbers; "." has none."""
        found = [prefix[:-1] or "." for prefix in prefixes(list(self.tensors))]
        return sorted(found, key=_numbered)

    def layers(self) -> list[str]:
        """Its sequence layers, then those that are recurrent by their cells' own names."""
        others = recurrent_prefixes(list(self.tensors))
        return list(dict.fromkeys([*self.names, *(prefix[:-1] or "." for prefix in others)]))

    def told(self, layer: str | None) -> LayerInfo:
        """The tensors of that layer's recurrence, by the names of its cell, beside all others."""
        name, channels = (None, None) if layer is None else split_channels(layer)
        meant = self._meant(name)
        if meant is None:
            return LayerInfo(self.tensors)
        prefix = "" if meant == "." else f"{meant}."
        family, found = read_layer(self.tensors, prefix, channels, self.settings)
        used = {prefix + own for own in family.used}
        tensors = {full: part for full, part in self.tensors.items() if full not in used}
        tensors |= {f"{prefix}{_PART}{role}": part for role, part in found.weights.items()}
        part = meant if channels is None else str(layer)
        title = f"{self.title}, {part} ({family.name}'s recurrence alone, of {found.inputs})"
        return LayerInfo(tensors, found.cell, "the layer", prefix + _PART[:-1], title=title)

    def _meant(self, name: str | None) -> str | None:
        """The sequence layer that is asked for; None if another layer is."""
        known = self.layers()
        if name in self.names:
            return name
        below = [one for one in known if name is None or one.startswith(f"{name}.")]
        if len(below) == 1:
            return below[0] if below[0] in self.names else None
        if name in known:
            return None
        if below:
            what = f"{self.where} holds several layers ({choices(below)})"
            raise WeightsError(f"{what}; choose one with --layer")
        listed = choices(known, name)
        raise WeightsError(
            f"{self.where} holds no layer {shown(name)}; it has {listed}: choose one"
        )


def _numbered(name: str) -> list[tuple[int, str]]:
    """A key that orders layers by their numbers: a file of safetensors has no order of its own."""
    return [
        (int(part) if part.isdecimal() and len(part) < 10 else -1, part) for part in name.split(".")
    ]
