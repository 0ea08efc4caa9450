"""The states of one vanilla network and of its truncations, for a dump."""

from __future__ import annotations

import numpy as np
import torch

from rnnbounds.impl.gradients.windows.rollout import states
from rnnbounds.properties.systems.batch import Batch
from rnnbounds.properties.systems.draws import Array
from rnnbounds.properties.systems.exact.networks import is_vanilla

LARGEST = 2**24  # numbers: 128 MiB


def trajectories(batch: Batch, windows: bool) -> dict[str, Array]:
    """`states` (T+1, n): h_0 … h_T; with ``windows``, `states_truncated` (K+1, T+1, n): row k is
    zero up to time T − k and then runs on the last k inputs. In float64, from the zero state.

    Nothing of other systems; `states_truncated` is left out where it has more
    than 2^24 numbers.
    """
    if not is_vanilla(batch):
        return {}
    arrays = {"states": states(batch.cell, batch.x)[0, :, :, 0].numpy()}
    if windows and (batch.K + 1) * arrays["states"].size <= LARGEST:
        arrays["states_truncated"] = truncated_states(batch)
    return arrays


@torch.no_grad()
def truncated_states(batch: Batch) -> Array:
    """(K+1, T+1, n): all windows as columns, which leave zero one after another."""
    K, T, n = batch.K, batch.spec.T, batch.cell.n
    states_by_window = np.zeros((K + 1, T + 1, n))
    columns = torch.zeros(1, n, K + 1, dtype=torch.float64)
    for t in range(T - K, T):
        after = batch.cell.step(columns, batch.x[:, t].expand(-1, -1, K + 1))
        columns[:, :, T - t :] = after[:, :, T - t :]
        states_by_window[:, t + 1] = columns[0].T.numpy()
    return states_by_window
