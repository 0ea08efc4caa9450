"""Specs of kinds that do not use the same fields."""

import json

from rnnbounds.properties.systems.spec import SystemSpec
from rnnbounds.properties.systems.table import find_kind


def any_system(kind: str, **fields: object) -> SystemSpec:
    """The spec of those of the fields that the kind uses."""
    found = find_kind(kind)
    return found.spec(**{name: v for name, v in fields.items() if found.spec_type.has(name)})


def as_kind(spec: SystemSpec, kind: str, **fields: object) -> SystemSpec:
    """Convert a spec to another kind, with some fields changed."""
    told = {name: getattr(spec, name) for name in find_kind(kind).spec_type.__struct_fields__}
    return any_system(kind, **(told | fields))


def changed(spec: SystemSpec, **fields: object) -> str:
    """The spec as JSON with other fields, which its kind may not use."""
    return json.dumps(spec.explicit_fields | fields)
