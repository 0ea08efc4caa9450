"""Specs of kinds that do not use the same fields."""

import json

from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import kind_named


def any_system(kind: str, **fields: object) -> SystemSpec:
    """The spec of those of the fields that the kind uses."""
    found = kind_named(kind)
    return found.spec(**{name: v for name, v in fields.items() if found.struct.has(name)})


def as_kind(spec: SystemSpec, kind: str, **fields: object) -> SystemSpec:
    """What a spec says, of another kind, but for some fields."""
    told = {name: getattr(spec, name) for name in kind_named(kind).struct.__struct_fields__}
    return any_system(kind, **(told | fields))


def changed(spec: SystemSpec, **fields: object) -> str:
    """The spec as JSON with other fields, which its kind may not use."""
    return json.dumps(spec.told | fields)
