"""The network that a TF.js file describes, as an ONNX model: layer by layer, from the file's own topology.

For tests that hold a network of ours against ONNX Runtime, where nobody publishes it as ONNX.
"""

import json

import numpy as np
import onnx
from onnx import helper, numpy_helper


def keras_to_onnx(topology, weights):
    """`topology` is the path of the JSON file, `weights` arrays by name; the model answers with logits."""
    config = json.loads(topology.read_text(encoding="utf-8"))["modelTopology"]["model_config"]["config"]
    tensors, nodes = {}, []

    def tensor(name, array):
        tensors[name] = numpy_helper.from_array(array.copy(), name)
        return name

    def add(kind, layer, more=(), **numbers):
        sources = [source[0] for source in layer["inbound_nodes"][0]]
        nodes.append(helper.make_node(kind, [*sources, *more], [layer["name"]], **numbers))

    for layer in config["layers"]:
        name, own = layer["name"], layer["config"]
        match layer["class_name"]:
            case "InputLayer":
                start = name
            case "ZeroPadding2D":
                (top, bottom), (left, right) = own["padding"]
                pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
                add("Pad", layer, [tensor(f"{name}/pads", pads)])
            case "Conv2D":
                assert own["activation"] == "linear"
                kernel = tensor(f"{name}/kernel", weights[f"{name}/kernel"].transpose(3, 2, 0, 1))
                same = "SAME_UPPER" if own["padding"] == "same" else "VALID"
                more = [kernel, tensor(f"{name}/bias", weights[f"{name}/bias"])]
                add("Conv", layer, more, strides=own["strides"], auto_pad=same)
            case "BatchNormalization":
                parts = ("gamma", "beta", "moving_mean", "moving_variance")
                more = [tensor(f"{name}/{part}", weights[f"{name}/{part}"]) for part in parts]
                add("BatchNormalization", layer, more, epsilon=own["epsilon"])
            case "Activation":
                assert own["activation"] == "relu"
                add("Relu", layer)
            case "MaxPooling2D":
                add("MaxPool", layer, kernel_shape=own["pool_size"], strides=own["strides"])
            case "Add":
                add("Add", layer)
            case "GlobalAveragePooling2D":
                (source,) = layer["inbound_nodes"][0]
                nodes.append(helper.make_node("GlobalAveragePool", [source[0]], [f"{name}/map"]))
                nodes.append(helper.make_node("Flatten", [f"{name}/map"], [name]))
            case "Dense":
                more = [tensor(f"{name}/{part}", weights[f"{name}/{part}"]) for part in ("kernel", "bias")]
                add("Gemm", layer, more)
            case other:
                raise AssertionError(f"no rule for {other}")
    float32 = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "keras",
        [helper.make_tensor_value_info(start, float32, [None, 3, 224, 224])],
        [helper.make_tensor_value_info(config["output_layers"][0][0], float32, None)],
        list(tensors.values()),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
