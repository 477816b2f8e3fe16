"""HD2xx: why a region stays on the CPU."""

from __future__ import annotations

from .entry import NOTHING, Entry

CODES: dict[str, Entry] = {
    "HD201": Entry(
        "reducers run on the CPU",
        "The paper has no directive for reduce: its parallelism lies across partitions, which CPU slots use already.",
        f"{NOTHING}a job's reducers run beside its GPUs, on processors that these leave idle.",
    ),
    "HD202": Entry(
        "a program without a directive",
        "The filter runs on the CPU as it is. A GPU form needs `#pragma mapreduce mapper` or `combiner`"
        " before the record loop,"
        " and a combiner without one is run exactly once per task.",
        "Add the line before the loop, or leave it: the result is the same. What `compile` proposes was tried; keylength is"
        " the bytes of the longest key.",
        line="the directive, before the loop, for a map whose loop and pair show what it is.",
    ),
    "HD210": Entry(
        "state carried from record to record",
        "A variable is read before it is written in the same record (or may be, on some path), and the region writes "
        "it. So a record depends on those before it. On a GPU records run side by side, in no order. The message "
        "names the variable, the read and the write. A variable of integers that records only add to, or keep the "
        "least, the greatest or bits in, is none where nothing in the loop reads it otherwise; where that is all "
        "that is missing, the message says so, and its place is that of what prevents it.",
        "Set the variable at the start of each record if it is meant to be the record's own; read a count or a maximum "
        "over all records behind the loop only. Else leave it: the program runs on the CPU.",
        line="`x = 0;` (or `memset`) where the record begins; `scanf(...) == 2` for `!= EOF`; a test of the pointer before"
        " `strtok`; `before = '\\n'` for `before = 0`.",
    ),
    "HD211": Entry(
        "a read-only variable is written",
        "`sharedRO` and `texture` promise that the region only reads a variable; all records share one copy of "
        "it. The region writes to it.",
        "Take the variable out of the clause, or the write out of the loop.",
    ),
    "HD212": Entry(
        "break leaves the record loop",
        "The records behind the break would have to be dropped, and which ones those are is known only after all "
        "before them ran.",
        "Use `continue` for records to skip; filter with a condition that does not depend on earlier records.",
        line="`continue` for `break`.",
    ),
    "HD213": Entry(
        "return in the record loop",
        "It ends the program before the end of its input, see HD212.",
        "Use `continue`, or `exit(1)` for an error: a task that fails does so on the CPU.",
        line="`exit(1)` for `return 1`, else `continue`.",
    ),
    "HD214": Entry(
        "exit in the record loop that is no failure",
        "exit(0), or a status that is computed, ends the program before the end of its input, see HD212. An exit "
        "with a constant failure status, abort and assert are fine: such a task runs again on the CPU, which "
        "decides.",
        "Use `continue`, or a constant failure status.",
        line="`continue`, or `exit(1)`, for the call.",
    ),
    "HD215": Entry(
        "a second read of the input in one round",
        "The record loop's condition reads the record; reading more of stdin in its body makes records of several "
        "lines, which a split or a GPU thread cannot see.",
        "Make each record one line, or leave it: the program runs on the CPU.",
    ),
    "HD216": Entry(
        "goto, setjmp or longjmp",
        "A goto forward or backward to a label in its own block, or in one around that, is taken. Into a block, over a "
        "case, out of the record loop and between functions is not.",
        "Write the jump as a loop, `break`, `continue` or a function.",
    ),
    "HD217": Entry(
        "recursion that is not followed",
        "A function calls itself, and writes to variables outside itself or passes on pointers to others. What "
        "such calls read and write, in which order, is not known.",
        "Return results instead of writing them, or write the recursion as a loop.",
    ),
    "HD218": Entry(
        "array of variable length",
        "An array of variable length that a mapper's record declares lies in the memory that the record has for itself. Of "
        "one that stands elsewhere, or of which the address is taken as an array's (`&a`), a GPU thread has none.",
        "Take the address of its first element, or give the array a constant length that is long enough.",
        line="`copy` for `&copy`.",
    ),
    "HD219": Entry(
        "memory of unknown size in the record loop",
        "What a record of a mapper allocates by malloc, calloc, realloc, strdup and strndup may have any size. Of a size "
        "that is computed is no memory of aligned_alloc, of a combiner, or of a function that the code before "
        "the loop calls, too.",
        "Use malloc, or an array of constant length; give the loop a function of its own.",
        line="`malloc(n)` for `aligned_alloc(64, n)`.",
    ),
    "HD220": Entry(
        "the environment is used in the record loop",
        "getenv gives the same for every record. Where its name is a string literal, it is called once before the loop by "
        "itself; not where the name is computed, or where the program gets at the environment through environ or main's "
        "third parameter. Setting the environment has no place in the loop.",
        "Write the name as a string literal, or call getenv before the loop and keep its result in a variable.",
    ),
    "HD221": Entry(
        "a call that gives another result each time",
        "Time, random numbers and process ids make a record's output depend on when and where it runs. So CPU and "
        "GPU could not agree, nor would a task that runs again.",
        "Derive such numbers from the record, for example by hashing it.",
        line="`rand_r(&seed)` for `rand()`; `gmtime` for `localtime`, `timegm` for `mktime`; `time(NULL)` before"
        " the directive.",
    ),
    "HD222": Entry(
        "setlocale",
        "Another locale changes what a number looks like and what a letter is. The GPU knows the C locale only.",
        "Leave the call out, or leave it: the program runs on the CPU.",
        line="the call of `setlocale` left out.",
    ),
    "HD223": Entry(
        "a call of a function whose effects are not known",
        "The function has no body in the program and is not in the table of library functions "
        "(heterodoop/compiler/analysis/libc_effects.py), so nobody knows what it reads and writes.",
        "Put the function's source into the same file, or do without it in the loop.",
    ),
    "HD224": Entry(
        "a call through a pointer that is not followed",
        "No function of the program is known to be what the pointer leads to. Of qsort and bsearch the comparator must "
        "stand in the call by its name, and be of the same file or the C library. It looks at the elements, not at their "
        "addresses.",
        "Call the function by its name, or set the pointer to functions by their names; write the comparator's name in the "
        "call.",
    ),
    "HD225": Entry(
        "memory access through a pointer that is not followed",
        "The pointer may point anywhere, so the variables behind it cannot be known.",
        "Use arrays and pointers into them; do not make pointers from integers.",
    ),
    "HD226": Entry(
        "code around the region that does not fit",
        "The code before the region runs once per task on the CPU, and so does the code after it. Neither may read "
        "stdin, and what comes before may not print to stdout, since the pairs of the region come out elsewhere. A mapper "
        "may print behind its region. A combiner's last pair belongs into the region's block; of a fold it may be "
        "printed behind it. The region stands in main, outside of loops.",
        "Put a combiner's loop and its final output into one block behind the directive; move output that comes before "
        "the loop into it.",
        line="brackets around a combiner's loop and what prints its last pair.",
    ),
    "HD227": Entry(
        "code after the region uses what the region writes",
        "On a GPU every thread has its own copy of a variable that the region writes, and none of them is there "
        "afterwards; there is no last record, nor what it left in errno or in strtok(). What all records gather is there: "
        "sums, counts and bits of integers, least and greatest numbers (docs/writing-an-app.md).",
        "Give the variable another value before it is read there, or use it in the loop only. Else leave it: the program "
        "runs on the CPU.",
        line="`x = 0;` before the line that uses it.",
    ),
    "HD228": Entry(
        "no record loop",
        "The region's loop must read one record per round in its condition and end just when the input ends: "
        "getline or fgets on stdin, scanf of words and numbers of a line; a function that does so is the same, and so "
        "is `while (1)` with a `break` behind the read. A test of anything else in the condition "
        "makes another loop of it.",
        "Write the loop as `while ((n = getline(&line, &cap, stdin)) != -1)`.",
        line="`while (fgets(...) != NULL)` for `while (!feof(stdin))` and a read; `scanf(...) == 1` for `!= EOF`.",
    ),
    "HD229": Entry(
        "files, or output of a form that is not known",
        "In the region only stdout and stderr can be written to, with a format that is a literal. Files cannot be "
        "opened, read or written there.",
        "Read files before the loop into arrays; write the format as a literal.",
        line='`printf("%s", text)` for `printf(text)`; `fflush(stdin)` left out.',
    ),
    "HD231": Entry(
        "too many paths",
        "The analysis follows the paths of the region and of the functions it calls up to a limit, and this "
        "region is beyond it. Nothing can be said of its variables then.",
        "Make the loop's body or its helpers simpler, or leave it: the program runs on the CPU.",
    ),
    "HD232": Entry(
        "a library function that the GPU does not have",
        "The message names it. The device library has string.h, ctype.h, the number readers of stdlib.h, sscanf, "
        "sprintf and snprintf. Of math.h it has what is exact (sqrt, fabs, floor, fmod and the like) and what "
        "runtime/math has (exp, log, pow, sin and their kin, with --libm own). Others, and these with --libm system, "
        "would have other last bits than the CPU's, and the output has to be the same bytes.",
        "Do without it in the loop, or leave it: the program runs on the CPU.",
        line=r'`fprintf(stderr, "text\n")` for `perror("text")`.',
    ),
    "HD233": Entry(
        "an output conversion without an exact GPU form",
        "printf, fprintf, sprintf and snprintf treat all conversions of C but %p, %n, %m, wide characters and long "
        "double; and each conversion must be given a value of the type that it prints.",
        "Use another conversion, or cast the argument to the type that the conversion wants.",
        line="the conversion of the value's type: `%ld` for `%d`.",
    ),
    "HD234": Entry(
        "heap memory that does not end with the record",
        "Each record of a mapper has memory of its own for malloc, calloc, realloc, strdup, strndup and free. What was "
        "allocated before the loop, the line's buffer and variables are none of it, and are not freed or resized there; "
        "a combiner's loop has none, and a function that the code around the loop calls, too, belongs to that.",
        "Allocate and free in the same record; give the loop a function of its own.",
        line="`free(line)` left out; `malloc` for `alloca`.",
    ),
    "HD235": Entry(
        "a call of a kind that the GPU text does not have",
        "Functions with a variable number of arguments, and calls of the function that holds the region itself. Through a "
        "pointer no function is called that gives back a struct, nor one whose pointer the call itself changes.",
        "Call functions with fixed arguments by their names.",
    ),
    "HD236": Entry(
        "a scanf conversion without an exact GPU form",
        "scanf and sscanf treat all conversions of C but %p, %m, wide characters and long double; each conversion's target "
        "must have the type that it stores.",
        "Use another conversion, or a target of the conversion's type.",
        line="the conversion of the target's type: `%hd` for `%d`.",
    ),
    "HD237": Entry(
        "a type that the GPU does not have",
        "long double is x86's own 80-bit type, and 128-bit integers have no device library.",
        "Use double, or 64-bit integers.",
        line="`long long` for `__int128`.",
    ),
    "HD238": Entry(
        "a struct whose layout cannot be told to the GPU's compiler",
        "Bit-fields, packed or specially aligned structs, and unnamed unions whose members begin at different places.",
        "Use plain members.",
        line="`int x;` for `int x : 3;`.",
    ),
    "HD239": Entry(
        "a construct of C that has no CUDA text",
        "C++, of which CUDA is made, lacks unnamed arrays, addresses of compound literals, initialisers of a union's later "
        "members in tables, and arithmetic on void pointers. What lies at a constant address, NULL's too, is on the CPU"
        " only.",
        "Give the object a name; use a char pointer for arithmetic; end a program with abort().",
        line="`char *p` for `void *p`; `abort();` for `*(int *)0 = 1;`.",
    ),
    "HD241": Entry(
        "more than the line is used of getline's buffer",
        "On a GPU each line lies in a slot of its own size. What getline says of its buffer's capacity depends on earlier "
        "lines, and text that makes the line longer has no room.",
        "Copy the line into an array of your own and change it there.",
    ),
    "HD245": Entry(
        "each thread would need too much memory of its own",
        "Variables that the loop writes, and those of the loop and of the helpers that it calls, exist once for "
        "every GPU thread. Many thousand threads run at a time. A GPU gives each of them 512 KB at most; half of "
        "that is for what the program declares. A function that calls itself counts 64 times.",
        "Make these arrays as small as the data allows.",
    ),
    "HD246": Entry(
        "the code around the region cannot be made a program of its own",
        "What the loop reads from before it is computed by a copy of the program that ends where the directive "
        "stands. What is printed behind it is printed by one in which the loop does not run. This copy cannot be "
        "made: the directive comes out of a macro, so that its place in the file is not known, or the program does "
        "not link without its other half.",
        "Write the directive as #pragma mapreduce ... on lines of its own, in the file that is compiled.",
    ),
    "HD247": Entry(
        "a pointer to memory that the loop writes",
        "What the loop writes exists once for every GPU thread, so a pointer to it has as many values. The kernel can make"
        " them where the pointer is set once before the loop, to an array or to one allocation of constant size.",
        "Use the array itself in the loop, or allocate a constant number of bytes in one place.",
    ),
    "HD248": Entry(
        "a value from before the loop cannot be handed to the GPU",
        "The loop, or a function that it calls, reads a variable that cannot be named where the directive stands: it "
        "is a static variable of another function, or declared further down; a local variable has the same name; or "
        "it is memory that no visible pointer holds the start of.",
        "Declare the variable before main(), under a name of its own; keep the pointer that malloc returned.",
    ),
    "HD249": Entry(
        "the loop follows pointers to memory that is not handed to the GPU",
        "Arrays, structs and allocated memory are copied to the GPU as they are. A pointer inside them would still point to"
        " the CPU's memory. Single pointer variables are translated, where what they point to is known.",
        "Keep numbers (indexes) instead of pointers in arrays and structs, or copy what the loop needs into plain arrays and"
        " variables before it.",
    ),
    "HD251": Entry(
        "a variable may be read before it is written, or left by a pointer, unseen",
        "A kernel notes what a record has written, and where objects lie that a pointer may leave, so that what C "
        "leaves open goes to the CPU. It cannot do so for a variable of a function that calls itself, of which there "
        "are several at a time. Nor can it note what is written of memory of unknown size.",
        "Give the variable a value where it is declared; reach it by its name, or test the index before.",
        line="`int x = 0;` for `int x;`.",
    ),
    "HD260": Entry(
        "C leaves open in which order an expression is evaluated",
        "Two parts of one expression, or two arguments of one call, touch the same object, and at least one of them changes"
        " it: f(next(&p), next(&p)), seen += bump(5), t[i] = i++. C does not say which comes first. Each compiler"
        " chooses, so filter and kernel could print different bytes. Hidden state counts too: strtok's place, errno, the"
        " output of two printing calls.",
        "Put the two parts into two statements, in the order that you mean.",
    ),
    "HD261": Entry(
        "a function may end without a return, and its value is used",
        "On one path the function reaches its closing bracket. What its caller then gets is whatever a register holds, which"
        " is another thing in a kernel.",
        "Return a value on every path, also where you know that the path is never taken.",
        line="`return 0;` at the function's end.",
    ),
    "HD262": Entry(
        "a call reads the text that it writes over",
        "sprintf(s, \"%s...\", s) and strcat(s, s): C leaves open what happens where the source and the target of a copy"
        " overlap, and C libraries differ. Where that shows only in the data (strcpy(s, s + n)), a device compares the"
        " addresses and leaves the task to the CPU.",
        "Append behind the text's end: sprintf(s + strlen(s), ...); move text within itself with memmove.",
        line='`sprintf(s + strlen(s), "...")` for `sprintf(s, "%s...", s)`.',
    ),
    "HD263": Entry(
        "a compiler did not make a kernel of the text that HeteroDoop made",
        "HeteroDoop writes a kernel's text, and nvcc compiles it: it refused the text, was killed, or did not end within ten"
        " minutes (HETERODOOP_COMPILER_SECONDS sets another limit). The program runs on the CPU, as it would without a"
        " kernel; its results are the same.",
        f"{NOTHING}if nvcc works for other programs, this is a fault of HeteroDoop. Please report it, with the program and"
        " the message.",
    ),
    "HD264": Entry(
        "HeteroDoop failed on the program",
        "The analysis, or the writing of the kernel's text, ended in an error of its own. The program runs on the CPU, as it"
        " would without a kernel; its results are the same.",
        f"{NOTHING}this is a fault of HeteroDoop. Please report it, with the program and the message.",
    ),
    "HD265": Entry(
        "the program is too deep or too large for the analysis",
        "Expressions or blocks are nested deeper than the analysis can follow, or it ran out of memory.",
        "Break long expressions up into statements, if the loop is to run on a GPU.",
    ),
    "HD266": Entry(
        "there is no host kernel, or it does not do the combiner's work",
        "On CPUs a mapper that has a kernel runs as a program that reads its split itself, the host kernel. It does "
        "the combiner's work, too, where that is a loop over the pairs of a key that keeps a few numbers or texts; "
        "where the map prints pairs behind its loop, it must be one that may run on its own output. Where that is "
        "not so, or where there is no C++ compiler, filters do the same work, more slowly; the results are the same.",
        "See what `heterodoop explain` says of mapper and combiner.",
        line="`scanf(...) == 2` for `!= EOF`.",
    ),
    "HD267": Entry(
        "a reducer runs as a filter",
        "On CPUs a reducer runs on typed values, without a merge, a pipe and a process that reads text, where it is a loop"
        " over the pairs of a key: if the key changed it prints what was gathered and begins again, else it adds. What it"
        " does with a pair must be numbers made of numbers: no memory that it allocates, no texts of values, no output"
        " before a key is over, no end of the process that depends on more than the key's length. All else runs as a"
        " filter behind a merge of all map outputs; the results are the same.",
        "`heterodoop explain` shows the statement. docs/writing-an-app.md has loops that are recognised.",
    ),
    "HD270": Entry(
        "the program is C++",
        "A file that ends in .cc, .cpp or .cxx is compiled by CXX (g++ without it) with the words of CXXFLAGS. It"
        " runs as a filter, in `run` and on Hadoop, beside programs in C. Kernels and host kernels are made of C"
        " alone. What C++ means by a call or a conversion depends on overloads and templates, which the analysis does"
        " not read. Even text that is both may mean two things (sizeof 'a'). So a directive in it has no effect. A"
        " program of C that is linked with a C++ file is treated alike.",
        "Nothing, if the CPU is fast enough: the result is right. For the GPU, write this program in C (map.c); the others"
        " may stay in C++.",
    ),
    "HD271": Entry(
        "the program is a command",
        "--map-command, --combine-command and --reduce-command make any program a filter of the bundle: a script, a tool, a"
        " program that was built elsewhere. It reads lines and prints lines, in `run` and on Hadoop, beside programs in C."
        " Kernels and host kernels are made of C alone.",
        "Nothing, if the CPU is fast enough: the result is right. For the GPU, write this program in C; the others may stay"
        " as they are.",
    ),
    "HD272": Entry(
        "an array is read through a texture object",
        "The directive's `texture` clause asks for it. On every card that was tried, textures were slower than the memory"
        " that the compiler chooses by itself (docs/kernels.md). The results are the same.",
        "Take the variable out of the clause.",
    ),
}
