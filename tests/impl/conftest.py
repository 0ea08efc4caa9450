import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).with_name("shared")))  # the oracles that several tests share
torch.set_num_threads(1)
