"""Derivatives that are known by hand, in every form in which a program can ask for them."""

import pytest

from gradcli.program import load

BEGIN = """
import torch
import jax
import jax.numpy as jnp
import autograd
from autograd import elementwise_grad, hessian_vector_product, make_vjp, make_jvp
from autograd.extend import primitive, defvjp, defjvp
import torch.autograd.functional as F
a, b, M = tensor([1.0, 2.0]), tensor([3.0, -1.0]), tensor([[1.0, 2.0], [3.0, 4.0]])

def same(p, q):
    if isinstance(p, (list, tuple)): return len(p) == len(q) and all([same(i, j) for i, j in zip(p, q)])
    if isinstance(p, dict): return list(p) == list(q) and all([same(p[k], q[k]) for k in p])
    if p is None or q is None: return p is q
    p, q = as_tensor(p), as_tensor(q)
    return p.shape == q.shape and bool(allclose(p * 1.0, q * 1.0))

def f(u, v): return (u * u * v).sum()
def leaf(v): return v.clone().requires_grad_()
"""
TRANSFORMS = [
    *("grad(f)(a, b), 2 * a * b", "grad(f, 1)(a, b), a * a", "grad(f, argnums=(0, 1))(a, b), (2 * a * b, a * a)", "grad(f, -1)(a, b), a * a", "grad(f, (1, 0))(a, b), (a * a, 2 * a * b)"),
    *("grad(f, [1])(a, b), (a * a,)", "grad(f)(a, v=b), 2 * a * b", "value_and_grad(f)(a, b), (1.0 * f(a, b), 2 * a * b)", "value_and_grad(f, (0, 1))(a, b), (f(a, b), (2 * a * b, a * a))", "grad_and_value(f, 1)(a, b), (a * a, f(a, b))"),
    *("grad(lambda d: d['x'] ** 2 * d['y'])({'x': 3.0, 'y': 2.0}), {'x': 12.0, 'y': 9.0}", "grad(lambda t: t[0] * t[1][0])((2.0, (3.0,))), (3.0, (2.0,))", "grad(lambda l: l[0] * l[1])([2.0, 3.0]), [3.0, 2.0]"),
    *("grad(lambda l: (l[0] * l[1]).sum())([a, b]), [b, a]", "grad(lambda u: ((u * u).sum(), u.sum()), has_aux=True)(a), (2 * a, 3.0)", "value_and_grad(lambda u: ((u * u).sum(), u.sum()), has_aux=True)(a), ((5.0, 3.0), 2 * a)"),
    *("grad(lambda s: s * s)(3), 6.0", "grad(lambda s: s ** 3)(2.0), 12.0", "grad(lambda u: b.sum() * 2)(a), zeros(2)", "grad(lambda s: 5.0)(2.0), 0.0", "grad(lambda u, v: v.sum(), 0)(a, b), zeros(2)"),
    *("grad(lambda s: grad(lambda t: t ** 3)(s) * s)(2.0), 36.0", "grad(grad(grad(lambda s: s ** 4)))(2.0), 48.0", "grad(lambda s: grad(lambda t: t * s)(1.0) * s)(3.0), 6.0", "grad(lambda s: jvp(lambda t: t ** 3, (s,), (1.0,))[1])(2.0), 12.0"),
    *("jacrev(lambda u: u * u)(a), diag(2 * a)", "jacfwd(lambda u: u * u)(a), diag(2 * a)", "jacobian(lambda u: u * u)(a), diag(2 * a)", "jacrev(lambda u: M @ u)(a), M", "jacfwd(lambda u: M @ u)(a), M", "jacrev(lambda u: u.sum())(a), ones(2)"),
    *("jacfwd(lambda u: u.sum())(a), ones(2)", "jacrev(lambda s: s * a)(2.0), a", "jacfwd(lambda s: s * a)(2.0), a", "jacrev(lambda s: s * s)(3.0), 6.0", "jacfwd(lambda s: s * s)(3.0), 6.0", "jacrev(lambda u: outer(u, b))(a), jacfwd(lambda u: outer(u, b))(a)"),
    *("jacrev(lambda u: outer(u, b))(a).shape, (2, 2, 2)", "jacrev(lambda m: m @ a)(M), stack([stack([a, 0 * a]), stack([0 * a, a])])", "jacrev(lambda u: (u * u, u.sum()))(a), (diag(2 * a), ones(2))", "jacfwd(lambda u: (u * u, u.sum()))(a), (diag(2 * a), ones(2))"),
    *("jacfwd(lambda u, v: u * v, (0, 1))(a, b), (diag(b), diag(a))", "jacrev(lambda u, v: u * v, (0, 1))(a, b), (diag(b), diag(a))", "jacrev(lambda u, v: u * v, 1)(a, b), diag(a)", "jacrev(lambda u: {'p': u * u, 'q': u.sum()})(a), {'p': diag(2 * a), 'q': ones(2)}"),
    *("jacfwd(lambda d: d['p'] * d['q'])({'p': a, 'q': b}), {'p': diag(b), 'q': diag(a)}", "jacfwd(lambda u: b)(a), zeros(2, 2)", "jacrev(lambda u: b)(a), zeros(2, 2)", "jacrev(lambda u: u)(zeros(0)).shape, (0, 0)", "jacfwd(lambda u: u)(zeros(0)).shape, (0, 0)"),
    *("jacrev(lambda u: (u * u, u * 3), has_aux=True)(a), (diag(2 * a), 3 * a)", "jacfwd(lambda u: (u * u, u * 3), has_aux=True)(a), (diag(2 * a), 3 * a)", "jacfwd(jacrev(lambda u: (u ** 3).sum()))(a), diag(6 * a)", "jacrev(jacfwd(lambda u: (u ** 3).sum()))(a), diag(6 * a)"),
    *("hessian(lambda u: (u ** 3).sum())(a), diag(6 * a)", "hessian(f, argnums=(0, 1))(a, b), ((diag(2 * b), diag(2 * a)), (diag(2 * a), zeros(2, 2)))", "hessian(lambda s: s ** 3)(2.0), 12.0", "torch.func.hessian(f, 0)(a, b), diag(2 * b)", "hessian(lambda u: (u ** 3).sum(), a), diag(6 * a)"),
    *("hvp(lambda u: (u ** 3).sum(), a, b), (9.0, 6 * a * b)", "vjp(lambda u, v: u * v, a, b)[1](ones(2)), (b, a)", "vjp(lambda u: (u * 2, u * u), a)[1]((b, ones(2))), (2 * b + 2 * a,)", "vjp(lambda u: u * u, a)[0], a * a", "vjp(lambda s: s * s, 3.0)[1](2.0), (12.0,)"),
    *("vjp(lambda u: (u * u, u + 1), a, has_aux=True)[2], a + 1", "vjp(lambda u: (u * u, u + 1), a, has_aux=True)[1](b), (2 * a * b,)", "vjp(lambda d: d['p'] * 2, {'p': a})[1](b), ({'p': 2 * b},)", "vjp(lambda u: {'p': u * u}, a)[1]({'p': b}), (2 * a * b,)"),
    *("jvp(lambda u, v: u * v, (a, b), (b, a)), (a * b, b * b + a * a)", "jvp(lambda u: u * u, a, b), (a * a, 2 * a * b)", "jvp(lambda u: (u * u, u.sum()), (a,), (b,)), ((a * a, 3.0), (2 * a * b, 2.0))", "jvp(lambda u: u * 2, (a,), (0 * a,))[1], 0 * a"),
    *("jvp(lambda u: b, (a,), (a,)), (b, 0 * b)", "jvp(lambda s: s ** 2, (3.0,), (2.0,)), (9.0, 12.0)", "jvp(lambda s: s ** 2, (3,), (2,)), (9.0, 12.0)", "jvp(lambda u: (u * u, u + 1), (a,), (b,), has_aux=True), (a * a, 2 * a * b, a + 1)", "jvp(lambda d: d['p'] * d['q'], ({'p': a, 'q': b},), ({'p': b, 'q': a},))[1], b * b + a * a"),
    *("jvp(lambda s: jvp(lambda t: t ** 3, (s,), (1.0,))[1], (2.0,), (1.0,)), (12.0, 12.0)", "grad(f)(a, b).requires_grad, False", "grad(lambda u: u.sum())(leaf(a)).requires_grad, False", "grad(lambda u: (u * u).sum())(leaf(a)).requires_grad, True"),
    *("grad(lambda u: (u * u).sum())(a.to(torch.float32)).dtype is torch.float32, True", "jacrev(lambda u: u * u)(a.to(torch.float32)).dtype is torch.float32, True", "jacfwd(lambda u: u * u)(a.to(torch.float32)).dtype is torch.float32, True"),
    *("F.jacobian(lambda u: u * u, a), diag(2 * a)", "F.jacobian(lambda u, v: u * v, (a, b)), (diag(b), diag(a))", "F.jacobian(lambda u, v: (u * v, u), (a, b)), ((diag(b), diag(a)), (eye(2), zeros(2, 2)))", "F.jacobian(lambda u: u * u, a, strategy='forward-mode', vectorize=True), diag(2 * a)"),
    *("F.hessian(f, (a, b)), ((diag(2 * b), diag(2 * a)), (diag(2 * a), zeros(2, 2)))", "F.hessian(lambda u: (u ** 3).sum(), a), diag(6 * a)", "F.vjp(lambda u: u * u, a, b), (a * a, 2 * a * b)", "F.vjp(lambda u: u.sum(), a), (3.0, ones(2))", "F.vjp(lambda u, v: u * v, (a, b), a), (a * b, (a * b, a * a))"),
    *("F.jvp(lambda u: u * u, a, b), (a * a, 2 * a * b)", "F.jvp(lambda u, v: u * v, (a, b), (b, a)), (a * b, b * b + a * a)", "F.hvp(lambda u: (u ** 3).sum(), a, b), (9.0, 6 * a * b)", "F.vhp(lambda u: (u ** 3).sum(), a, b), (9.0, 6 * a * b)", "F.hvp(f, (a, b), (b, a)), (f(a, b), (2 * b * b + 2 * a * a, 2 * a * b))"),
    *("F.jacobian(lambda u: u * u, leaf(a)).requires_grad, False", "F.jacobian(lambda u: u * u, leaf(a), create_graph=True).requires_grad, True", "F.hessian(lambda u: (u ** 3).sum(), a, outer_jacobian_strategy='forward-mode', vectorize=True), diag(6 * a)"),
    *("elementwise_grad(lambda u: u ** 3)(a), 3 * a * a", "elementwise_grad(lambda u, v: u * v, 1)(a, b), a", "hessian_vector_product(lambda u: (u ** 3).sum())(a, b), 6 * a * b", "hessian_vector_product(f, 1)(a, b, a), 0 * a", "hessian_vector_product(lambda v, u: (u ** 3 * v).sum(), 1)(b, a, a), 6 * a * a * b"),
    *("make_vjp(lambda u: u * u)(a)[0](b), 2 * a * b", "make_vjp(lambda u: u * u)(a)[1], a * a", "make_vjp(lambda u, v: u * v, 1)(a, b)[0](b), a * b", "make_jvp(lambda u: u * u)(a)(b), (a * a, 2 * a * b)", "autograd.grad(f, 1)(a, b), a * a"),
    *("vmap(lambda u: u * u)(M), M * M", "vmap(lambda u: u.sum(), in_dims=1)(M), M.sum(0)", "vmap(lambda u: u * 2, out_dims=1)(M), 2 * M.T", "vmap(lambda u, v: u * v, in_dims=(0, None))(M, a), M * a", "vmap(lambda u, v: (u @ v, u))(M, M), ((M * M).sum(1), M)", "vmap(grad(lambda u: (u * u).sum()))(M), 2 * M"),
    *("vmap(lambda u, v: u * v, (0, 1))(M, M), M * M.T", "vmap(vmap(lambda s: s * s))(M), M * M", "vmap(lambda d: d['p'] + 1, in_dims=({'p': 0},))({'p': a}), a + 1", "jax.vmap(lambda u: u * 2)(M), 2 * M", "jax.jit(lambda u: u * 2)(a), 2 * a", "vmap(lambda u: (u, u * 2), out_dims=(0, 1))(M), (M, 2 * M.T)"),
    *("jax.lax.fori_loop(0, 4, lambda i, c: c * 2 + i, 1), 27", "jax.lax.fori_loop(2, 2, lambda i, c: c * 2, 5), 5", "jax.lax.while_loop(lambda c: c < 20, lambda c: c * 3, 1), 27", "jax.lax.cond(True, lambda u: u + 1, lambda u: u - 1, 5), 6", "jax.lax.cond(False, lambda u: u + 1, lambda u: u - 1, 5), 4"),
    *("torch.utils.checkpoint.checkpoint(lambda u: u * u, a, use_reentrant=False), a * a", "jax.nn.softmax(M), torch.softmax(M, -1)", "jax.nn.log_softmax(M, axis=0), torch.log_softmax(M, 0)", "jax.grad(lambda u: jax.nn.softmax(u)[0])(a), grad(lambda u: torch.softmax(u, 0)[0])(a)"),
]  # fmt: skip

# a derivative is of the kind of the point: a float by a number, a tensor by a tensor
TRANSFORMS += [
    f"isinstance({way}(lambda s: {out})({point}), float), {point == '3.0'}"
    for way in ("grad", "jacrev", "jacfwd", "jacobian", "hessian")
    for out in ("s * s", "tensor(2.0) * s * s")
    for point in ("3.0", "tensor(3.0)")
]
RULES_BEGIN = """
@jax.custom_jvp
def e(x): return torch.exp(x)
e.defjvps(lambda dot, out, x: 3 * dot * out)
@jax.custom_jvp
def m(x, y): return x * y
m.defjvps(None, lambda dot, out, x, y: 5 * dot * x)
@primitive
def p(x, y): return x * y * y
defvjp(p, lambda out, x, y: lambda g: 7 * g * y * y, argnums=(0,))
@primitive
def q(x, y): return x * y
defjvp(q, lambda g, out, x, y: 2 * g * y, lambda g, out, x, y: 3 * g * x)
@primitive
def r(x, y): return torch.exp(x) * y
defvjp(r, None, lambda out, x, y: lambda g: g * out)
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.n = n
        ctx.save_for_backward(x)
        return x * x * n, x + 1
    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 10 * ctx.n * g * x + h, None
def seen(make):
    x = leaf(a)
    log = []
    make(x, log)
    return log
def hooked(x, log):
    h = x.register_hook(lambda g: g * 10)
    (x * b).sum().backward()
    log.append(x.grad.clone())
    h.remove()
    (x * b).sum().backward()
    log.append(x.grad.clone())
def told(x, log):
    x.register_hook(lambda g: log.append(g.clone()))
    (x * b).sum().backward()
def after(x, log):
    x.register_post_accumulate_grad_hook(lambda t: log.append(t.grad.clone()))
    (x * b).sum().backward()
    (x * b).sum().backward()
def before(x, log):
    y = x * b
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 4,))
    y.grad_fn.register_hook(lambda pulled, gs: log.extend([pulled[0], gs[0]]))
    y.sum().backward()
    log.append(x.grad)
def both(x, log):
    y = leaf(b)
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda gs: log.extend(gs))
    (x * 2).sum().backward()
    (x * y).sum().backward()
def first(x, log):
    y = leaf(b)
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda g: log.append(g), mode='any')
    (x * 2).sum().backward()
def twice(x, log):
    u, v = Twice.apply(x, 2.0)
    (u * b).sum().backward(retain_graph=True)
    log.append(x.grad.clone())
    v.sum().backward()
    log.append(x.grad.clone())
def edge(x, log):
    e = torch.autograd.graph.get_gradient_edge(x * 2)
    log.append(e[1])
    y = x * 2
    z = (y * y).sum()
    log.append(torch.autograd.grad(z, torch.autograd.graph.get_gradient_edge(y))[0])
def duals(x, log):
    with torch.autograd.forward_ad.dual_level():
        d = torch.autograd.forward_ad.make_dual(a, b)
        v, t = torch.autograd.forward_ad.unpack_dual(d * d)
        log.extend([v, t, torch.autograd.forward_ad.unpack_dual(a)[1]])
def changed(op):
    x = leaf(a)
    y = x * 1.0
    t = y[1]
    y.mul_(3.0)
    out = op(t)
    out.backward()
    return out.item(), x.grad[1].item()
def several(x, log):
    y = leaf(b)
    torch.autograd.backward([(x * x).sum(), x * y], [None, b])
    log.extend([x.grad, y.grad])
    g = torch.autograd.grad([(x * y).sum(), x.sum()], [x, y])
    log.extend(g)
def unused(x, log):
    y = leaf(b)
    log.extend(torch.autograd.grad(x.sum(), [x, y], allow_unused=True))
    log.extend(torch.autograd.grad(x.sum(), [x, y], materialize_grads=True))
def again(x, log):
    y = (x ** 3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    g.sum().backward()
    log.extend([g, x.grad])
def retained(x, log):
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    log.extend([y.grad, x.grad, y.retains_grad, x.retains_grad])
def places(x, log):
    y = x * 2
    log.extend([x.is_leaf, y.is_leaf, y.output_nr, y.grad_fn is None, x.grad_fn is None, x.requires_grad, y.detach().requires_grad, a.is_leaf])
    log.append([e[1] for e in y.grad_fn.next_functions])
def off(x, log):
    with torch.no_grad():
        log.append((x * 2).requires_grad)
        with torch.enable_grad(): log.append((x * 2).requires_grad)
        log.append(torch.is_grad_enabled())
    torch.set_grad_enabled(False)
    log.append((x * 2).requires_grad)
    torch.set_grad_enabled(True)
    log.append((x * 2).requires_grad)
    @torch.no_grad()
    def quiet(): return (x * 2).requires_grad
    log.append(quiet())
"""
# an op on an element of what has been changed since sees the change, and its gradient goes through it
ELEMENTS = [
    f"changed(lambda t: {call}), ({value}, {slope})"
    for call, value, slope in (
        ("t * t", 36.0, 36.0),
        ("2.0 * t", 12.0, 6.0),
        ("t / 2.0", 3.0, 1.5),
        ("t + t", 12.0, 6.0),
        ("t - 1", 5.0, 3.0),
        ("12.0 / t", 2.0, -1.0),
        ("t ** 2", 36.0, 36.0),
        ("-t", -6.0, -3.0),
        ("abs(t)", 6.0, 3.0),
        ("relu(t)", 6.0, 3.0),
        ("sqrt(t * 6.0)", 6.0, 1.5),
        ("square(t)", 36.0, 36.0),
    )
]


RULES = [
    *("jvp(e, (a,), (b,))[1], 3 * b * exp(a)", "grad(lambda u: e(u).sum())(a), 3 * exp(a)", "grad(grad(lambda s: e(s)))(1.0), 9 * exp(tensor(1.0))", "jacfwd(jacfwd(e))(0.5), 9 * exp(tensor(0.5))", "e(a), exp(a)"),
    *("grad(m)(2.0, 3.0), 0.0", "grad(m, 1)(2.0, 3.0), 10.0", "jvp(m, (2.0, 3.0), (1.0, 1.0))[1], 10.0", "grad(p)(2.0, 3.0), 63.0", "grad(p, 1)(2.0, 3.0), 0.0", "grad(grad(p), 1)(2.0, 3.0), 42.0"),
    *("jvp(q, (2.0, 3.0), (1.0, 10.0))[1], 66.0", "grad(q)(2.0, 3.0), 6.0", "grad(q, 1)(2.0, 3.0), 6.0", "grad(r, 1)(1.0, 3.0), exp(tensor(1.0)) * 3", "grad(r)(1.0, 3.0), 0.0"),
    *("seen(hooked), [10 * b, 11 * b]", "seen(told), [b]", "seen(after), [b, 2 * b]", "seen(before), [4 * b, 4 * ones(2), 4 * b]", "seen(both), [2 * ones(2), None, b, a]", "seen(first), [2 * ones(2)]"),
    *("seen(twice), [20 * a * b, 20 * a * b + 1]", "seen(edge), [0, 4 * a]", "seen(duals), [a * a, 2 * a * b, None]", "seen(several), [2 * a + b * b, a * b, b + 1, a]", "seen(unused), [ones(2), None, ones(2), zeros(2)]"),
    *("seen(again), [3 * a * a, 6 * a]", "seen(retained), [4 * a, 8 * a, True, False]", "seen(places), [True, False, 0, False, True, True, False, True, [0, 0]]", "seen(off), [False, True, False, False, True, False]"),
]  # fmt: skip


@pytest.mark.parametrize(("begin", "pairs"), [(BEGIN, TRANSFORMS), (BEGIN + RULES_BEGIN, [*RULES, *ELEMENTS])], ids=["transforms", "rules"])  # fmt: skip
def test_derivatives_are_those_known_by_hand(begin, pairs):
    text = begin + "".join(
        f"try: print('yes' if same({pair}) else [{pair}])\nexcept Exception as error: print(error)\n"
        for pair in pairs
    )
    found = list(load(text).run().printed)
    wrong = [both for both in zip(pairs, found, strict=False) if both[1] != "yes"]
    assert found == ["yes"] * len(pairs), wrong
