"""saving.grad, as a program of ops: `python -m gradcli.ahead` writes this."""

from gradcli.ir import Builtin, Const, Copy, Define, DefineClass, Function, Handler, Imported, Parameter, Return, SetAttribute, Slot, Program
from gradcli.source import Source, Span

S = Span(0, 0)
PROGRAM = Program(Source('saving.grad', ''), Function('<program>', (), [Define(S, 3, Function('save_on_cpu.__init__', (Parameter('self', 6, None, S, ''), Parameter('pin_memory', 7, Const(False, S), S, ''), Parameter('device_type', 8, Const('cuda', S), S, ''), ), [SetAttribute(S, Slot(6, S), 'pin_memory', Slot(7, S)),
], (6, 7, 8, ), (), S)),
Define(S, 4, Function('save_on_cpu.__enter__', (Parameter('self', 9, None, S, ''), ), [Return(S, Const(None, S)),
], (9, ), (), S)),
Define(S, 5, Function('save_on_cpu.__exit__', (Parameter('self', 10, None, S, ''), Parameter('kind', 11, None, S, ''), Parameter('error', 12, None, S, ''), Parameter('trace', 13, None, S, ''), ), [Return(S, Const(False, S)),
], (10, 11, 12, 13, ), (), S)),
DefineClass(S, 2, 'save_on_cpu', (), (('__init__', Slot(3, S), ), ('__enter__', Slot(4, S), ), ('__exit__', Slot(5, S), ), )),
Copy(S, 1, Slot(2, S)),
], (1, 2, 3, 4, 5, ), (), S), {'save_on_cpu': 1}, {1: 'save_on_cpu', 6: 'self', 7: 'pin_memory', 8: 'device_type', 9: 'self', 10: 'self', 11: 'kind', 12: 'error', 13: 'trace'}, (), None, 'result', frozenset())
