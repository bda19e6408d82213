"""embedding.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Apply, Build, Builtin, CallBuiltin, Const, Copy, Define, DefineClass, Format, Function, GetAttribute, Handler, Imported, Method, Parameter, Return, SetAttribute, Slot, Super, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('embedding.grad', ''), Function('<program>', (), [Define(S, 3, Function('Embedding.__init__', (Parameter('self', 6, None, S, ''), Parameter('num_embeddings', 7, None, S, ''), Parameter('embedding_dim', 8, None, S, ''), ), [Super(S, 9, Slot(2, S), Slot(6, S)),
Method(S, 9, Slot(9, S), '__init__', (), ()),
SetAttribute(S, Slot(6, S), 'num_embeddings', Slot(7, S)),
SetAttribute(S, Slot(6, S), 'embedding_dim', Slot(8, S)),
CallBuiltin(S, 9, 'randn', (Slot(7, S), Slot(8, S), ), ()),
Apply(S, 9, 'Parameter', (('data', Slot(9, S), ), )),
SetAttribute(S, Slot(6, S), 'weight', Slot(9, S)),
], (6, 7, 8, 9, ), (2, ), S)),
Define(S, 4, Function('Embedding.forward', (Parameter('self', 10, None, S, ''), Parameter('x', 11, None, S, ''), ), [GetAttribute(S, 12, Slot(10, S), 'weight'),
Apply(S, 12, 'embedding', (('input', Slot(11, S), ), ('weight', Slot(12, S), ), )),
Return(S, Slot(12, S)),
], (10, 11, 12, ), (), S)),
Define(S, 5, Function('Embedding.extra_repr', (Parameter('self', 13, None, S, ''), ), [GetAttribute(S, 14, Slot(13, S), 'num_embeddings'),
Format(S, 14, Slot(14, S), '', Const('', S)),
GetAttribute(S, 15, Slot(13, S), 'embedding_dim'),
Format(S, 15, Slot(15, S), '', Const('', S)),
Build(S, 14, 'text', (Slot(14, S), Const(', ', S), Slot(15, S), )),
Return(S, Slot(14, S)),
], (13, 14, 15, ), (), S)),
DefineClass(S, 2, 'Embedding', (Imported('torch.nn.Module', S), ), (('__init__', Slot(3, S), ), ('forward', Slot(4, S), ), ('extra_repr', Slot(5, S), ), )),
Copy(S, 1, Slot(2, S)),
], (1, 2, 3, 4, 5, ), (), S), {'Embedding': 1}, {1: 'Embedding', 6: 'self', 7: 'num_embeddings', 8: 'embedding_dim', 10: 'self', 11: 'x', 13: 'self'}, (), None, 'result', frozenset())
