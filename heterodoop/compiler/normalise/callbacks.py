"""Pass `callbacks`: qsort and bsearch with a comparator that stands there by its name become calls of functions of ours,
which call it directly: so every analysis sees what a comparator is given, and does.

The functions do as glibc does. `bsearch` halves as its header's code. `qsort` is its merge sort: the two halves, then their
merging, with the first of two equal elements first; which comparisons that makes, on which elements, follows from what the
comparator says, so that also one that is no order (`return a > b`) gives the same. What the comparisons have found is
kept by the lane (runtime/device/lane/sort.cuh), and the elements are moved when all are done: to a comparator that is the
same, as long as it looks at elements and not at their addresses.

Not here: comparators in variables (HD224).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..ir import build, ir
from ..ir import walk as ir_walk
from ..ir.read import read_ir
from ..types import ctype

SORT_CALLS = ("__hd_sort_begin", "__hd_sort_next", "__hd_sort_left", "__hd_sort_right", "__hd_sort_put", "__hd_sort_end")
_COMPARATOR = {"qsort": 3, "bsearch": 4}  # its place among the arguments
_TEXT = """
extern unsigned long __hd_sort_begin(unsigned long, unsigned long);
extern int __hd_sort_next(unsigned long);
extern unsigned long __hd_sort_left(unsigned long);
extern unsigned long __hd_sort_right(unsigned long);
extern void __hd_sort_put(unsigned long, int);
extern void __hd_sort_end(unsigned long, void *, unsigned long, unsigned long);
extern int compare(const void *, const void *);
static int main(void);
static void qsort(void *base, unsigned long n, unsigned long size);
static void *bsearch(const void *key, const void *base, unsigned long n, unsigned long size);
static int main(void)
{
  char *line;
#pragma mapreduce mapper key(line) value(line) keylength(1) vallength(1)
  {
  }
  return 0;
}
static void qsort(void *base, unsigned long n, unsigned long size)
{
  unsigned long sort = __hd_sort_begin(n, size);
  while (__hd_sort_next(sort)) {
    const void *left = (const void *)((const char *)base + __hd_sort_left(sort) * size);
    const void *right = (const void *)((const char *)base + __hd_sort_right(sort) * size);
    __hd_sort_put(sort, compare(left, right));
  }
  __hd_sort_end(sort, base, n, size);
}
static void *bsearch(const void *key, const void *base, unsigned long n, unsigned long size)
{
  unsigned long low = 0UL;
  unsigned long high = n;
  while (low < high) {
    unsigned long middle = (low + high) / 2UL;
    const void *element = (const void *)((const char *)base + middle * size);
    int order = compare(key, element);
    if (order < 0) {
      high = middle;
    } else {
      if (order > 0) {
        low = middle + 1UL;
      } else {
        return (void *)element;
      }
    }
  }
  return (void *)0L;
}
"""


def callbacks(program: ir.Program) -> ir.Program:
    """The same object where the program neither sorts nor searches so."""
    maker = _Maker(program)
    changed = ir_walk.map_functions(program, maker.change)
    if changed is program:
        return program
    externs = {s.name: s for s in (*program.externs, *maker.externs)}
    return replace(changed, functions=(*changed.functions, *maker.functions), externs=tuple(externs.values()))


def made_of(name: str) -> str:
    """The library function that a function of ours does the work of, "" for any other."""
    library = name.partition("$")[0]
    return library if library in _COMPARATOR and library != name else ""


def _of_addresses(node: Any) -> bool:
    return isinstance(node, ir.Binary) and node.op in ("-", "<", ">", "<=", ">=") and isinstance(
        node.left.type, ctype.Pointer) and isinstance(node.right.type, ctype.Pointer)


class _Maker:
    """functions: ours, one for each call, so that each sees its own arguments; externs: what they call."""

    def __init__(self, program: ir.Program) -> None:
        self._own = {f.name: f.type for f in program.functions}
        self._bodies = {f.name: f.body for f in program.functions}
        self._library = {s.name: s.type for s in program.externs if isinstance(s.type, ctype.Func) and s.storage == "extern"}
        self.functions: list[ir.Function] = []
        self.externs: tuple[ir.Symbol, ...] = ()
        self._read: ir.Program | None = None

    def change(self, function: str, node: Any) -> Any:
        name = ir.called(node) if isinstance(node, ir.Call) else ""
        if name not in _COMPARATOR or name in self._own or len(node.args) != _COMPARATOR[name] + 1:
            return node
        compare = ir_walk.uncast(node.args[-1])
        if not isinstance(compare, ir.Decay) or not isinstance(compare.operand, ir.Name) or not self._fits(compare.operand):
            return node
        made = self._made(name, compare.operand, node)
        callee = ir.Name(made.type, made.name, span=node.callee.span)
        args = tuple(build.cast(kind, arg) for kind, arg in zip(made.type.params, node.args, strict=False))
        return ir.Call(node.type, build.decay(callee), args, span=node.span)

    def _fits(self, compare: ir.Name) -> bool:
        """Is it a function of two pointers that gives an int, and does not ask which of them is the lower one?"""
        kind = self._own.get(compare.name) or self._library.get(compare.name)
        if compare.name in self._bodies and any(map(_of_addresses, ir_walk.walk(self._bodies[compare.name]))):
            return False
        if not isinstance(kind, ctype.Func) or kind.result != ctype.INT or kind.variadic or len(kind.params) != 2:
            return False
        return all(isinstance(param, ctype.Pointer) for param in kind.params)

    def _made(self, name: str, compare: ir.Name, node: ir.Call) -> ir.Function:
        given = self._given()
        found = given.by_name[name]
        kind = self._own.get(compare.name) or self._library[compare.name]
        assert isinstance(kind, ctype.Func)

        def change(part: Any) -> Any:
            if isinstance(part, ir.Call) and ir.called(part) == "compare":
                args = tuple(build.cast(to, arg) for to, arg in zip(kind.params, part.args, strict=True))
                return ir.Call(part.type, build.decay(ir.Name(kind, compare.name)), args, span=node.span)
            own = isinstance(part, (ir.Expr, ir.Stmt))
            return replace(part, number=ir.Numbered().number, span=node.span) if own else part

        body = ir_walk.rewrite(found.body, change)
        number = sum(made_of(f.name) == name for f in self.functions) + 1
        made = replace(found, name=f"{name}${number}_{compare.name}", body=body, span=node.span)
        self.functions.append(made)
        return made

    def _given(self) -> ir.Program:
        """What the text stands for, read when it is first needed."""
        if self._read is None:
            self._read = read_ir(_TEXT)
            self.externs = tuple(s for s in self._read.externs if s.name in SORT_CALLS)
        return self._read
