"""loss.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Apply, Builtin, Const, Copy, Define, DefineClass, Function, GetAttribute, Handler, Imported, Method, Parameter, Return, SetAttribute, Slot, Super, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('loss.grad', ''), Function('<program>', (), [Define(S, 4, Function('MSELoss.__init__', (Parameter('self', 6, None, S, ''), Parameter('reduction', 7, Const('mean', S), S, ''), ), [Super(S, 8, Slot(3, S), Slot(6, S)),
Method(S, 8, Slot(8, S), '__init__', (), ()),
SetAttribute(S, Slot(6, S), 'reduction', Slot(7, S)),
], (6, 7, 8, ), (3, ), S)),
Define(S, 5, Function('MSELoss.forward', (Parameter('self', 9, None, S, ''), Parameter('input', 10, None, S, ''), Parameter('target', 11, None, S, ''), ), [GetAttribute(S, 12, Slot(9, S), 'reduction'),
Apply(S, 12, 'mse_loss', (('input', Slot(10, S), ), ('target', Slot(11, S), ), ('reduction', Slot(12, S), ), )),
Return(S, Slot(12, S)),
], (9, 10, 11, 12, ), (), S)),
DefineClass(S, 3, 'MSELoss', (Imported('torch.nn.Module', S), ), (('__init__', Slot(4, S), ), ('forward', Slot(5, S), ), )),
Copy(S, 1, Slot(3, S)),
Define(S, 14, Function('CrossEntropyLoss.__init__', (Parameter('self', 16, None, S, ''), Parameter('weight', 17, Const(None, S), S, ''), Parameter('ignore_index', 18, Const(-100, S), S, ''), Parameter('reduction', 19, Const('mean', S), S, ''), Parameter('label_smoothing', 20, Const(0.0, S), S, ''), ), [Super(S, 21, Slot(13, S), Slot(16, S)),
Method(S, 21, Slot(21, S), '__init__', (), ()),
SetAttribute(S, Slot(16, S), 'weight', Slot(17, S)),
SetAttribute(S, Slot(16, S), 'ignore_index', Slot(18, S)),
SetAttribute(S, Slot(16, S), 'reduction', Slot(19, S)),
SetAttribute(S, Slot(16, S), 'label_smoothing', Slot(20, S)),
], (16, 17, 18, 19, 20, 21, ), (13, ), S)),
Define(S, 15, Function('CrossEntropyLoss.forward', (Parameter('self', 22, None, S, ''), Parameter('input', 23, None, S, ''), Parameter('target', 24, None, S, ''), ), [GetAttribute(S, 25, Slot(22, S), 'weight'),
GetAttribute(S, 26, Slot(22, S), 'ignore_index'),
GetAttribute(S, 27, Slot(22, S), 'reduction'),
GetAttribute(S, 28, Slot(22, S), 'label_smoothing'),
Apply(S, 25, 'cross_entropy', (('input', Slot(23, S), ), ('target', Slot(24, S), ), ('weight', Slot(25, S), ), ('ignore_index', Slot(26, S), ), ('reduction', Slot(27, S), ), ('label_smoothing', Slot(28, S), ), )),
Return(S, Slot(25, S)),
], (22, 23, 24, 25, 26, 27, 28, ), (), S)),
DefineClass(S, 13, 'CrossEntropyLoss', (Imported('torch.nn.Module', S), ), (('__init__', Slot(14, S), ), ('forward', Slot(15, S), ), )),
Copy(S, 2, Slot(13, S)),
], (1, 2, 3, 4, 5, 13, 14, 15, ), (), S), {'MSELoss': 1, 'CrossEntropyLoss': 2}, {1: 'MSELoss', 2: 'CrossEntropyLoss', 6: 'self', 7: 'reduction', 9: 'self', 10: 'input', 11: 'target', 16: 'self', 17: 'weight', 18: 'ignore_index', 19: 'reduction', 20: 'label_smoothing', 22: 'self', 23: 'input', 24: 'target'}, (), None, 'result', frozenset())
