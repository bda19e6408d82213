"""The modules that a program may import, and the built-ins that their names stand for.

Names of PyTorch's modules are those of the built-ins. For other libraries this file lists the
built-in of each name; if the two differ in meaning, the built-in has a name such as `numpy_std`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from gradcli.errors import slips
from gradcli.ir.program import ANYTHING

if TYPE_CHECKING:
    from gradcli.ir.signature import Signatures

TORCH = frozenset(
    {
        "torch",
        "torch.autograd",
        "torch.autograd.forward_ad",
        "torch.autograd.function",
        "torch.autograd.functional",
        "torch.autograd.grad_mode",
        "torch.autograd.gradcheck",
        "torch.autograd.graph",
        "torch.autograd.variable",
        "torch.cuda",
        "functorch",
        "torch.func",
        "torch.linalg",
        "torch.nn.functional",
        "torch.random",
        "torch.special",
        "torch.testing",
        "builtins",
        "F",
        "math",
    }
)
"""Modules whose names are the built-ins."""


def is_module(path: str) -> bool:
    """True if the contents of a module are known."""
    return path in TORCH or path in _others()


def is_package(path: str) -> bool:
    """True if a path is that of a known module or of a package with one."""
    inside = f"{path}."
    return (
        is_module(path)
        or path in _PACKAGES
        or any(known.startswith(inside) for known in (*TORCH, *_others()))
    )


def is_known(path: str) -> bool:
    """True if a module may be imported: a known one or its package, any of PyTorch's, Python's or
    of libraries common in lessons. Names of unknown modules cannot be used.
    """
    from gradcli.grammar.meaning import foreign

    return (
        is_module(path)
        or path.partition(".")[0] in _BESIDES
        or is_silent(f"{path}.any")
        or any(module.startswith(f"{path}.") for module in _others())
        or foreign.is_of_python(path.partition(".")[0])
    )


def misspelt(path: str) -> str | None:
    """The known module whose path differs by one slip, or None."""
    if is_module(path) or path in _PACKAGES:
        return None
    root = path.partition(".")[0]
    known = (m for m in (*TORCH, *_PACKAGES, *_others()) if m.partition(".")[0] == root)
    return next((m for m in sorted(known) if slips(path, m) == 1), None)


def has(module: str, name: str, signatures: Signatures) -> bool:
    """True if a name may be imported from a module; always true if its contents are unknown."""
    path = f"{module}.{name}"
    known = member(module, name, signatures) is not None
    if known or not is_module(module) or is_silent(path):
        return True
    inner = (known for known in (*TORCH, *_others(), *_WRITTEN) if known.startswith(f"{path}."))
    return is_module(path) or any(inner) or (module == "torch" and name in _PARTS)


_BESIDES = frozenset(
    {
        *("torch", "__future__", "matplotlib", "scipy", "pandas", "seaborn", "sklearn", "sympy"),
        *("tqdm", "IPython", "ipywidgets", "torchvision", "torchviz", "graphviz", "d2l", "jax"),
        *(
            "torchdiffeq",
            "numpy",
            "plotly",
            "pylab",
            "PIL",
            "autograd",
            "tensorflow",
            "keras",
            "networkx",
            "pytest",
        ),
    }
)
"""Libraries that lessons import; their contents are unknown."""

_PARTS = frozenset(
    {
        *("nn", "optim", "utils", "distributions", "jit", "fft", "sparse", "multiprocessing"),
        *("functional", "hub", "onnx", "quantization", "fx", "amp", "profiler", "package"),
    }
)
"""Modules of PyTorch that have no built-ins directly."""

_PACKAGES = frozenset({"torch.utils.data", *(f"torch.{part}" for part in _PARTS)})
"""Their paths."""


def of_library(path: str) -> str:
    """The path under which the library has a member that several modules export."""
    module, _, name = path.rpartition(".")
    if is_silent(path):
        return ANYTHING
    return f"{_ALIKE[module]}.{name}" if module in _ALIKE else path


def in_library(path: str, signatures: Signatures) -> str | None:
    """The path under which the library has a member, its own before that of another module that
    exports it; None if it has none.
    """
    paths = (path, of_library(path))
    return next((found for found in paths if signatures.in_library(found)), None)


_SHOWING = frozenset(
    {
        *("matplotlib", "matplotlib_inline", "mpl_toolkits", "pylab", "seaborn", "plotly"),
        *("IPython", "ipywidgets", "graphviz", "torchviz"),
    }
)
"""Libraries that only show things."""

_OF_NOTEBOOKS = frozenset({"display", "get_ipython"})
"""Functions that notebooks have without an import."""


def is_silent(path: str) -> bool:
    """True if a path is in a library that only shows things, and no built-in draws it."""
    root, _, rest = path.partition(".")
    if root in _OF_NOTEBOOKS:
        return True
    module, _, name = path.rpartition(".")
    return root in _SHOWING and bool(rest) and name not in _others().get(module, ())


def shows(paths: Iterable[str]) -> bool:
    """True if an imported library shows things: its objects have attributes of every name."""
    return any(path.partition(".")[0] in {*_SHOWING, "d2l"} for path in paths)


_STATS = ("beta", "binom", "cauchy", "expon", "gamma", "laplace", "lognorm", "t")
_MORE_STATS = ("bernoulli", "multivariate_normal", "poisson", "uniform")
_KINDS_OF_LAYERS = (
    *("activation", "batchnorm", "container", "conv", "dropout", "linear", "loss", "module"),
    *("normalization", "pooling", "rnn", "sparse", "transformer"),
)
_KINDS_OF_OPTIMIZERS = (
    *("adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "lbfgs", "nadam", "optimizer"),
    *("radam", "rmsprop", "rprop", "sgd"),
)
_KINDS_OF_DISTRIBUTIONS = (
    *(
        "bernoulli",
        "beta",
        "binomial",
        "categorical",
        "cauchy",
        "chi2",
        "dirichlet",
        "distribution",
    ),
    *("exponential", "gamma", "geometric", "gumbel", "half_cauchy", "half_normal", "independent"),
    *("kl", "laplace", "log_normal", "mixture_same_family", "multinomial", "multivariate_normal"),
    *("kumaraswamy", "negative_binomial", "normal", "one_hot_categorical", "pareto", "poisson"),
    *("studentT", "transformed_distribution", "uniform", "von_mises", "weibull"),
)
_ALIKE = {
    **{f"tqdm.{part}": "tqdm" for part in ("auto", "autonotebook", "notebook", "std")},
    "torch.nn.modules": "torch.nn",
    **{f"torch.nn.modules.{part}": "torch.nn" for part in _KINDS_OF_LAYERS},
    **{f"torch.optim.{part}": "torch.optim" for part in _KINDS_OF_OPTIMIZERS},
    **{f"torch.distributions.{part}": "torch.distributions" for part in _KINDS_OF_DISTRIBUTIONS},
    **{
        f"torch.utils.data.{part}": "torch.utils.data"
        for part in ("dataset", "dataloader", "sampler")
    },
    "jax.tree": "jax.tree_util",
    "autograd.misc": "autograd.misc.tracers",
    "torch.cuda.amp": "torch.amp",
    "torch.cpu.amp": "torch.amp",
    "autograd.numpy": "numpy",
    "jax.numpy": "numpy",
    **{f"{library}.numpy.linalg": "numpy.linalg" for library in ("autograd", "jax")},
    **{f"{library}.numpy.fft": "numpy.fft" for library in ("autograd", "jax")},
    "autograd.scipy.special": "scipy.special",
    "jax.scipy.special": "scipy.special",
    "jax.scipy.linalg": "scipy.linalg",
    "jax.scipy.signal": "scipy.signal",
    "jax.scipy.integrate": "scipy.integrate",
    **{
        f"{library}.scipy.stats.{name}": f"scipy.stats.{name}"
        for library in ("autograd", "jax")
        for name in (*_STATS, *_MORE_STATS)
    },
}
"""Modules that export the names of another one."""


_WRITTEN = frozenset(
    {
        "torch.nn.init.",
        "torch.nn.utils.",
        "torch.cuda.amp.",
        "jax.debug.",
        "jax.errors.",
        "jax.nn.initializers.",
        "numpy.matlib.",
    }
)
"""Modules, each followed by a point, whose built-ins are written in the language itself."""


def member(module: str, name: str, signatures: Signatures) -> str | None:
    """The built-in that a module's name stands for, or None."""
    if module not in TORCH:
        return _others().get(module, {}).get(name)
    own = _RENAMED.get(f"{module}.{name}", f"{module.rpartition('.')[2]}_{name}")
    if own in signatures:
        return own  # it has its own parameters there, as `torch.linalg.svd` does
    return name if name in signatures else None


def names(module: str, signatures: Signatures) -> list[str]:
    """The names in a module."""
    return signatures.names() if module in TORCH else [*_others().get(module, {})]


def names_of_others(module: str) -> list[str]:
    """The names in a module that are not those of the built-ins."""
    return [*_others().get(module, {})]


def methods(paths: Iterable[str]) -> Iterator[str]:
    """Methods of the imported libraries' objects that share a built-in's name."""
    if any(path.startswith(("matplotlib", "d2l")) for path in paths):
        yield from ("scatter", "fill", "flatten", "ravel")
    if any(of_library(path) == ANYTHING or is_silent(f"{path}.any") for path in paths):
        yield from ("fill", "map", "scatter", "trace", "view")
    if any(path in ("collections", "collections.Counter") for path in paths):
        yield "subtract"


def of_arrays(name: str, paths: Iterable[str]) -> str | None:
    """The built-in for `x.name` if NumPy or a library like it is imported, else None. PyTorch's
    `x.size` is a method, and its `x.dot(y)` refuses matrices.
    """
    paths = tuple(paths)
    if name in OF_ARRAYS_ALONE and library(paths) != "torch":
        return OF_ARRAYS_ALONE[name]
    if name in _OF_ARRAYS_OF_JAX and library(paths) == "jax":
        return _OF_ARRAYS_OF_JAX[name]
    return _OF_ARRAYS.get(name) if has_arrays(paths) else None


def copies_items(paths: Iterable[str]) -> bool:
    """True if `x[i]` is a copy, as in NumPy, not a view of `x`: NumPy or a library like it is
    imported and PyTorch is not.
    """
    roots = {path.partition(".")[0] for path in paths}
    return "torch" not in roots and has_arrays(paths)


def has_arrays(paths: Iterable[str]) -> bool:
    """True if NumPy or a library like it is imported."""
    return any(path in _ARRAYS for path in paths)


def library(paths: Iterable[str]) -> str:
    """The library whose arrays a program computes with, by its imports: "jax" or "numpy" if it
    imports one of these and not PyTorch, else "torch".
    """
    roots = {path.partition(".")[0] for path in paths}
    if not roots.isdisjoint(("torch", "functorch", "torchdiffeq", "torchvision")):
        return "torch"
    if "jax" in roots:
        return "jax"
    return "torch" if roots.isdisjoint(("numpy", "autograd", "scipy")) else "numpy"


_OF_ARRAYS = {"size": "numpy_size", "dot": "numpy_dot"}
OF_ARRAYS_ALONE = {
    **{
        name: f"numpy_{name}" for name in ("std", "var", "repeat", "cumsum", "cumprod", "transpose")
    },
    **{name: f"numpy_{name}" for name in ("nonzero", "trace", "diagonal")},
    "max": "amax",
    "min": "amin",
}
"""Methods of arrays that differ from PyTorch's: in programs that do not import PyTorch, and of what
is certainly an array.
"""
_OF_ARRAYS_OF_JAX = {"clip": "jax_clip"}
_ARRAYS = frozenset({"numpy", "jax.numpy", "autograd.numpy"})

_RENAMED = {
    "torch.__version__": "torch_version",
    "torch.int": "int32",
    "torch.compile": "jit",
    "functorch.hessian": "func_hessian",
    "math.degrees": "rad2deg",
    "math.fabs": "abs",
    "math.radians": "deg2rad",
    "torch.cuda.manual_seed": "manual_seed",
    "torch.cuda.manual_seed_all": "manual_seed",
}
"""Names of PyTorch's and other modules whose built-ins are called otherwise."""


@cache
def _others() -> dict[str, dict[str, str]]:
    """Built-ins by module and name, for modules of other libraries."""
    tables = {module: _table(text) for module, text in _NAMES.items()}
    tables["typing"] |= dict.fromkeys(_TYPING.split(), "python_typing_hint")
    for module, same in _SAME.items():
        own = _WRITTEN_ANEW.get(module, "").split()
        shared = {name: builtin for name, builtin in tables[same].items() if name not in own}
        tables[module] = {**shared, **tables.get(module, {})}
    return tables


def _table(text: str) -> dict[str, str]:
    """Built-ins by name, from a list of names, with `name=builtin` where the two differ."""
    pairs = (word.partition("=") for word in text.split())
    return {name: builtin or name for name, _, builtin in pairs}


_TYPING = """
    AbstractSet Annotated Any AnyStr AsyncIterator Callable ClassVar Collection Container
    Counter DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable Iterable Iterator
    List Literal Mapping MutableMapping MutableSequence NewType NoReturn Optional
    OrderedDict ParamSpec Protocol Reversible Self Sequence Set Sized Text Tuple Type TypeAlias
    TypeVar TypedDict Union
"""
"""Names of `typing`, which all stand for one built-in."""

_SPECIAL = "entr erfcx erfinv i0e i1e log_ndtr log_softmax multigammaln ndtri xlog1py"
_NAMES = {
    "torch.utils.checkpoint": "checkpoint",
    "torch.mps": "is_available=cuda_is_available device_count=cuda_device_count manual_seed",
    "torch.xpu": "is_available=cuda_is_available device_count=cuda_device_count manual_seed",
    "torch.accelerator": "is_available=cuda_is_available device_count=cuda_device_count",
    "typing": "TYPE_CHECKING=python_typing_checking cast=python_typing_cast",
    "torch.jit": "script=jit",
    "d2l": "torch=d2l_torch",
    "d2l.torch": "plt=pyplot",
    "matplotlib": """
        pyplot cm=pyplot pylab=pyplot rc=python_warnings_nothing use=python_warnings_nothing
        """,
    "matplotlib.pyplot": "cm=pyplot style=pyplot",
    "mpl_toolkits.mplot3d": "Axes3D=python_axes_3d",
    "warnings": "filterwarnings=python_warnings_nothing simplefilter=python_warnings_nothing",
    "functools": """
        partial=python_functools_partial reduce=python_functools_reduce
        wraps=python_functools_wraps
        """,
    "sys.path": "append=python_warnings_nothing insert=python_warnings_nothing",
    "itertools": """
        accumulate=python_itertools_accumulate chain=python_itertools_chain
        combinations=python_itertools_combinations count=python_itertools_count
        islice=python_itertools_islice pairwise=python_itertools_pairwise
        permutations=python_itertools_permutations
        product=python_itertools_product repeat=python_itertools_repeat
        zip_longest=python_itertools_zip_longest cycle=python_itertools_cycle
        """,
    "itertools.chain": "from_iterable=python_itertools_from_iterable",
    "dataclasses": """
        asdict=python_dataclasses_asdict dataclass=python_dataclasses_dataclass
        field=python_dataclasses_field fields=python_dataclasses_fields
        is_dataclass=python_dataclasses_is_dataclass replace=python_dataclasses_replace
        """,
    "collections": "OrderedDict=dict",
    "copy": "copy=python_copy_copy deepcopy=python_copy_deepcopy",
    "random": """
        choice=python_random_choice choices=python_random_choices gauss=python_random_gauss
        normalvariate=python_random_normalvariate randint=python_random_randint
        random=python_random_random randrange=python_random_randrange
        sample=python_random_sample seed=python_random_seed shuffle=python_random_shuffle
        uniform=python_random_uniform
        """,
    "time": """
        monotonic=python_time_monotonic perf_counter=python_time_perf_counter
        process_time=python_time_process_time sleep=python_time_sleep time=python_time_time
        """,
    "numpy": """
        amax amin max=amax min=amin round around=round allclose array_equal=equal take rot90
        arange=numpy_arange ones=numpy_ones zeros=numpy_zeros full=numpy_full empty=numpy_empty
        full_like=numpy_full_like empty_like copy=clone unique array_split=tensor_split
        int32=numpy_int32 int16=numpy_int16 int8=numpy_int8 uint8=numpy_uint8
        float16=numpy_float16 half=numpy_float16 single=numpy_float32 intc=numpy_int32
        short=numpy_int16 byte=numpy_int8 ubyte=numpy_uint8 resize=numpy_resize
        cov=numpy_cov cbrt=math_cbrt euler_gamma=numpy_euler_gamma pow asin acos atan asinh acosh
        atanh atan2
        bitwise_not bitwise_invert=bitwise_not bitwise_left_shift bitwise_right_shift
        long=numpy_int64 longlong=numpy_int64 array2string=str
        corrcoef=numpy_corrcoef gcd lcm ldexp nextafter signbit isin left_shift=bitwise_left_shift
        right_shift=bitwise_right_shift bitwise_and bitwise_or bitwise_xor invert=bitwise_not
        tensor_split broadcast_to float_=float bool bool_=bool int_=int ndarray=tensor
        intp=int floating=number integer=int
        set_printoptions=numpy_set_printoptions append=numpy_append array=numpy_array
        asarray=numpy_asarray asanyarray=numpy_asarray
        average=numpy_average convolve=numpy_convolve cumprod=numpy_cumprod
        cumsum=numpy_cumsum dot=numpy_dot flip=numpy_flip gradient=numpy_gradient
        interp=numpy_interp linspace=numpy_linspace
        logspace=numpy_logspace median=numpy_median meshgrid=numpy_meshgrid ndim=numpy_ndim
        newaxis=numpy_newaxis nonzero=numpy_nonzero percentile=numpy_percentile
        c_=numpy_c_ r_=numpy_r_
        polyfit=numpy_polyfit polyval=numpy_polyval ptp=numpy_ptp quantile=numpy_quantile
        repeat=numpy_repeat shape=numpy_shape size=numpy_size sort=numpy_sort split=numpy_split
        std=numpy_std transpose=numpy_transpose var=numpy_var vectorize=numpy_vectorize
        __version__=numpy_version
        abs absolute=abs acos acosh asin asinh atan atan2 atanh pow
        bitwise_invert=bitwise_not bitwise_left_shift bitwise_not bitwise_right_shift
        add all any arccos=acos arccosh=acosh arcsin=asin arcsinh=asinh
        arctan=atan arctan2=atan2 arctanh=atanh argmax argmin argsort
        ceil clip=clamp
        copysign cos cosh count_nonzero deg2rad
        diagonal=numpy_diagonal diff
        divide=div e einsum=numpy_einsum equal=eq exp exp2 expand_dims=unsqueeze expm1 eye
        fabs=abs fliplr flipud float32=numpy_float32
        float64=numpy_float64 double=numpy_float64 float_power floor
        floor_divide fmax fmin fmod greater=gt greater_equal=ge heaviside hypot
        identity=eye inf inner int64=numpy_int64 isclose isfinite isinf isnan kron
        less=lt less_equal=le log log10 log1p log2 logaddexp logaddexp2
        logical_and logical_not logical_or logical_xor matmul maximum i0
        mean minimum mod=remainder moveaxis multiply=mul nan nan_to_num nanmean nansum
        negative=neg not_equal=ne ones_like outer pi polygamma positive power=pow
        rad2deg radians=deg2rad degrees=rad2deg ravel reciprocal remainder reshape
        roll searchsorted sign sin sinc sinh sqrt square squeeze
        subtract=sub sum tan tanh tensordot trace=numpy_trace trapezoid trapz
        tril=numpy_tril triu=numpy_triu
        true_divide=div trunc vdot where zeros_like
        """,
    "numpy.linalg": """
        cholesky=numpy_linalg_cholesky det=numpy_linalg_det inv=numpy_linalg_inv
        multi_dot matrix_rank=numpy_linalg_matrix_rank pinv=numpy_linalg_pinv
        qr=numpy_linalg_qr slogdet=numpy_linalg_slogdet solve=numpy_linalg_solve
        cond=numpy_linalg_cond lstsq=numpy_linalg_lstsq eig=numpy_linalg_eig
        eigvals=numpy_linalg_eigvals
        """,
    "jax.numpy": "pow=jax_pow power=jax_pow",
    "jax.numpy.linalg": "eigh=numpy_linalg_eigh eigvalsh=numpy_linalg_eigvalsh",
    "numpy.random": """
        beta=numpy_random_beta binomial=numpy_random_binomial choice=numpy_random_choice
        default_rng=numpy_random_default_rng exponential=numpy_random_exponential
        gamma=numpy_random_gamma laplace=numpy_random_laplace logistic=numpy_random_logistic
        lognormal=numpy_random_lognormal multivariate_normal=numpy_random_multivariate_normal
        normal=numpy_random_normal permutation=numpy_random_permutation
        poisson=numpy_random_poisson rand=numpy_random_rand randint=numpy_random_randint
        randn=numpy_random_randn random=numpy_random_random
        random_sample=numpy_random_random_sample ranf=numpy_random_random_sample
        sample=numpy_random_random_sample RandomState=numpy_random_RandomState
        seed=numpy_random_seed shuffle=numpy_random_shuffle
        standard_normal=numpy_random_standard_normal uniform=numpy_random_uniform
        """,
    "jax": """
        block_until_ready device_get=block_until_ready grad hessian=func_hessian jacfwd
        jacobian=jacrev jacrev jit jvp checkpoint=jit value_and_grad vjp vmap=jax_vmap
        custom_jvp custom_vjp tree_map tree_leaves remat=jit Array=tensor
        __version__=jax_version
        """,
    "jax.ad_checkpoint": "checkpoint=jit remat=jit",
    "jax.config": "update=jax_config_update",
    "jax.flatten_util": "ravel_pytree",
    "jax.test_util": "check_grads=jax_check_grads",
    "jax.typing": "ArrayLike=python_typing_hint DTypeLike=python_typing_hint",
    "jax.tree": """
        flatten=tree_flatten leaves=tree_leaves map=tree_map reduce=tree_reduce
        unflatten=tree_unflatten
        """,
    "jax.tree_util": """
        register_pytree_node register_pytree_node_class tree_flatten tree_leaves tree_map
        tree_reduce tree_unflatten
        """,
    "jax.lax": """
        cond=lax_cond fori_loop scan stop_gradient=detach while_loop exp log sin cos tanh sqrt
        rsqrt max=maximum min=minimum pow=jax_pow add sub mul div acos acosh asin asinh atan atan2
        atanh
        bitwise_and bitwise_not bitwise_or bitwise_xor bessel_i0e=i0e bessel_i1e=i1e ceil cosh
        digamma eq erf erfc erf_inv=erfinv exp2 expm1 floor full full_like ge gt
        is_finite=isfinite le lgamma log1p logistic=sigmoid lt ne neg nextafter reciprocal rem=fmod
        rev=flip sign sinh square squeeze tan
        transpose=numpy_transpose
        """,
    "jax.nn": """
        elu glu hard_swish=hardswish hard_silu=hardswish hard_sigmoid=hardsigmoid
        log_sigmoid=logsigmoid mish logsumexp relu relu6 selu sigmoid silu swish=silu tanh
        """,
    "jax.random": """
        bernoulli=jax_random_bernoulli beta=jax_random_beta categorical=jax_random_categorical
        choice=jax_random_choice exponential=jax_random_exponential fold_in=jax_random_fold_in
        gamma=jax_random_gamma key=jax_random_key normal=jax_random_normal
        permutation=jax_random_permutation PRNGKey=jax_random_key
        randint=jax_random_randint split=jax_random_split uniform=jax_random_uniform
        """,
    "jax.scipy.special": f"""
        erf erfc expit gammaln i0 i1 logit logsumexp ndtr digamma xlogy {_SPECIAL}
        """,
    "autograd": """
        elementwise_grad grad=grad_by_argnum hessian=func_hessian hessian_vector_product
        hessian_tensor_product=hessian_vector_product
        jacobian=jacrev make_jvp make_vjp value_and_grad=value_and_grad_by_argnum
        dict isinstance list tuple
        """,
    "autograd.builtins": "dict isinstance list tuple type",
    "autograd.core": "primitive",
    "autograd.extend": "defjvp defvjp primitive",
    "autograd.tracer": "isbox=autograd_isbox primitive",
    "autograd.misc": "flatten=autograd_flatten",
    "autograd.misc.flatten": "flatten=autograd_flatten",
    "autograd.misc.fixed_points": "fixed_point=autograd_fixed_point",
    "autograd.misc.optimizers": "adam=autograd_adam rmsprop=autograd_rmsprop sgd=autograd_sgd",
    "autograd.test_util": "check_grads",
    "scipy.linalg": """
        cholesky=scipy_cholesky det=numpy_linalg_det expm=matrix_exp inv=numpy_linalg_inv
        solve=numpy_linalg_solve eigh=numpy_linalg_eigh eigvalsh=numpy_linalg_eigvalsh
        norm=linalg_norm lstsq=numpy_linalg_lstsq pinv=numpy_linalg_pinv
        solve_triangular=scipy_solve_triangular eigvals=numpy_linalg_eigvals eig=numpy_linalg_eig
        """,
    "scipy.special": "erf erfc expit gammaln i0 i1 logit logsumexp ndtr digamma xlogy softmax",
    "scipy.stats.norm": """
        cdf=scipy_norm_cdf logcdf=scipy_norm_logcdf logpdf=scipy_norm_logpdf pdf=scipy_norm_pdf
        """,
    "autograd.scipy.special": "erf erfc expit gammaln logit logsumexp digamma",
    "operator": "abs pow",
    "numpy.testing": """
        assert_allclose assert_almost_equal assert_array_almost_equal assert_array_equal
        assert_equal=assert_array_equal
        """,
}
"""Names of modules that are those of built-ins, or `name=builtin`."""

_PARAMETERS = "Parameter"
_NAMES["torch.nn"] = _NAMES["torch.nn.parameter"] = _PARAMETERS

_SAME = {
    "jax.numpy": "numpy",
    "autograd.numpy": "numpy",
    "jax.numpy.linalg": "numpy.linalg",
    "autograd.numpy.linalg": "numpy.linalg",
    "autograd.numpy.random": "numpy.random",
    "autograd.scipy.linalg": "scipy.linalg",
    "autograd.scipy.stats.norm": "scipy.stats.norm",
    "jax.scipy.linalg": "scipy.linalg",
    "jax.scipy.stats.norm": "scipy.stats.norm",
    "matplotlib.pylab": "matplotlib.pyplot",
}
"""Modules that have the names of others, besides those of their own."""

_WRITTEN_ANEW = {
    "jax.numpy": """
        abs absolute clip copysign dot fabs float_power fmax fmin hypot inner matmul tensordot vdot
        """
}
"""Names of the other module that the library has for a module itself."""
