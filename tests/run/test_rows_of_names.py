"""Each name has rows of recorded answers: a case of `reference/*.txt` whose program uses it and prints
what the original prints.
"""

import re
from pathlib import Path

import pytest
from support.programs.lesson_cases import read

from gradcli.made.library_index import FILES

RECORDED = "\n".join(
    f" {case.program} "
    for path in (Path(__file__).parent / "reference").glob("*.txt")
    for case in read(path)
    if case.printed
)
NAMES = """
    functools.wraps itertools.pairwise << >> delattr( bin( issubclass( cast( sys.path.append(
    torch.isin( torch.finfo( torch.result_type( torch.promote_types( torch.can_cast( torch.bincount(
    torch.histc( torch.cov( torch.corrcoef( torch.gcd( torch.lcm( torch.nextafter( torch.ldexp(
    torch.signbit( torch.renorm( torch.asarray( torch.as_strided( .as_strided( .unfold(
    .fill_diagonal_( .random_( .ndimension( .storage_offset( out= torch.FloatTensor( device=
    np.float32( np.resize( np.bincount( jnp.bincount( jnp.resize( torch.compile( torch.jit.script
    autocast( GradScaler( padding="same" padding_mode= ceil_mode= .reset_running_stats( .mode .stddev
    .batch_shape .event_shape static_argnums= jax.random.beta( jnp.triu_indices( jax.config.update(
    np.diag(x, k= np.make_diagonal( np.diagflat( np.tile( np.swapaxes( np.rollaxis( np.cross(a, np.select( np.partition(
    np.hsplit( np.vsplit( np.dsplit( jnp.pad( UPLO= compute_uv= np.fft.fftshift( np.fft.ifftshift(
    np.fft.fftfreq( np.fft.rfftfreq( np.prod(x.shape) np.dtype( jnp.ldexp( weights= aweights= fweights=
    [::-1] check_grads( hessian_tensor_product( factorial(
    check_grads( hessian_tensor_product( factorial( jax.linearize( jax.linear_transpose( jax.remat(
    jax.custom_gradient jax.checkpoint( jax.checkpoint_policies.dots_saveable checkpoint_name(
    save_only_these_names( jax.disable_jit( jax.ops.segment_sum( jax.Array NamedTuple nondiff_argnames=
    axis_size= broadcast_shapes( broadcast_in_dim( top_k( jnp.einsum( signature= excluded= jnp.pad(
    np.pad( np.block( jnp.piecewise( jnp.take_along_axis( np.tri( np.mask_indices( np.indices(
    np.nanargmax( np.nanargmin( np.nanprod( np.nancumsum( np.nancumprod( np.nanmedian( np.nanquantile( np.nanpercentile(
    np.unravel_index( np.ravel_multi_index( np.lexsort( np.extract( np.compress( np.choose( np.put( np.putmask( np.place(
    np.put_along_axis( np.mgrid np.ogrid np.s_ np.modf( np.vecdot( np.unstack( np.cumulative_prod( np.broadcast_arrays(
    np.setxor1d( np.trim_zeros( np.unwrap( np.apply_over_axes( np.correlate( np.hanning( np.kaiser( np.poly( np.polydiv(
    np.histogram2d( jnp.block( jnp.cumulative_sum( jnp.nanprod( jnp.correlate( jnp.choose( jnp.cbrt( math.cbrt( const_graph(
    np.fromfunction( np.isscalar( np.array_equiv( jnp.nanvar( jnp.nanstd( jnp.cumulative_sum( np.i0(
"""
FAMILIES = (
    "autograd",
    "jax.example_libraries",
    "jax.lax",
    "jax.nn",
    "jax.numpy",
    "jax.ops",
    "jax.random",
    "jax.scipy.sparse",
    "jax.tree_util",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
)
FAMILIES += ("torch.distributions", "torch.nn", "torch.optim", "torch.amp", "torch.func")
WITHIN = frozenset(
    {
        *("torch.nn.BackwardHookFunction", "torch.nn.HookHandle", "torch.nn.framed"),
        *("torch.nn.NonDynamicallyQuantizableLinear", "torch.nn.indented"),
        *("torch.nn.reduction_of", "scipy.stats.as_floats", "scipy.optimize.OptimizeResult"),
        "scipy.optimize.CountedFunction",
        "scipy.optimize.RootResults",
        *(
            "jax.example_libraries.optimizers.JoinPoint",
            "jax.example_libraries.optimizers.Optimizer",
        ),
        "jax.example_libraries.optimizers.OptimizerState",
    }
)
"""Parts of the library that programs do not name."""


@pytest.mark.parametrize("name", NAMES.split())
def test_a_name_of_the_language_has_its_row(name):
    assert name in RECORDED


@pytest.mark.parametrize("family", FAMILIES)
def test_the_members_of_a_library_module_have_their_rows(family):
    """A density is named with its distribution."""
    members = [path for path in FILES if path.startswith(f"{family}.")]
    assert members
    without = []
    for path in sorted({*members} - WITHIN):
        parts = path.split(".")[-2 if family == "scipy.stats" else -1 :]
        if not re.search(rf"\b{re.escape('.'.join(parts))}\b", RECORDED):
            without.append(path)
    assert without == []
