"""What soundness rests on is tested anew each time; another setting of the processor is refused.

Each setting is made in a process of its own, since it belongs to the thread and what it starts.
"""

import os
import pickle
import platform
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import torch

from rnnbounds.impl.arithmetic.activation import ACTIVATIONS
from rnnbounds.impl.checker import machine
from rnnbounds.impl.checker.machine import DIRECTED, FLUSHED, MachineError, require_floats
from rnnbounds.impl.models.torch_machine import (
    ailments_of_tensors,
    keeps_to_its_model,
    require_sound,
    worst_error,
)

FLUSH = "import torch; torch.set_flush_denormal(True)"
UPWARD = "import ctypes; ctypes.CDLL('libm.so.6').fesetround(0x800)"
NEAREST = "import ctypes; ctypes.CDLL('libm.so.6').fesetround(0)"
ZERO = "import ctypes; ctypes.CDLL('libm.so.6').fesetround(0xC00)"

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or sys.platform != "linux", reason="codes of x86 and glibc"
)


def run(code, threads=1):
    """What a process printed that ran this code, and its errors.

    It keeps no bytecode: what is compiled while numbers are rounded upwards has other constants.
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.stdout.strip(), done.stderr


def test_each_kind_of_number_is_looked_at(monkeypatch):
    """Here nothing ails; an ailment of arrays alone is found as well, and the error of a worker
    arrives as it was raised."""
    require_sound()
    require_floats()
    monkeypatch.setattr(machine, "_SINGLE", np.zeros(9, dtype=np.float32))
    with pytest.raises(MachineError, match="in NumPy's arrays") as caught:
        require_floats()
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (MachineError, str(caught.value))


def test_probes_of_directed_rounding_are_inexact():
    """A result that is exact is the same in every direction, and would tell nothing."""
    for operation in machine.OPERATIONS:
        for what, *bits in operation.rows:
            a, b, c = np.array(bits, dtype=np.int64).view(np.float64).tolist()
            exact = operation.apply(Fraction(a), Fraction(b)) == Fraction(c)
            assert exact is (what == FLUSHED), (operation.name, a, b)


@pytest.mark.slow
def test_settings_are_seen():
    """Flushed subnormals and directed rounding are seen in floats, in arrays and in tensors."""
    seen = "print(*ailments_of_floats(), *ailments_of_arrays(), *ailments_of_tensors(), sep='; ')"
    told, errors = run(
        "from rnnbounds.impl.checker.machine import *\n"
        "from rnnbounds.impl.models.torch_machine import *\n"
        + "\n".join(f"{setting}; {seen}" for setting in (UPWARD, ZERO, NEAREST, FLUSH))
    )
    expected = ["; ".join([ailment] * 3) for ailment in (DIRECTED, DIRECTED, FLUSHED)]
    assert ([line for line in told.splitlines() if line], errors) == (expected, "")


def test_operands_alone_flushed():
    """One row has a subnormal operand and a normal result, so that it sees what DAZ alone does."""
    product = machine.OPERATIONS[1]
    assert (FLUSHED, 1, machine.power(1023), machine.power(-51)) in product.rows
    assert machine.ailments_at(product, [product.rows.index(product.rows[1])]) == {FLUSHED}


@pytest.mark.slow
def test_threads_that_flush():
    """The threads of torch's pool keep the setting of the one that started them."""
    told, errors = run(
        "import torch; from rnnbounds.impl.models.torch_machine import *\n"
        "torch.set_num_threads(2); torch.set_flush_denormal(True)\n"
        "x = torch.ones(1 << 20, dtype=torch.float64) * 2\n"
        "torch.set_flush_denormal(False); print(*ailments_of_tensors())\n"
        "torch.set_num_threads(1); print(*ailments_of_tensors())",
        threads=2,
    )
    assert (told, errors) == (FLUSHED, "")


@pytest.mark.parametrize("setting", [FLUSH, UPWARD])
def test_checkers_need_no_torch(setting, tmp_path):
    """The checkers refuse before they read anything, also where torch is not."""
    if setting == FLUSH:
        (tmp_path / "flush.c").write_text(
            "#include <xmmintrin.h>\nvoid flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n"
        )
        made = subprocess.run(
            ["cc", "-shared", "-fPIC", "-o", tmp_path / "flush.so", tmp_path / "flush.c"],
            check=False,
            capture_output=True,
        )
        if made.returncode:
            pytest.skip("no C compiler")
        setting = f"import ctypes; ctypes.CDLL('{tmp_path}/flush.so').flush()"
    told, errors = run(
        "import sys; sys.modules['torch'] = None\nfrom pathlib import Path\n"
        "from rnnbounds.impl.checker.machine import MachineError\n"
        "from rnnbounds.impl.checker.unitary import check\n"
        "from rnnbounds.impl.checker.truncated import check_truncated\n"
        f"{setting}\n"
        "for call in (check, check_truncated):\n"
        "    try: call(Path('none'))\n    except MachineError as error: print(error)"
    )
    assert errors == ""
    assert all("so that no bound computed here is sound" in line for line in told.splitlines())
    assert told.count("\n") == 1


def test_activations_in_their_own_dtype():
    """Torch's functions keep to their models in every dtype; of erf in bfloat16, which does not
    with all kernels that torch picks by the CPU, nothing is promised with any."""
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        off = [name for name in ACTIVATIONS if not keeps_to_its_model(name, dtype=dtype)]
        assert off == (["erf"] if dtype == "bfloat16" else [])
    z = torch.linspace(-30, 30, 999, dtype=torch.float64)
    assert all(worst_error(rho, z)[1] for rho in ACTIVATIONS.values())
    assert ailments_of_tensors() == set()
