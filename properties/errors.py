"""Named errors of the attack room; each message is one line that ends with the remedy."""

from difflib import get_close_matches

from rnnbounds.errors import InputError as InputError


class SpecError(InputError):
    """A system spec that no system has."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}; copy the spec from a failure or from the page")


class BoxError(InputError):
    """A cell whose states leave the box that it states."""

    def __init__(self, kind: str, seen: str, spec: str) -> None:
        super().__init__(
            f"a run of {kind} from zero leaves the box that the cell states: {seen}, in the system "
            f"{spec}; correct the cell's box()"
        )


class DisagreementError(InputError):
    """Two readings of one thing that cannot both be right."""

    def __init__(self, name: str, one: str, other: str, spec: str) -> None:
        super().__init__(
            f"the readings of {name} disagree: {one}, {other}, in the system {spec}; correct "
            "its measure, or what it measures"
        )


class QuantityError(InputError):
    """A quantity that this kind of system does not have."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__(
            f"{name} is not measured on a system of kind {kind!r}; choose another kind"
        )


class UnknownChoiceError(InputError):
    """A name that is not among the choices."""

    def __init__(self, what: str, name: str, choices: tuple[str, ...]) -> None:
        close = get_close_matches(name, choices, n=3)
        near = f"did you mean {' or '.join(close)}?" if close else None
        super().__init__(f"unknown {what} {name!r}; {near or 'choose among ' + ', '.join(choices)}")
