"""Functions that may end without a return although their value is used (HD261): C gives such a value no meaning.

A walk over statements: may control reach what follows? Conditions are taken to be open unless they are constants.
"""

from __future__ import annotations

from ...manifest import Reason
from ..ir import ir
from ..ir import walk as ir_walk
from ..ir.call_graph import CallGraph
from ..types import ctype

_LOOPS = (ir.While, ir.DoWhile, ir.For, ir.RecordLoop)


def return_refusals(program: ir.Program, calls: CallGraph) -> tuple[Reason, ...]:
    """The functions that the program reaches, their value used somewhere, whose end can be reached."""
    ends = _Ends(program)
    wanted = set().union(*(_wanted(body) for _, body in ir_walk.bodies(program)))
    reached = calls.around.union(f.name for f in calls.helpers)
    found = []
    for name in sorted(reached & wanted - {"main"}):
        function = program.by_name[name]
        if function.type.result != ctype.VOID and ends.passes(function.body):
            text = f"{name}() may end without a return, and its value is used"
            found.append(Reason("HD261", text, function.span))
    return tuple(found)


def _wanted(body: ir.Block) -> set[str]:
    """Own functions of which a call's value is used."""
    unused = {node.number for part in ir_walk.walk(body) for node in ir_walk.unwanted(part)}
    return {ir.called(n) for n in ir_walk.walk(body) if isinstance(n, ir.Call) and n.number not in unused}


class _Ends:
    """Where control can go in the functions of one program."""

    def __init__(self, program: ir.Program) -> None:
        self._program = program
        self._returning: dict[str, bool] = {}

    def passes(self, node: ir.Stmt) -> bool:
        """May control reach what follows the statement, breaks out of it left out?"""
        if isinstance(node, ir.Block):
            return self._block(node)
        if isinstance(node, ir.If):
            return self._if(node)
        if isinstance(node, _LOOPS):
            return self._loop(node)
        if isinstance(node, ir.Switch):
            default = any(isinstance(n, ir.CaseLabel) and n.value is None for n in ir_walk.walk(node.body))
            return not default or _breaks(node.body) or self.passes(node.body)
        if isinstance(node, ir.ExprStmt):
            return not self._ends_program(node.expr)
        return not isinstance(node, (ir.Return, ir.Break, ir.Continue, ir.Goto))

    def _block(self, block: ir.Block) -> bool:
        """A label inside may be reached from anywhere."""
        open_ = True
        for stmt in block.body:
            labelled = any(isinstance(n, (ir.CaseLabel, ir.Label)) for n in ir_walk.walk(stmt))
            open_ = (open_ or labelled) and self.passes(stmt)
        return open_

    def _if(self, node: ir.If) -> bool:
        if isinstance(node.cond, ir.Const):
            chosen = node.then if node.cond.value else node.other
            return chosen is None or self.passes(chosen)
        return node.other is None or self.passes(node.then) or self.passes(node.other)

    def _loop(self, node: ir.While | ir.DoWhile | ir.For | ir.RecordLoop) -> bool:
        if _breaks(node.body):
            return True
        endless = node.cond is None or (isinstance(node.cond, ir.Const) and bool(node.cond.value))
        if endless or not isinstance(node, ir.DoWhile):
            return not endless
        return self.passes(node.body) or any(isinstance(n, ir.Continue) for n in ir_walk.walk(node.body))

    def _ends_program(self, node: ir.Expr) -> bool:
        """exit, abort, what never comes back."""
        plain = ir_walk.uncast(node)
        if isinstance(plain, ir.Exit):
            return True
        if not isinstance(plain, ir.Call):
            return False
        name = ir.called(plain)
        return name == "__builtin_unreachable" or (name in self._program.by_name and not self._returns(name))

    def _returns(self, name: str) -> bool:
        if name not in self._returning:
            self._returning[name] = True
            body = self._program.by_name[name].body
            returns = any(isinstance(n, ir.Return) for n in ir_walk.walk(body))
            self._returning[name] = returns or self.passes(body)
        return self._returning[name]


def _breaks(node: ir.Node) -> bool:
    """Does a break stand in a body that leaves its own loop or switch?"""
    for part in ir_walk.children(node):
        if isinstance(part, ir.Break):
            return True
        if isinstance(part, ir.Stmt) and not isinstance(part, (*_LOOPS, ir.Switch)) and _breaks(part):
            return True
    return False
