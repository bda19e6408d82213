"""softmax.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Apply, Build, Builtin, Const, Copy, Define, DefineClass, Format, Function, GetAttribute, Handler, Imported, Method, Parameter, Return, SetAttribute, Slot, Super, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('softmax.grad', ''), Function('<program>', (), [Define(S, 4, Function('Softmax.__init__', (Parameter('self', 7, None, S, ''), Parameter('dim', 8, Const(None, S), S, ''), ), [Super(S, 9, Slot(3, S), Slot(7, S)),
Method(S, 9, Slot(9, S), '__init__', (), ()),
SetAttribute(S, Slot(7, S), 'dim', Slot(8, S)),
], (7, 8, 9, ), (3, ), S)),
Define(S, 5, Function('Softmax.forward', (Parameter('self', 10, None, S, ''), Parameter('x', 11, None, S, ''), ), [GetAttribute(S, 12, Slot(10, S), 'dim'),
Apply(S, 12, 'softmax', (('input', Slot(11, S), ), ('dim', Slot(12, S), ), )),
Return(S, Slot(12, S)),
], (10, 11, 12, ), (), S)),
Define(S, 6, Function('Softmax.extra_repr', (Parameter('self', 13, None, S, ''), ), [GetAttribute(S, 14, Slot(13, S), 'dim'),
Format(S, 14, Slot(14, S), '', Const('', S)),
Build(S, 14, 'text', (Const('dim=', S), Slot(14, S), )),
Return(S, Slot(14, S)),
], (13, 14, ), (), S)),
DefineClass(S, 3, 'Softmax', (Imported('torch.nn.Module', S), ), (('__init__', Slot(4, S), ), ('forward', Slot(5, S), ), ('extra_repr', Slot(6, S), ), )),
Copy(S, 1, Slot(3, S)),
Define(S, 16, Function('LogSoftmax.__init__', (Parameter('self', 19, None, S, ''), Parameter('dim', 20, Const(None, S), S, ''), ), [Super(S, 21, Slot(15, S), Slot(19, S)),
Method(S, 21, Slot(21, S), '__init__', (), ()),
SetAttribute(S, Slot(19, S), 'dim', Slot(20, S)),
], (19, 20, 21, ), (15, ), S)),
Define(S, 17, Function('LogSoftmax.forward', (Parameter('self', 22, None, S, ''), Parameter('x', 23, None, S, ''), ), [GetAttribute(S, 24, Slot(22, S), 'dim'),
Apply(S, 24, 'log_softmax', (('input', Slot(23, S), ), ('dim', Slot(24, S), ), )),
Return(S, Slot(24, S)),
], (22, 23, 24, ), (), S)),
Define(S, 18, Function('LogSoftmax.extra_repr', (Parameter('self', 25, None, S, ''), ), [GetAttribute(S, 26, Slot(25, S), 'dim'),
Format(S, 26, Slot(26, S), '', Const('', S)),
Build(S, 26, 'text', (Const('dim=', S), Slot(26, S), )),
Return(S, Slot(26, S)),
], (25, 26, ), (), S)),
DefineClass(S, 15, 'LogSoftmax', (Imported('torch.nn.Module', S), ), (('__init__', Slot(16, S), ), ('forward', Slot(17, S), ), ('extra_repr', Slot(18, S), ), )),
Copy(S, 2, Slot(15, S)),
], (1, 2, 3, 4, 5, 6, 15, 16, 17, 18, ), (), S), {'Softmax': 1, 'LogSoftmax': 2}, {1: 'Softmax', 2: 'LogSoftmax', 7: 'self', 8: 'dim', 10: 'self', 11: 'x', 13: 'self', 19: 'self', 20: 'dim', 22: 'self', 23: 'x', 25: 'self'}, (), None, 'result', frozenset())
