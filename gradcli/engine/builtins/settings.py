"""Global settings of a program, and facts about the machine."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from gradcli.engine.builtins.create import check_device
from gradcli.engine.ops.op import Op, constant, host, torch_host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.run.session.array_text import ArrayPrinting, array_printing
from gradcli.engine.run.session.grad_modes import InferenceMode, Recording
from gradcli.engine.run.session.state import Passes, RandomNumbers
from gradcli.engine.run.session.text import Printing, printing
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.tape.tensor import is_inference as is_made_in_inference
from gradcli.engine.values.dtypes import DTYPES, FLOAT64, builtin_name, floating_name
from gradcli.engine.values.limits import QUESTION
from gradcli.engine.values.sizes import describe, flag, number, whole
from gradcli.errors import run_error

FAMILY = 345, "Settings"


def _nothing(known: Statics, *args: Any, **params: Any) -> Any:
    return known.constant(None)


# recording --------------------------------------------------------------------------------------


def _set_grad_enabled(session: Any, mode: Any) -> None:
    session.recording = session.transparent or flag(mode, "mode")


def _may_record(known: Statics, mode: Any) -> Any:
    known.may_record()
    return known.constant(None)


set_grad_enabled: Op = host(
    "set_grad_enabled",
    _set_grad_enabled,
    args=("mode",),
    infer=_may_record,
    doc="Sets whether the following steps are recorded; with `with`, or as "
    "`@set_grad_enabled(...)` before a function, only there.",
    source="PyTorch: set_grad_enabled",
    pure=False,
)

is_grad_enabled: Op = host(
    "is_grad_enabled",
    lambda session: session.recording,
    infer=lambda known: known.number("bool"),
    doc="True if the steps that follow are recorded.",
    source="PyTorch: is_grad_enabled",
    pure=False,
)


def _recording(name: str, on: bool, text: str, aliases: tuple[str, ...] = ()) -> Op:
    def call(session: Any, function: Any) -> Any:
        mode = Recording(session, name, on)
        return mode if function is None else mode(function)

    return torch_host(
        name,
        call,
        args=("orig_func=None",),
        keeps=True,
        doc=f"{text} in a block after `with`, or in a function that it is called with, as by `@` "
        "before a `def`.",
        aliases=aliases,
        pure=False,
    )


no_grad: Op = _recording("no_grad", False, "Nothing is recorded")
enable_grad: Op = _recording("enable_grad", True, "Steps are recorded")


def _inference_mode(session: Any, mode: Any) -> Any:
    if mode is None or isinstance(mode, bool):
        return InferenceMode(session, mode is not False)
    return InferenceMode(session, True)(mode)


inference_mode: Op = torch_host(
    "inference_mode",
    _inference_mode,
    args=("mode=None",),
    keeps=True,
    doc="Nothing is recorded in a block after `with`, or in a function that it is called with, as "
    "by `@` before a `def`. Tensors that are made there are not changed in place outside, and not "
    "saved for a gradient. With False it ends such a mode in the block.",
    pure=False,
)

is_inference_mode_enabled: Op = torch_host(
    "is_inference_mode_enabled",
    lambda session: session.inference.on,
    infer=lambda known: known.number("bool"),
    doc="True in inference mode.",
    pure=False,
)

is_inference: Op = torch_host(
    "is_inference",
    lambda session, input: isinstance(input, Tensor) and is_made_in_inference(input),
    args=("input",),
    infer=lambda known, input: known.number("bool"),
    doc="True for a tensor that was made in inference mode; also a method.",
    pure=False,
)


def _set_detect_anomaly(passes: Passes, mode: Any, check_nan: Any) -> None:
    passes.anomaly = flag(mode, "mode") and flag(check_nan, "check_nan")


set_detect_anomaly: Op = host(
    "set_detect_anomaly",
    _set_detect_anomaly,
    part="passes",
    args=("mode",),
    params={"check_nan": True},
    infer=_nothing,
    doc="Sets whether `backward` refuses a derivative that is nan, and names the place; with "
    "`with` only there.",
    sees=False,
    source="PyTorch: autograd.set_detect_anomaly",
    pure=False,
)

detect_anomaly: Op = host(
    "detect_anomaly",
    lambda passes, check_nan: _set_detect_anomaly(passes, True, check_nan),
    part="passes",
    params={"check_nan": True},
    infer=_nothing,
    doc="After `with`: `backward` refuses a derivative that is nan, and names the place.",
    sees=False,
    source="PyTorch: autograd.detect_anomaly",
    pure=False,
)

is_anomaly_enabled: Op = torch_host(
    "is_anomaly_enabled",
    lambda passes: passes.anomaly,
    part="passes",
    infer=lambda known: known.number("bool"),
    doc="True if `backward` refuses a derivative that is nan here.",
    pure=False,
)


# kinds of numbers, devices, threads -------------------------------------------------------------


def _set_default_dtype(random: RandomNumbers, d: Any) -> None:
    QUESTION.default_dtype = _default_name(d)
    random.precision = QUESTION.default_dtype


def _default_name(d: Any) -> str:
    """Name of a dtype that can be the default. `torch.float` and `FloatTensor` are float32 here, as
    in PyTorch.
    """
    asked = builtin_name(d).removeprefix("torch.")
    name = "float32" if asked in ("float", "FloatTensor") else floating_name(asked or d)
    if name is None:
        raise run_error("wrong-type", f"the default dtype is one of floats, got {describe(d)}")
    return name


def _sets_default_dtype(known: Statics, d: Any) -> Any:
    if known.static(d) != FLOAT64:
        known.may_set_default_dtype()
    return known.constant(None)


def _only_float64(code: Any, d: Any) -> None:
    if _default_name(d) != "float64":
        raise ValueError("code knows one dtype of floats that a program writes")
    code.drawn(_set_default_dtype, [d], {})


set_default_dtype: Op = torch_host(
    "set_default_dtype",
    _set_default_dtype,
    part="random",
    args=("d",),
    infer=_sets_default_dtype,
    traced=_only_float64,
    doc="The dtype of floats that the program writes or makes of ints from here on, unless a "
    "`dtype` says otherwise: float64, float32 or float16. Values from outside are float64.",
    aliases=("set_default_tensor_type",),
    pure=False,
)


def _default_dtype_of(known: Statics) -> Any:
    name = known.default_dtype()
    return known.unknown() if name is None else known.constant(DTYPES[name])


get_default_dtype: Op = torch_host(
    "get_default_dtype",
    lambda session: DTYPES[QUESTION.default_dtype],
    infer=_default_dtype_of,
    traced=lambda code: FLOAT64,
    doc="The dtype of floats that the program writes: float64, unless it has set another.",
)

set_default_device: Op = torch_host(
    "set_default_device",
    lambda session, device: check_device(device),
    args=("device",),
    infer=_nothing,
    doc='The device "cpu", the only one.',
    pure=False,
)

cuda_is_available: Op = host(
    "cuda_is_available",
    lambda session: False,
    infer=lambda known: known.constant(False),
    doc="`torch.cuda.is_available()`: False.",
    sees=False,
    source="PyTorch: cuda.is_available",
)

cuda_device_count: Op = host(
    "cuda_device_count",
    lambda session: 0,
    infer=lambda known: known.constant(0),
    doc="`torch.cuda.device_count()`: 0.",
    sees=False,
    source="PyTorch: cuda.device_count",
)

set_num_threads: Op = torch_host(
    "set_num_threads",
    lambda session, threads: None,
    args=("threads",),
    infer=_nothing,
    doc="Has no effect.",
    pure=False,
)

use_deterministic_algorithms: Op = torch_host(
    "use_deterministic_algorithms",
    lambda session, mode: None,
    args=("mode",),
    infer=_nothing,
    doc="Has no effect: the same program with the same seed gives the same numbers.",
    pure=False,
)


# printing ---------------------------------------------------------------------------------------

_PROFILES = {
    "default": Printing(),
    "short": Printing(precision=2, edgeitems=2),
    "full": Printing(threshold=inf),
}


def _set_printoptions(session: Any, *values: Any, profile: Any, **named: Any) -> None:
    if profile is None:
        now = printing()
    elif isinstance(profile, str) and profile in _PROFILES:
        now = _PROFILES[profile]
    else:
        raise run_error("bad-argument", '`profile` is "default", "short" or "full"')
    given = dict(zip(_ORDER, values, strict=False))
    given |= {name: value for name, value in named.items() if value is not None}
    QUESTION.printing = Printing(*_sizes_of_texts(given, now), given.get("sci_mode"))


def _set_numpy_printoptions(session: Any, *values: Any, suppress: Any, **named: Any) -> None:
    now = array_printing()
    given = dict(zip(_ORDER, values, strict=False))
    given |= {name: value for name, value in named.items() if value is not None}
    small = now.suppress if suppress is None else flag(suppress, "suppress")
    QUESTION.array_printing = ArrayPrinting(now.library, *_sizes_of_texts(given, now), small)


def _sizes_of_texts(
    given: Mapping[str, Any], now: Printing | ArrayPrinting
) -> tuple[int, float, int, int]:
    """The precision, threshold, edge items and line width, by what is given, else as now."""
    found = {name: given.get(name, getattr(now, name)) for name in _ORDER}
    for name in ("precision", "edgeitems", "linewidth"):
        if not 0 <= whole(found[name], name) <= _MOST:
            raise run_error("bad-argument", f"`{name}` is a number from 0 to {_MOST}")
    return (
        whole(found["precision"], "precision"),
        number(found["threshold"], "threshold"),
        whole(found["edgeitems"], "edgeitems"),
        whole(found["linewidth"], "linewidth"),
    )


_ORDER = ("precision", "threshold", "edgeitems", "linewidth")
_MOST = 10_000

set_printoptions: Op = torch_host(
    "set_printoptions",
    _set_printoptions,
    args=("*values=None",),
    params=dict.fromkeys((*_ORDER, "profile", "sci_mode")),
    infer=_nothing,
    doc="How tensors are printed from here on: `precision` (4), above which `threshold` (1000) of "
    "elements how many `edgeitems` (3), the `linewidth` (80), `sci_mode`.",
    pure=False,
)

numpy_set_printoptions: Op = host(
    "numpy_set_printoptions",
    _set_numpy_printoptions,
    args=("*values=None",),
    params=dict.fromkeys((*_ORDER, "suppress")),
    infer=_nothing,
    doc="`np.set_printoptions`: how arrays are printed from here on in a program without PyTorch: "
    "`precision` (8), above which `threshold` (1000) of elements how many `edgeitems` (3), the "
    "`linewidth` (75), `suppress`.",
    sees=False,
    source="NumPy: set_printoptions",
    pure=False,
)


# layouts of memory ------------------------------------------------------------------------------

contiguous_format: Op = constant(
    "contiguous_format",
    "torch.contiguous_format",
    "`torch.contiguous_format`: the last dimension is the fastest in memory.",
)
preserve_format: Op = constant(
    "preserve_format",
    "torch.preserve_format",
    "`torch.preserve_format`: the dimensions keep their order in memory.",
)
channels_last: Op = constant(
    "channels_last",
    "torch.channels_last",
    "`torch.channels_last`: of 4 dimensions, number 1 is the fastest in memory.",
)
channels_last_3d: Op = constant(
    "channels_last_3d",
    "torch.channels_last_3d",
    "`torch.channels_last_3d`: of 5 dimensions, number 1 is the fastest in memory.",
)

torch_newaxis: Op = constant(
    "torch_newaxis", None, "`torch.newaxis`: None, a new dimension in an index."
)

# versions ---------------------------------------------------------------------------------------

torch_version: Op = constant(
    "torch_version", "2.13.0", "`torch.__version__`: that of the PyTorch whose meaning holds."
)
