"""What to do about a refusal whose code stands for several things: by what its message says. Else the code's own `fix`."""

from __future__ import annotations

import re

from . import CODES

# code -> (what the message says, a regular expression; what to do).
REMEDIES: dict[str, tuple[tuple[str, str], ...]] = {
    "HD210": (
        ("filled by the reader", "Let the loop go on only where scanf gives the number of its conversions: == 2."),
        ("no total of what records add",
         "Let the loop only add to the variable, and read it behind the loop; the place is that of what prevents it."),
        ("other than by the reader", "Leave the line's pointer as it is: walk over the line by another one, p = line."),
        ("test the pointer first", "Test the pointer before strtok gets it: if (text == NULL) continue;"),
    ),
    "HD216": (
        ("jumps between functions", "Return a value, and test it where the function is called."),
        ("goto", "Put the label behind the block, or the code into a function that both places call."),
    ),
    "HD221": (
        ("go on from record to record", "Use rand_r with a seed that is made of the record."),
        ("time zone", "Use gmtime and timegm, which are UTC on each machine."),
        ("differs from run to run", "Call it once before the loop, and keep the result in a variable."),
    ),
    "HD222": (("wide characters", "Compare and cut UTF-8 as bytes: those from 128 on belong to longer characters."),),
    "HD223": (
        ("regular expressions", "Use sscanf's %[...], strstr, strspn or strcspn."),
    ),
    "HD226": (
        ("reads from stdin", "Read nothing before the loop. To pass over a header, look in the loop for what it says."),
        ("before the region prints", "Print it in the loop, or leave it out."),
        ("put it in the region's block", "Put brackets around the loop and what prints its last pair."),
        ("the region stands in '", "Move the loop into main(), with the directive before it."),
        ("stands inside a loop", "Take the loop over the records out of the other one."),
        (r"region calls \w+\(\)", "Do without the call."),
    ),
    "HD228": (
        ("past line ends.*fixed width", "Read lines by getline or fgets, and take fields of a fixed width out of each."),
        ("cut each by strtok", "Read lines by getline, and cut each by strtok."),
        ("may stand in the next line", "Read lines by fgets, and take each apart by sscanf or strtok."),
        ("no number it gives 0", "Let the loop go on only where scanf gives the number of its conversions: == 1."),
        (r"feof\(\)", "Let the read be the loop's condition: while (fgets(line, sizeof line, stdin) != NULL)."),
        ("ends just at the end of the input",
         "Test nothing but the read in the loop's condition, and all else in its body."),
    ),
    "HD229": (
        ("files are opened", "Read the file before the loop into an array, and look there."),
        ("programs are started", "Do it before the job, and give its result to the job as a file (--file)."),
        ("streams of one's own", "Walk over the text by a pointer, or take it apart by sscanf."),
        ("not a literal|with a literal format", "Write the format as a literal: printf(\"%s\", text)."),
        ("another stream", "Write to stdout or stderr only."),
        ("asks the operating system", "Ask before the loop, and keep the answer in a variable."),
        ("in the format of|do not fit its format", "Use conversions of standard C, with an argument for each."),
    ),
    "HD235": (
        ("its arguments are a caller's", "Call snprintf, sprintf or sscanf with the arguments themselves."),
        ("variable number of arguments", "Write one function for each number of arguments."),
    ),
    "HD248": (
        ("static variable of", "Declare the variable before main(), under a name of its own."),
        ("memory that the prologue cannot name", "Keep what malloc returned in a pointer variable, or use an array."),
    ),
    "HD249": (
        ("holds pointers",
         "Keep the nodes in one array, and indexes in the place of pointers: int next; for struct node *next;"),
        ("memory of the system", "Copy what the loop needs into an array before it."),
    ),
    "HD304": (
        ("complex number", "Use two doubles."),
        ("computed goto|label as a value", "Use a switch."),
        ("nested function", "Write the function before main(), and give it the variables as parameters."),
        ("pragma pack|attribute packed", "Copy the members by memcpy."),
        ("asm", "Leave it out, or write it in C."),
    ),
    "HD330": (
        ("bit-field", "Use plain members, or masks and shifts."),
        ("long double", "Use double."),
        ("wide string|wide character", "Use strings of bytes."),
        ("case range", "Use an if before the switch."),
        ("of variable length", "Give the array constant dimensions, or compute the index: a[i * columns + j]."),
        ("variable number of arguments", "Write one function for each number of arguments."),
        ("_overflow'", "Test before the operation."),
        ("statement expression", "Write its statements before the statement that it stands in."),
        ("not declared here", "Add the #include that the message names."),
    ),
}


def remedy(code: str, message: str) -> str:
    """What to do about a refusal."""
    found = (text for said, text in REMEDIES.get(code, ()) if re.search(said, message))
    return next(found, CODES[code].fix)
