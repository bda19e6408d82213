"""attention.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Apply, Branch, Builtin, CallBuiltin, Choice, Const, Copy, Define, Function, GetAttribute, Handler, Imported, Method, Operator, Parameter, Return, Slot, Yield, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('attention.grad', ''), Function('<program>', (), [Define(S, 1, Function('scaled_dot_product_attention', (Parameter('query', 2, None, S, ''), Parameter('key', 3, None, S, ''), Parameter('value', 4, None, S, ''), Parameter('attn_mask', 5, Const(None, S), S, ''), Parameter('dropout_p', 6, Const(0.0, S), S, ''), Parameter('is_causal', 7, Const(False, S), S, ''), Parameter('scale', 8, Const(None, S), S, ''), Parameter('enable_gqa', 9, Const(False, S), S, ''), ), [Operator(S, 14, 'is', (Slot(8, S), Const(None, S), )),
Choice(S, 13, 'if', Slot(14, S), [Method(S, 15, Slot(2, S), 'size', (Const(-1, S), ), ()),
Apply(S, 15, 'sqrt', (('input', Slot(15, S), ), )),
Operator(S, 15, '/', (Const(1, S), Slot(15, S), )),
Yield(S, Slot(15, S)),
], [Yield(S, Slot(8, S)),
]),
Copy(S, 10, Slot(13, S)),
Apply(S, 13, 'transpose', (('input', Slot(3, S), ), ('dim0', Const(-2, S), ), ('dim1', Const(-1, S), ), )),
Operator(S, 13, '@', (Slot(2, S), Slot(13, S), )),
Operator(S, 11, '*', (Slot(13, S), Slot(10, S), )),
Branch(S, Slot(7, S), [Method(S, 13, Slot(2, S), 'size', (Const(-2, S), ), ()),
Method(S, 14, Slot(3, S), 'size', (Const(-2, S), ), ()),
CallBuiltin(S, 13, 'ones', (Slot(13, S), Slot(14, S), ), (('dtype', Builtin('bool', S), ), )),
Apply(S, 5, 'tril', (('input', Slot(13, S), ), )),
], []),
Operator(S, 13, 'is not', (Slot(5, S), Const(None, S), )),
Branch(S, Slot(13, S), [GetAttribute(S, 14, Slot(5, S), 'dtype'),
Operator(S, 14, '==', (Slot(14, S), Builtin('bool', S), )),
Branch(S, Slot(14, S), [Operator(S, 15, '~', (Slot(5, S), )),
CallBuiltin(S, 16, 'float', (Const('inf', S), ), ()),
Operator(S, 16, '-', (Slot(16, S), )),
Apply(S, 11, 'masked_fill', (('input', Slot(11, S), ), ('mask', Slot(15, S), ), ('value', Slot(16, S), ), )),
], [Operator(S, 11, '+', (Slot(11, S), Slot(5, S), )),
]),
], []),
Apply(S, 13, 'softmax', (('input', Slot(11, S), ), ('dim', Const(-1, S), ), )),
Operator(S, 14, '>', (Slot(6, S), Const(0, S), )),
Apply(S, 12, 'dropout', (('input', Slot(13, S), ), ('p', Slot(6, S), ), ('training', Slot(14, S), ), )),
Operator(S, 13, '@', (Slot(12, S), Slot(4, S), )),
Return(S, Slot(13, S)),
], (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, ), (), S)),
], (1, ), (), S), {'scaled_dot_product_attention': 1}, {1: 'scaled_dot_product_attention', 2: 'query', 3: 'key', 4: 'value', 5: 'attn_mask', 6: 'dropout_p', 7: 'is_causal', 8: 'scale', 9: 'enable_gqa', 10: 'factor', 11: 'scores', 12: 'weights'}, (), None, 'result', frozenset())
