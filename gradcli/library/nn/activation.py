"""activation.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Apply, Builtin, Const, Copy, Define, DefineClass, Function, Handler, Imported, Method, Parameter, Return, Slot, Super, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('activation.grad', ''), Function('<program>', (), [Define(S, 5, Function('ReLU.__init__', (Parameter('self', 7, None, S, ''), Parameter('inplace', 8, Const(False, S), S, ''), ), [Super(S, 9, Slot(4, S), Slot(7, S)),
Method(S, 9, Slot(9, S), '__init__', (), ()),
], (7, 8, 9, ), (4, ), S)),
Define(S, 6, Function('ReLU.forward', (Parameter('self', 10, None, S, ''), Parameter('x', 11, None, S, ''), ), [Apply(S, 12, 'relu', (('input', Slot(11, S), ), )),
Return(S, Slot(12, S)),
], (10, 11, 12, ), (), S)),
DefineClass(S, 4, 'ReLU', (Imported('torch.nn.Module', S), ), (('__init__', Slot(5, S), ), ('forward', Slot(6, S), ), )),
Copy(S, 1, Slot(4, S)),
Define(S, 14, Function('Sigmoid.forward', (Parameter('self', 15, None, S, ''), Parameter('x', 16, None, S, ''), ), [Apply(S, 17, 'sigmoid', (('input', Slot(16, S), ), )),
Return(S, Slot(17, S)),
], (15, 16, 17, ), (), S)),
DefineClass(S, 13, 'Sigmoid', (Imported('torch.nn.Module', S), ), (('forward', Slot(14, S), ), )),
Copy(S, 2, Slot(13, S)),
Define(S, 19, Function('Tanh.forward', (Parameter('self', 20, None, S, ''), Parameter('x', 21, None, S, ''), ), [Apply(S, 22, 'tanh', (('input', Slot(21, S), ), )),
Return(S, Slot(22, S)),
], (20, 21, 22, ), (), S)),
DefineClass(S, 18, 'Tanh', (Imported('torch.nn.Module', S), ), (('forward', Slot(19, S), ), )),
Copy(S, 3, Slot(18, S)),
], (1, 2, 3, 4, 5, 6, 13, 14, 18, 19, ), (), S), {'ReLU': 1, 'Sigmoid': 2, 'Tanh': 3}, {1: 'ReLU', 2: 'Sigmoid', 3: 'Tanh', 7: 'self', 8: 'inplace', 10: 'self', 11: 'x', 15: 'self', 16: 'x', 20: 'self', 21: 'x'}, (), None, 'result', frozenset())
