"""HD1xx: directives."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
    "HD101": Entry(
        "directive not understood",
        "A `#pragma mapreduce` line holds a word that is neither a directive (mapper, combiner) nor a clause, or "
        "names no directive at all, or the pragma itself is misspelt.",
        "Write `#pragma mapreduce mapper ...` before the record loop of map.c, `#pragma mapreduce combiner ...` "
        "in combine.c. Reduce programs need no directive.",
    ),
    "HD102": Entry(
        "mapper and combiner in one directive",
        "A directive attaches to one loop, which is either the map or the combine operation.",
        "Keep the map and the combine program in files of their own, each with its directive.",
    ),
    "HD103": Entry(
        "unknown clause",
        "The directive has a clause that does not exist. Names are case sensitive.",
        "Use the suggested name; docs/directives.md lists all clauses.",
    ),
    "HD104": Entry(
        "required clause missing",
        "`key` is always required, `keyin` on a combiner, and `valuein` where the combiner's loop does not show it;"
        " `keylength` or `vallength` where the variable is a pointer, so that its type does not tell its length.",
        "Add the clause. Lengths count elements, for a string with its final NUL.",
    ),
    "HD105": Entry(
        "given twice",
        "A clause, a directive word or a name in a clause's list stands twice.",
        "Remove one of them; lists take several names: firstprivate(a, b).",
    ),
    "HD106": Entry(
        "clause malformed",
        "A clause lacks its brackets or an argument, has an empty argument or too many, or an expression where a "
        "variable's name belongs.",
        "Write name(argument); put an expression's value into a variable first.",
    ),
    "HD107": Entry(
        "clause in the wrong place",
        "`keyin` and `valuein` belong on a combiner, `kvpairs` on a mapper.",
        "Remove the clause, or check that the directive stands in the right program.",
    ),
    "HD108": Entry(
        "brace on the directive's line",
        "A `{` at the end of the directive's line is part of the pragma for the C compiler, which then misses the "
        "opening brace.",
        "Put the `{` on the next line.",
    ),
    "HD109": Entry(
        "directive in a header",
        "A header can be read by several programs, and its loops belong to none of them.",
        "Put the directive, and its loop, into the file that is compiled.",
    ),
    "HD110": Entry(
        "directive without its loop",
        "A mapper directive stands before the loop that reads the records; a combiner directive before the loop, "
        "or a block that holds the loop and the output after it.",
        "Move the directive to the line before the loop; nothing may stand between them.",
    ),
    "HD111": Entry(
        "variable not declared",
        "A clause names something that is not declared where the directive stands. The key and the value of a mapper, and "
        "what a combiner reads a pair into, may be declared in the loop, too.",
        "Declare the variable before the directive, or correct its name.",
    ),
    "HD112": Entry(
        "not a variable",
        "A clause names a function, a type or an enumerator.",
        "Name the variable that holds the data.",
    ),
    "HD113": Entry(
        "contradictory clauses",
        "A variable stands in clauses that exclude each other: copied for every record and shared, or written and "
        "only read.",
        "Keep it in one of them.",
    ),
    "HD114": Entry(
        "not a constant",
        "Lengths and launch sizes are needed before the program runs: the argument must be an integer constant "
        "expression. Macros are expanded as they stand at the directive.",
        "Use a number, a macro, an enumerator, sizeof, a `const` integer, or an expression of these.",
    ),
    "HD115": Entry(
        "out of range",
        "A length or count is below 1 or above what a GPU can do (1024 threads in a block).",
        "Use a number in the range that the message says.",
    ),
    "HD116": Entry(
        "length differs from the variable",
        "keylength or vallength is not the length of the array it is about. Lengths count elements: 1 for an int, "
        "the array's length for a string.",
        "Give the array's length, or drop the clause: it is derived from the array's type.",
    ),
    "HD117": Entry(
        "threads not a multiple of 32",
        "A GPU runs threads in warps of 32; the rest of the last warp idles.",
        "Use a multiple of 32.",
    ),
    "HD118": Entry(
        "more than one directive",
        "A program has one record loop, so it has one directive.",
        "Remove the others, or split the program.",
    ),
    "HD119": Entry(
        "directive in the wrong program",
        "A map program has a combiner directive, or the reverse, or a reduce program has any.",
        "Check the order of the files given to `heterodoop compile`; remove directives from reduce programs.",
    ),
    "HD120": Entry(
        "variable of the wrong type",
        "Keys and values are numbers, or arrays of or pointers to numbers or characters; `texture` takes arrays "
        "of or pointers to numbers.",
        "Copy the member or element that you mean into a variable of such a type.",
    ),
    "HD121": Entry(
        "directive outside of a function",
        "A directive belongs to a loop, and loops stand in functions.",
        "Put it before the record loop.",
    ),
}
