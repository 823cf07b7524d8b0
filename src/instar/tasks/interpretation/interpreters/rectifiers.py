"""Following a network's own operations: every rectifier, however it is spelled, with a backward pass of ours.

Nothing is hooked and nothing rewritten. A torch function mode sees each call while the network runs, so a
module, a function and an in-place method are all the same to it, and when it ends nothing is left behind.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from instar.core.errors import BadInput

IN_PLACE = {"relu_", "hardtanh_", "clamp_", "clamp_min_", "threshold_"}
RECTIFIERS = {"relu", "relu6", "hardtanh", "clamp", "clip", "clamp_min", "threshold"}


def require_followable(module: Any, *, needed_for: str) -> None:
    """Compiled networks do not tell which operations they do."""
    for part in module.modules():
        if isinstance(part, torch.jit.ScriptModule) or type(part).__name__ == "OptimizedModule":
            raise BadInput(
                f"{needed_for}: the network is compiled ({type(part).__name__}), and its operations "
                "cannot be followed; give the module itself"
            )


def get_argument(args: tuple[Any, ...], kwargs: dict[str, Any], place: int, name: str, default: Any) -> Any:
    """An argument by place or by name."""
    return args[place] if len(args) > place else kwargs.get(name, default)


def upper_bound(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float | None:
    """Where a rectifier also ends above; None where it does not."""
    if name == "relu6":
        return 6.0
    if name in ("hardtanh", "hardtanh_"):
        return float(get_argument(args, kwargs, 2, "max_val", 1.0))
    if name in ("clamp", "clamp_", "clip"):
        bound = get_argument(args, kwargs, 2, "max", None)
        return None if bound is None else float(bound)
    return None


def is_rectifier(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the call cuts at zero; the same functions can also cut elsewhere."""
    if name in ("relu", "relu_", "relu6"):
        return True
    lower: Any = None
    if name in ("hardtanh", "hardtanh_"):
        lower = get_argument(args, kwargs, 1, "min_val", -1.0)
    elif name in ("clamp", "clamp_", "clip", "clamp_min", "clamp_min_"):
        lower = get_argument(args, kwargs, 1, "min", None)
    elif name in ("threshold", "threshold_"):
        lower = get_argument(args, kwargs, 1, "threshold", None)
    return isinstance(lower, (int, float)) and float(lower) == 0.0


class RectifierMode(TorchFunctionMode):
    """Within, the backward pass of a rectifier lets only positive gradients through: of all units
    (deconvolution), or of those that were active (`guided`).
    """

    def __init__(self, *, guided: bool) -> None:
        super().__init__()
        self.seen = 0
        self._guided = guided

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if (name in IN_PLACE or name in RECTIFIERS) and is_rectifier(name, args, kwargs):
            self.seen += 1
            in_place = name in IN_PLACE or bool(kwargs.get("inplace"))
            x = args[0] if args else kwargs["input"]
            if x.requires_grad:
                return _Rectifier.apply(x, upper_bound(name, args, kwargs), self._guided, in_place)
        return func(*args, **kwargs)


class _Rectifier(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, most: float | None, guided: bool, in_place: bool) -> Any:
        if in_place:
            ctx.mark_dirty(x)
        made = x.clamp_(min=0, max=most) if in_place else x.clamp(min=0, max=most)
        ctx.guided, ctx.most = guided, most
        if guided:
            ctx.save_for_backward(made)  # what came out says who was active, as it does for torch's own
        return made

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        if not ctx.guided:
            return gradient.clamp(min=0), None, None, None
        (made,) = ctx.saved_tensors
        if ctx.most is None and gradient.is_cuda:  # one kernel, for two which take a tenth of all the time
            return _kernel()(gradient, made), None, None, None
        if ctx.most is None:
            passed = torch.ops.aten.threshold_backward(gradient, made, 0)
        else:
            passed = torch.ops.aten.hardtanh_backward(gradient, made, 0, ctx.most)
        return passed.clamp_(min=0), None, None, None


@cache
def _kernel() -> Any:
    """What lets positive gradients of active units through on a GPU; in two steps where it cannot be made."""

    def in_two_steps(gradient: Any, made: Any) -> Any:
        return torch.ops.aten.threshold_backward(gradient, made, 0).clamp_(min=0)

    code = "template <typename T> T passed(T g, T made) { return g <= T(0) || made <= T(0) ? T(0) : g; }"
    try:
        kernel = torch.cuda.jiterator._create_jit_fn(code)
        one = torch.ones(1, device="cuda")
        return kernel if float(kernel(one, one)) == 1 else in_two_steps
    except (AttributeError, RuntimeError):
        return in_two_steps
