"""Claims are found where they are written, and read in their order."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from rnnbounds.theory.claims import table
from rnnbounds.theory.claims.table import CLAIMS, ORDER, discover_claims, place
from rnnbounds.theory.errors import InputError


@pytest.fixture
def anew() -> Iterator[None]:
    """Modules are looked through again, before and after."""
    table.claims_by_module.cache_clear()
    yield
    table.claims_by_module.cache_clear()


def test_the_order_is_that_of_the_claims() -> None:
    """Nothing that is not there is in it, and nothing today is left out."""
    assert tuple(claim.id for claim in CLAIMS) == ORDER


@pytest.mark.usefixtures("anew")
def test_a_claim_of_a_new_module_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it is called there, once, and whoever imports it."""
    new = replace(CLAIMS[0], id="amnesia")
    module = ModuleType("rnnbounds.theory.claims.memory.amnesia")
    module.AMNESIA = module.AGAIN = new
    honest = table.import_module

    def imported(name: str) -> ModuleType:
        return module if name == "rnnbounds.theory.claims.memory.divergence" else honest(name)

    monkeypatch.setattr(table, "import_module", imported)
    claims = discover_claims()
    assert [claim.id for claim in claims if claim is not new] == list(ORDER)
    assert claims[-1] is new
    assert place(new) == len(ORDER)


@pytest.mark.usefixtures("anew")
def test_two_claims_of_one_id_are_both_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the registry can refuse them."""
    module = ModuleType("rnnbounds.theory.claims.memory.again")
    module.AGAIN = replace(CLAIMS[0])
    listed, honest = table.walk_packages, table.import_module

    def imported(name: str) -> ModuleType:
        return module if name == module.__name__ else honest(name)

    monkeypatch.setattr(table, "import_module", imported)
    monkeypatch.setattr(
        table,
        "walk_packages",
        lambda *package: (*listed(*package), SimpleNamespace(name=module.__name__)),
    )
    assert [claim.id for claim in discover_claims()].count(CLAIMS[0].id) == 2


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("\nCLAIMS[0].forms[0].at", "wrong.py:2: AttributeError: 'Form' object has no attribute"),
        ("[*CLAIMS[0].forms[0]]", "wrong.py:1: TypeError: "),
        ("replace(CLAIMS[0].form('finite'), note=)", "wrong.py:1: SyntaxError: "),
        ("plain = replace(CLAIMS[0], forms=CLAIMS[0].forms[0])", "are a Form; write (form,)"),
    ],
)
def test_a_mistake_in_a_claims_file_is_one_line(
    monkeypatch: pytest.MonkeyPatch, source: str, said: str
) -> None:
    """It names the file and the line there."""
    honest, module = table.import_module, ModuleType("wrong")
    vars(module).update(CLAIMS=CLAIMS, replace=replace)

    def imported(name: str) -> ModuleType:
        if not name.endswith("divergence"):
            return honest(name)
        file = Path(table.__file__).with_name("wrong.py")
        exec(compile(source, str(file), "exec"), vars(module))
        return module

    monkeypatch.setattr(table, "import_module", imported)
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        discover_claims()
    assert "\n" not in str(caught.value)
