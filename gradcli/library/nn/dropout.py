"""dropout.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Apply, Branch, Build, Builtin, Call, Choice, Const, Copy, Define, DefineClass, Format, Function, GetAttribute, Handler, Imported, Method, Operator, Parameter, Raise, Return, SetAttribute, Slot, Super, Yield, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('dropout.grad', ''), Function('<program>', (), [Define(S, 3, Function('Dropout.__init__', (Parameter('self', 6, None, S, ''), Parameter('p', 7, Const(0.5, S), S, ''), Parameter('inplace', 8, Const(False, S), S, ''), ), [Super(S, 9, Slot(2, S), Slot(6, S)),
Method(S, 9, Slot(9, S), '__init__', (), ()),
Operator(S, 9, '<', (Slot(7, S), Const(0, S), )),
Choice(S, 9, 'or', Slot(9, S), [Yield(S, Slot(9, S)),
], [Operator(S, 9, '>', (Slot(7, S), Const(1, S), )),
Yield(S, Slot(9, S)),
]),
Branch(S, Slot(9, S), [Format(S, 10, Slot(7, S), '', Const('', S)),
Build(S, 10, 'text', (Const('dropout probability has to be between 0 and 1, but got ', S), Slot(10, S), )),
Call(S, 10, Imported('ValueError', S), (Slot(10, S), ), ()),
Raise(S, Slot(10, S)),
], []),
SetAttribute(S, Slot(6, S), 'p', Slot(7, S)),
], (6, 7, 8, 9, 10, ), (2, ), S)),
Define(S, 4, Function('Dropout.forward', (Parameter('self', 11, None, S, ''), Parameter('x', 12, None, S, ''), ), [GetAttribute(S, 13, Slot(11, S), 'p'),
GetAttribute(S, 14, Slot(11, S), 'training'),
Apply(S, 13, 'dropout', (('input', Slot(12, S), ), ('p', Slot(13, S), ), ('training', Slot(14, S), ), )),
Return(S, Slot(13, S)),
], (11, 12, 13, 14, ), (), S)),
Define(S, 5, Function('Dropout.extra_repr', (Parameter('self', 15, None, S, ''), ), [GetAttribute(S, 16, Slot(15, S), 'p'),
Format(S, 16, Slot(16, S), '', Const('', S)),
Build(S, 16, 'text', (Const('p=', S), Slot(16, S), Const(', inplace=False', S), )),
Return(S, Slot(16, S)),
], (15, 16, ), (), S)),
DefineClass(S, 2, 'Dropout', (Imported('torch.nn.Module', S), ), (('__init__', Slot(3, S), ), ('forward', Slot(4, S), ), ('extra_repr', Slot(5, S), ), )),
Copy(S, 1, Slot(2, S)),
], (1, 2, 3, 4, 5, ), (), S), {'Dropout': 1}, {1: 'Dropout', 6: 'self', 7: 'p', 8: 'inplace', 11: 'self', 12: 'x', 15: 'self'}, (), None, 'result', frozenset())
