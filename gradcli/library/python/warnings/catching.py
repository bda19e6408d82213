"""catching.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Build, Builtin, Choice, Const, Copy, Define, DefineClass, Function, GetAttribute, Handler, Imported, Parameter, Return, SetAttribute, Slot, Yield, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('catching.grad', ''), Function('<program>', (), [Define(S, 3, Function('catch_warnings.__init__', (Parameter('self', 6, None, S, ''), Parameter('record', 7, Const(False, S), S, ''), Parameter('settings', 8, None, S, '**'), ), [SetAttribute(S, Slot(6, S), 'record', Slot(7, S)),
], (6, 7, 8, ), (), S)),
Define(S, 4, Function('catch_warnings.__enter__', (Parameter('self', 9, None, S, ''), ), [GetAttribute(S, 11, Slot(9, S), 'record'),
Choice(S, 10, 'if', Slot(11, S), [Build(S, 12, 'list', ()),
Yield(S, Slot(12, S)),
], [Yield(S, Const(None, S)),
]),
Return(S, Slot(10, S)),
], (9, 10, 11, 12, ), (), S)),
Define(S, 5, Function('catch_warnings.__exit__', (Parameter('self', 13, None, S, ''), Parameter('kind', 14, None, S, ''), Parameter('error', 15, None, S, ''), Parameter('trace', 16, None, S, ''), ), [Return(S, Const(False, S)),
], (13, 14, 15, 16, ), (), S)),
DefineClass(S, 2, 'catch_warnings', (), (('__init__', Slot(3, S), ), ('__enter__', Slot(4, S), ), ('__exit__', Slot(5, S), ), )),
Copy(S, 1, Slot(2, S)),
], (1, 2, 3, 4, 5, ), (), S), {'catch_warnings': 1}, {1: 'catch_warnings', 6: 'self', 7: 'record', 8: 'settings', 9: 'self', 13: 'self', 14: 'kind', 15: 'error', 16: 'trace'}, (), None, 'result', frozenset())
