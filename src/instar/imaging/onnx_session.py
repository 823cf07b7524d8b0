"""Networks in ONNX files, run by onnxruntime on the CPU."""

from __future__ import annotations

from typing import Any


def open_onnx(weights: bytes | str, threads: int = 1) -> Any:
    """A network, by its content or its file, with so many threads and no more."""
    import onnxruntime  # type: ignore[import-untyped]  # it ships no types

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: what it warns of is no business of whoever tests
    return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
