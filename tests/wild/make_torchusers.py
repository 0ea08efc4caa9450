"""Make tests/wild/files/{lightning.ckpt,ppo.zip} and their outputs, as these libraries write them.

Run as `python tests/wild/make_torchusers.py` with pytorch_lightning and sb3_contrib.
"""

import sys
import zipfile
from pathlib import Path

import numpy as np
import torch

FILES = Path(__file__).with_name("files")


def lightning(folder):
    """A checkpoint after two steps of Adam: classes and functions stand beside its weights."""
    import pytorch_lightning as pl

    class Forecaster(pl.LightningModule):
        """A GRU and a head."""

        def __init__(self, loss, width=4, activation=torch.nn.functional.relu):
            super().__init__()
            self.save_hyperparameters()
            self.loss = loss
            self.encoder = torch.nn.GRU(2, width, batch_first=True)
            self.head = torch.nn.Linear(width, 1)

        def training_step(self, batch, _):
            """The loss of a batch."""
            x, y = batch
            return self.loss(self.head(self.encoder(x)[0]), y)

        def configure_optimizers(self):
            """Adam with a schedule."""
            optimiser = torch.optim.Adam(self.parameters(), 1e-2)
            return [optimiser], [torch.optim.lr_scheduler.StepLR(optimiser, 1)]

    globals()["Forecaster"], Forecaster.__qualname__ = Forecaster, "Forecaster"
    torch.manual_seed(0)
    x, y = torch.randn(4, 5, 2), torch.randn(4, 5, 1)
    rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=2)
    module = Forecaster(torch.nn.SmoothL1Loss())
    quiet = dict.fromkeys(("logger", "enable_progress_bar", "enable_model_summary"), False)
    trainer = pl.Trainer(max_epochs=1, accelerator="cpu", enable_checkpointing=False, **quiet)
    trainer.fit(module, rows)
    trainer.save_checkpoint(folder / "lightning.ckpt")
    with torch.no_grad():
        np.savez(folder / "lightning.npz", x=x, h=module.encoder(x)[0])


def stable_baselines(folder):
    """The .zip of a recurrent policy after one update."""
    from sb3_contrib import RecurrentPPO

    small = {"lstm_hidden_size": 3, "net_arch": [2]}
    agent = RecurrentPPO(
        "MlpLstmPolicy", "CartPole-v1", n_steps=8, batch_size=8, n_epochs=1, seed=0,
        policy_kwargs=small, device="cpu",
    )  # fmt: skip
    agent.learn(8)
    agent.save(folder / "whole.zip")
    whole, less = zipfile.ZipFile(folder / "whole.zip"), zipfile.ZipFile(folder / "ppo.zip", "w")
    with whole, less:
        for name in ("policy.pth", "policy.optimizer.pth", "pytorch_variables.pth"):
            less.writestr(name, whole.read(name))  # the other entries tell of this machine
    x = torch.randn(2, 5, 4, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        h = agent.policy.lstm_actor(x.transpose(0, 1))[0].transpose(0, 1)
    np.savez(folder / "ppo.npz", x=x, h=h)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else FILES
    lightning(folder)
    stable_baselines(folder)
    (folder / "whole.zip").unlink()
