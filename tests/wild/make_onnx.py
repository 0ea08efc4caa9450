"""Writes files/onnx_*: models that torch's two exporters write and onnxruntime quantises, and what
torch and onnxruntime put out for the inputs x (T, N, 2) of files/onnx.npz.

python tests/wild/make_onnx.py
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

FILES = Path(__file__).with_name("files")


class Tagger(torch.nn.Module):
    """Both directions below one, with a readout; inputs (N, T, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.below = torch.nn.LSTM(2, 5, num_layers=2, batch_first=True, bidirectional=True)
        self.above = torch.nn.GRU(10, 4, batch_first=True)
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x):
        """Labels (N, T, 2)."""
        return self.head(self.above(self.below(x)[0])[0])


def strip(path: Path) -> None:
    """Leave out where in the source each node comes from, paths of the machine included."""
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    for one in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output):
        del one.metadata_props[:]
    path.write_bytes(model.SerializeToString())


def main() -> None:
    """Write the files anew."""
    torch.manual_seed(0)
    FILES.mkdir(exist_ok=True)
    tagger, stack = Tagger().eval(), torch.nn.GRU(2, 3, num_layers=2, batch_first=True).eval()
    plain = torch.nn.LSTM(2, 3).eval()
    x = torch.linspace(-1, 1, 5 * 3 * 2).reshape(5, 3, 2)
    batch = x.transpose(0, 1).contiguous()
    sizes = {0: torch.export.Dim("batch", min=2), 1: torch.export.Dim("time", min=2)}
    new, old, quantised = (FILES / f"onnx_{name}.onnx" for name in ("new", "old", "quantised"))
    torch.onnx.export(tagger, (batch,), str(new), dynamo=True, dynamic_shapes=(sizes,))
    strip(new)
    axes = {"x": {0: "batch", 1: "time"}}
    given = {"input_names": ["x"], "dynamo": False}
    torch.onnx.export(stack, (batch,), str(old), dynamic_axes=axes, **given)
    torch.onnx.export(plain, (x,), str(quantised), dynamic_axes=axes, **given)
    quantize_dynamic(quantised, quantised, weight_type=QuantType.QInt8)
    session = onnxruntime.InferenceSession(quantised, providers=["CPUExecutionProvider"])
    outputs = {"quantised": session.run(None, {"x": x.numpy()})[0]}
    with torch.no_grad():
        below = tagger.below(batch)[0]
        found = {"below": below, "above": tagger.above(below)[0], "old": stack(batch)[0]}
    outputs |= {name: y.transpose(0, 1).numpy() for name, y in found.items()}
    np.savez_compressed(FILES / "onnx.npz", x=x.numpy(), **outputs)


if __name__ == "__main__":
    main()
