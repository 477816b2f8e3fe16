"""The error index: every HDnnn the product can print, with what it means and what to do.

`heterodoop explain HD104` prints one entry; docs/errors.md is generated from this table
(`python -m heterodoop.hdcodes > docs/errors.md`) and a test keeps the two equal. Ranges: HD0xx command line, input
and output; HD1xx directives; HD2xx why a region stays on the CPU; HD3xx C that cannot be analysed, bundles;
HD4xx tasks at run time; HD5xx this machine (compilers, libraries); HD6xx Hadoop: cluster, GPU driver, submitting; HD7xx
what these have no room for.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """`title` is one line; `text` says what was found and why it matters; `fix` what the user does."""

    title: str
    text: str
    fix: str


CODES: dict[str, Entry] = {
    "HD001": Entry(
        "an app's C file is missing",
        "An app is a folder with map.c and, if it has them, combine.c and reduce.c; or one C file that is"
        " the map, with --combine"
        " and --reduce naming the others.",
        "Check the path in the message.",
    ),
    "HD002": Entry(
        "no such error code",
        "An argument of the form HDnnn is always taken for an error code. A folder of such a name is written ./HD104.",
        "docs/errors.md lists all codes.",
    ),
    "HD003": Entry(
        "the bundle cannot be written there",
        "A bundle replaces an older bundle, and nothing else: what stands at the output's name is no bundle. Or its folder"
        " cannot be made or written; the message says why.",
        "Name another output with -o, or move away what stands there.",
    ),
    "HD004": Entry(
        "no such stage of the compiler",
        "--emit prints what one stage of the compiler made; the message lists the stages.",
        "heterodoop compile APP --emit help says what each stage prints.",
    ),
    "HD005": Entry(
        "there is no such optimisation, or set of them",
        "--opt takes the name of a set (default, paper), --no-opt the name of one item of it. Some items are two ways of"
        " doing the same work, of which one must be on.",
        "The message lists the names.",
    ),
    "HD006": Entry(
        "a word is no GPU architecture",
        "--arch (or HETERODOOP_ARCH) takes architectures as nvcc names them: sm_90 is machine code for one kind of GPU,"
        " compute_80 is PTX, a text that the driver compiles for newer ones. `none` compiles no kernels.",
        "heterodoop compile APP --arch sm_90; without the option the GPUs of this machine count, or the common ones.",
    ),
    "HD010": Entry(
        "an input is missing or cannot be read",
        "Inputs are looked at before any work is done. The message has the name as it was understood and"
        " what the system said.",
        "Check the name, and that you may read it. A name with blanks or wildcards needs quotes in a shell.",
    ),
    "HD011": Entry(
        "an input is neither a file nor a folder of files",
        "A folder is read one level deep, as Hadoop does by default, so a folder inside it is an error and"
        " is not passed over."
        " Pipes, sockets and devices cannot be read at the offsets of splits.",
        "Name the inner folder as an input of its own, or use a glob such as 'in/*/*'. Write a stream to a file first.",
    ),
    "HD012": Entry(
        "no file matches a glob",
        "A name with *, ?, [ or {a,b} in it that is no existing file is a glob. Names that start with . or _ are"
        " not matched by a"
        " wildcard, as in Hadoop.",
        "Check the pattern, or write the hidden part of the name out.",
    ),
    "HD013": Entry(
        "input or output on another file system",
        "The embedded engine reads and writes files of this machine: plain paths, file:/path and file:///path.",
        "Copy the data here first (hadoop fs -get PATH .).",
    ),
    "HD014": Entry(
        "a compressed input that cannot be read",
        "Only .gz and .bz2 are decompressed. Reading another compressed file as if it were text would give a"
        " wrong result"
        " without a word, so it is refused.",
        "Decompress it first; the message names a command.",
    ),
    "HD015": Entry(
        "an input folder holds nothing that is read",
        "Names that start with . or _ are skipped in folders, as in Hadoop; this folder holds nothing else."
        " It is empty input.",
        "Nothing, if that is meant. A hidden file is read where it is named itself.",
    ),
    "HD020": Entry(
        "the output folder exists already",
        "A job writes a new folder and never adds to one or replaces one, so that what is there is never"
        " mixed or lost.",
        "Name another folder with -o, or remove the old one first.",
    ),
    "HD021": Entry(
        "the output folder cannot be made",
        "Making the folder is the first thing a job does; the system refused it.",
        "Check that you may write there and that no part of the path is a file.",
    ),
    "HD022": Entry(
        "the report folder is somebody else's",
        "A job's report and logs go to OUTPUT.report. An older report of HeteroDoop there is replaced; a"
        " folder or file that is"
        " none is left alone.",
        "Move it away, or name another output.",
    ),
    "HD030": Entry(
        "a job setting that cannot be right",
        "-D takes KEY=VALUE. The keys listed in docs/job-settings.md as honoured have a type and a range.",
        "Correct the value; docs/job-settings.md says what is possible.",
    ),
    "HD031": Entry(
        "a job setting that is not supported",
        "The setting would change the result, and the embedded engine does not support it. Ignoring it would"
        " give a wrong result"
        " without a word. Under Hadoop: submit --iterate takes no compressed output, for it is the next round's side file.",
        "Remove the setting, or run the job under Hadoop. docs/job-settings.md has the list.",
    ),
    "HD032": Entry(
        "an option's value is out of range",
        "Counts are whole numbers; sizes are bytes, with an optional k, m, g or t.",
        "Correct the value; the message says what is possible.",
    ),
    "HD033": Entry(
        "a --file that cannot be given to the filters",
        "--file PATH[#NAME] makes PATH appear as NAME (default: its own name) in the working folder of every filter.",
        "Check the path, and that every file has a name of its own without a slash.",
    ),
    "HD034": Entry(
        "an option and a -D setting differ",
        "Both say the same thing with different values; the command line option is taken.",
        "Give it once.",
    ),
    "HD036": Entry(
        "the job's report could not be written",
        "The output is complete; only the report in OUTPUT.report is missing or old. A full disk is the usual cause.",
        "Nothing, unless you need the report.",
    ),
    "HD037": Entry(
        "--gpus names a GPU that is not there, or none",
        "--gpus takes `all`, `none`, or numbers. A GPU's number is its place in the list that the CUDA driver gives this"
        " process, from 0; CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER decide what is in the list and in which order.",
        "heterodoop doctor prints the list.",
    ),
    "HD040": Entry(
        "--iterate without a side file to replace",
        "--iterate NAME runs the job again and again; each round's output takes the place of the side file NAME, which the"
        " first round gets with --file PATH#NAME. --rounds and --until say when a job with --iterate is done.",
        "Name one of the --file arguments by the name that the filters see.",
    ),
    "HD041": Entry(
        "a criterion that cannot be read",
        "--until takes GROUP:COUNTER, or the name of a counter of the engine (MAP_OUTPUT_RECORDS), a sign out of"
        " < <= == >= > and a whole number. The counter is what the last round's tasks added up.",
        "heterodoop run APP INPUT -o OUT --file start.txt#model.txt --iterate model.txt --until 'kmeans:change<10000'; mind"
        " the quotes, for < means something to a shell.",
    ),
    "HD042": Entry(
        "the rounds that are there are of another job",
        "Rounds that are done are kept in OUTPUT.rounds (under Hadoop in HDFS) until the job ends, and the same command goes"
        " on with them. The program, an input, a side file or a setting differs from what they were made with; the message"
        " says which.",
        "Run the job as it was, name another output, or remove OUTPUT.rounds to begin anew.",
    ),
    "HD043": Entry(
        "another process works on these rounds",
        "Two commands with the same output would run the same rounds. Under Hadoop the file OUTPUT.rounds/lock says who is"
        " there; one that was killed on this machine is noticed, one on another machine is not.",
        "Wait for the other one, or name another output. If it is no more: hadoop fs -rm OUTPUT.rounds/lock.",
    ),
    "HD044": Entry(
        "a criterion on a counter that nobody has",
        "A counter that no task has raised is 0. Here this would end the job, but no round has ever had a counter of this"
        " name: more likely it is written wrong. The message lists those there are.",
        "Correct --until and run the same command again: the rounds are kept. A program whose counter may be 0 from the"
        " start reports it: reporter:counter:GROUP,COUNTER,0.",
    ),
    "HD045": Entry(
        "the criterion was not met",
        "As many rounds were run as --rounds allows (100 where it is not given), and --until is not true yet. The output is"
        " that of the last round.",
        "Give more rounds, or go on from the output: --file OUTPUT/part-00000#NAME.",
    ),
    "HD046": Entry(
        "nobody knows the counters of a round",
        "--until looks at the counters of the round's job, which the JobHistory server has. It did not answer in time, or"
        " does not know the job. Counters that are not known are not taken for 0: that might end the rounds too early.",
        "Look at the JobHistory server (heterodoop cluster status), then run the same command again: it goes on with what"
        " the job made.",
    ),
    "HD047": Entry(
        "an input holds records in a format of its own, not lines",
        "The file is a SequenceFile, a Parquet, Avro or ORC file, or an archive, by its own bytes. Read as text it would"
        " give records that nobody wrote.",
        "Make lines of it first; the message names a command. -D heterodoop.input.as.text=true reads the bytes as they are.",
    ),
    "HD048": Entry(
        "an input of size 0 holds data",
        "The system does not tell the size of such a file (below /proc, or made as it is read), so it cannot be cut into"
        " splits.",
        "Copy it to a file first: cat PATH > FILE.",
    ),
    "HD049": Entry(
        "an input was changed while the job read it",
        "A file was replaced, written to or removed between the job's planning and its end. Its tasks would have read parts"
        " of two files, or the job files that were never there together.",
        "Run the job again when nobody writes to its inputs; give it a copy of a file that grows.",
    ),
    "HD050": Entry(
        "compressed data is read as text",
        "Whether a file is decompressed is told by its name alone, as in Hadoop: .gz and .bz2. This one holds compressed"
        " data under another name (.GZ, .tgz, .bgz, none at all).",
        "Rename it, or decompress it first. Nothing, if its bytes are meant to be read as lines.",
    ),
    "HD051": Entry(
        "a record of the input is too long",
        "A record has no end within heterodoop.line.max.bytes (256 MiB): often a file that is no text, a wrong delimiter, or"
        " a compressed file that holds far more than it seems to. The message has the file and the place. What has been read"
        " of it is not used.",
        "Look at the file there. -D heterodoop.line.max.bytes allows longer records;"
        " -D mapreduce.input.linerecordreader.line.maxlength passes over them, as in Hadoop.",
    ),
    "HD052": Entry(
        "a filter printed a line that is too long",
        "A filter printed more than heterodoop.line.max.bytes (256 MiB) without an end of line. What it printed would have"
        " to be kept in memory.",
        "Look for a missing newline in the filter, or a loop that never ends. -D heterodoop.line.max.bytes allows longer"
        " lines.",
    ),
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
        "A clause names something that is not declared where the directive stands.",
        "Declare the variable before the directive (not inside the loop), or correct its name.",
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
    "HD201": Entry(
        "reducers run on the CPU",
        "The paper has no directive for reduce: its parallelism lies across partitions, which CPU slots use already.",
        "Nothing to do.",
    ),
    "HD202": Entry(
        "a program without a directive",
        "The filter runs on the CPU as it is. A GPU form needs `#pragma mapreduce mapper` or `combiner`"
        " before the record loop,"
        " and a combiner without one is run exactly once per task.",
        "Add the directive (docs/directives.md), or leave it: the result is the same.",
    ),
    "HD210": Entry(
        "state carried from record to record",
        "A variable is read before it is written in the same record (or may be, on some path), and the region "
        "writes it, so a record depends on those before it. On a GPU records run side by side, in no order. The "
        "message names the variable, the read and the write.",
        "Set the variable at the start of each record if it is meant to be the record's own; a count or a maximum "
        "over all records belongs into the combiner. Else leave it: the program runs on the CPU.",
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
    ),
    "HD213": Entry(
        "return in the record loop",
        "It ends the program before the end of its input, see HD212.",
        "Use `continue`, or `exit(1)` for an error: a task that fails does so on the CPU.",
    ),
    "HD214": Entry(
        "exit in the record loop that is no failure",
        "exit(0), or a status that is computed, ends the program before the end of its input, see HD212. An exit "
        "with a constant failure status, abort and assert are fine: such a task runs again on the CPU, which "
        "decides.",
        "Use `continue`, or a constant failure status.",
    ),
    "HD215": Entry(
        "a second read of the input in one round",
        "The record loop's condition reads the record; reading more of stdin in its body makes records of several "
        "lines, which a split or a GPU thread cannot see.",
        "Make each record one line, or leave it: the program runs on the CPU.",
    ),
    "HD216": Entry(
        "goto, setjmp or longjmp",
        "Such jumps are not followed by the analysis.",
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
        "A GPU thread's memory is laid out at compile time.",
        "Give the array a constant length that is long enough.",
    ),
    "HD219": Entry(
        "memory of unknown size in the record loop",
        "malloc and calloc in the loop are fine with a constant size up to 64 KiB, and so is strdup; realloc, "
        "alloca and computed sizes are not.",
        "Use an array of constant length, or allocate before the loop.",
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
        "Time, random numbers and process ids make a record's output depend on when and where it runs, so CPU and "
        "GPU could not agree, and a task that runs again would not either.",
        "Derive such numbers from the record, for example by hashing it.",
    ),
    "HD222": Entry(
        "setlocale",
        "Another locale changes what a number looks like and what a letter is. The GPU knows the C locale only.",
        "Leave the call out, or leave it: the program runs on the CPU.",
    ),
    "HD223": Entry(
        "a call of a function whose effects are not known",
        "The function has no body in the program and is not in the table of library functions "
        "(heterodoop/compiler/analysis/libc_effects.py), so nobody knows what it reads and writes.",
        "Put the function's source into the same file, or do without it in the loop.",
    ),
    "HD224": Entry(
        "a call through a pointer that is not followed",
        "The function that is called is not known at compile time (this includes qsort and bsearch, which call "
        "back).",
        "Call the function by its name; sort by a loop of your own.",
    ),
    "HD225": Entry(
        "memory access through a pointer that is not followed",
        "The pointer may point anywhere, so the variables behind it cannot be known.",
        "Use arrays and pointers into them; do not make pointers from integers.",
    ),
    "HD226": Entry(
        "code around the region that does not fit",
        "The code before the region runs once per task on the CPU, and so does the code after it. It must not "
        "print to stdout or read stdin, since the pairs of the region come out elsewhere; a combiner's last pair "
        "belongs into the region's block. The region stands in main, outside of loops.",
        "Put a combiner's loop and its final output into one block behind the directive; move other output into "
        "the loop.",
    ),
    "HD227": Entry(
        "code after the region uses what the region writes",
        "On a GPU every thread has its own copy of a variable that the region writes, and none of them is there "
        "afterwards.",
        "Use such values in the loop only, or leave it: the program runs on the CPU.",
    ),
    "HD228": Entry(
        "no record loop",
        "The region's loop must read one record per round in its condition and end just when the input ends: "
        "getline or fgets on stdin, scanf with a single %s in a mapper, scanf of key and value in a combiner. "
        "`while (1)` with a `break` right after the read is the same. A test of anything else in the condition "
        "makes another loop of it.",
        "Write the loop as `while ((n = getline(&line, &cap, stdin)) != -1)`.",
    ),
    "HD229": Entry(
        "files, or output of a form that is not known",
        "In the region only stdout and stderr can be written to, with a format that is a literal. Files cannot be "
        "opened, read or written there.",
        "Read files before the loop into arrays; write the format as a literal.",
    ),
    "HD231": Entry(
        "too many paths",
        "The analysis follows the paths of the region and of the functions it calls up to a limit, and this "
        "region is beyond it. Nothing can be said of its variables then.",
        "Make the loop's body or its helpers simpler, or leave it: the program runs on the CPU.",
    ),
    "HD232": Entry(
        "a library function that the GPU does not have",
        "The message names it. The device library has string.h, ctype.h, the number readers of stdlib.h, sscanf, sprintf, "
        "snprintf, and of math.h what is exact (sqrt, fabs, floor, fmod and the like) and what runtime/math has (exp, log, "
        "pow, sin and their kin, with --libm own). Others, and these with --libm system, would have other last bits than "
        "the CPU's, and the output has to be the same bytes.",
        "Do without it in the loop, or leave it: the program runs on the CPU.",
    ),
    "HD233": Entry(
        "an output conversion without an exact GPU form",
        "printf, fprintf, sprintf and snprintf treat all conversions of C but %p, %n, %m, wide characters and long "
        "double; and each conversion must be given a value of the type that it prints.",
        "Use another conversion, or cast the argument to the type that the conversion wants.",
    ),
    "HD234": Entry(
        "heap memory in the record loop",
        "A GPU thread has no heap: malloc, calloc, strdup and free in the loop run on the CPU.",
        "Use an array of constant length, declared in the loop or before it.",
    ),
    "HD235": Entry(
        "a call of a kind that the GPU text does not have",
        "Functions with a variable number of arguments, calls through pointers, and calls of the function that holds the "
        "region itself.",
        "Call functions with fixed arguments by their names.",
    ),
    "HD236": Entry(
        "a scanf conversion without an exact GPU form",
        "scanf and sscanf treat all conversions of C but %p, %m, wide characters and long double; each conversion's target "
        "must have the type that it stores.",
        "Use another conversion, or a target of the conversion's type.",
    ),
    "HD237": Entry(
        "a type that the GPU does not have",
        "long double is x86's own 80-bit type, and 128-bit integers have no device library.",
        "Use double, or 64-bit integers.",
    ),
    "HD238": Entry(
        "a struct whose layout cannot be told to the GPU's compiler",
        "Bit-fields, packed or specially aligned structs, and unnamed unions whose members begin at different places.",
        "Use plain members.",
    ),
    "HD239": Entry(
        "a construct of C that has no CUDA text",
        "C++, of which CUDA is made, lacks unnamed arrays, addresses of compound literals, initialisers of a union's later "
        "members in tables, and arithmetic on void pointers. What lies at a constant address, NULL's too, is on the CPU"
        " only.",
        "Give the object a name; use a char pointer for arithmetic; end a program with abort().",
    ),
    "HD241": Entry(
        "more than the line is used of getline's buffer",
        "On a GPU each line lies in a slot of its own size. What getline says of its buffer's capacity depends on earlier "
        "lines, and text that makes the line longer has no room.",
        "Copy the line into an array of your own and change it there.",
    ),
    "HD245": Entry(
        "each thread would need too much memory of its own",
        "Variables that the loop writes, and those of the loop and of the helpers that it calls, exist once for every GPU"
        " thread, and many thousand threads run at a time. A GPU gives each of them 512 KB at most; half of that is for what"
        " the program declares. A function that calls itself counts 64 times.",
        "Make these arrays as small as the data allows.",
    ),
    "HD246": Entry(
        "the code before the region cannot be made a program of its own",
        "What the loop reads from before it is computed by a copy of the program that ends where the directive stands."
        " This copy cannot be made: the directive comes out of a macro, so that its place in the file is not known,"
        " or the program does not link without its other half.",
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
        "The loop, or a function that it calls, reads a variable that cannot be named where the directive stands: it is a"
        " static variable of another function, it is declared further down, a local variable has the same name, or it is"
        " memory that no visible pointer holds the start of.",
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
        "a variable may be read before it is written, and no guard can watch it",
        "A kernel notes what a record has written, so that a read of anything else leaves the task to the CPU. It cannot do"
        " so for a variable of a function that calls itself, of which there are several at a time, nor for memory of"
        " unknown size.",
        "Give the variable a value where it is declared.",
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
    ),
    "HD262": Entry(
        "a call reads the text that it writes over",
        "sprintf(s, \"%s...\", s) and strcat(s, s): C leaves open what happens where the source and the target of a copy"
        " overlap, and C libraries differ. Where that shows only in the data (strcpy(s, s + n)), a device compares the"
        " addresses and leaves the task to the CPU.",
        "Append behind the text's end: sprintf(s + strlen(s), ...); move text within itself with memmove.",
    ),
    "HD263": Entry(
        "a compiler did not make a kernel of the text that HeteroDoop made",
        "HeteroDoop writes a kernel's text, and nvcc compiles it: it refused the text, was killed, or did not end within ten"
        " minutes (HETERODOOP_COMPILER_SECONDS sets another limit). The program runs on the CPU, as it would without a"
        " kernel; its results are the same.",
        "If nvcc works for other programs, this is a fault of HeteroDoop: please report it, with the program and the"
        " message.",
    ),
    "HD264": Entry(
        "HeteroDoop failed on the program",
        "The analysis, or the writing of the kernel's text, ended in an error of its own. The program runs on the CPU, as it"
        " would without a kernel; its results are the same.",
        "This is a fault of HeteroDoop: please report it, with the program and the message.",
    ),
    "HD265": Entry(
        "the program is too deep or too large for the analysis",
        "Expressions or blocks are nested deeper than the analysis can follow, or it ran out of memory.",
        "Break long expressions up into statements, if the loop is to run on a GPU.",
    ),
    "HD690": Entry(
        "a place in the line is addressed as a number",
        "A pointer into the line lies where its bytes can be changed as a number: in a union with one, in memory that a cast"
        " makes numbers of, or copied into a number. The program also reads or writes what may be the line's or another"
        " object's. A device tells the two by the address, and checks each move of such a pointer; these it cannot see.",
        "Move the pointer itself (p += n), or keep a place in the line as an index.",
    ),
    "HD300": Entry(
        "C compiler error",
        "The C compiler does not accept the program; its own message is shown.",
        "Correct the program; plain `cc` shows the same message.",
    ),
    "HD301": Entry(
        "link error",
        "The program compiles, but a function or library is missing.",
        "Give the missing source file, or the library with -l.",
    ),
    "HD302": Entry(
        "source file not readable",
        "The file does not exist, is a directory or may not be read.",
        "Check the path and its permissions.",
    ),
    "HD303": Entry(
        "C that the parser does not take",
        "The C compiler accepts the program, the parser that the analysis uses does not. The program runs on the "
        "CPU.",
        "For the GPU, write the construct at the place shown in plain C11.",
    ),
    "HD304": Entry(
        "construct that is not analysed",
        "The program uses an extension of C that changes what it means and that the analysis does not know: "
        "statement expressions, asm, nested functions, packed structs and the like. The program runs on the CPU.",
        "For the GPU, write it in plain C11.",
    ),
    "HD305": Entry(
        "header that the analysis does not know",
        "The analysis reads small headers of its own in place of the system's, and has none for this one. The "
        "program runs on the CPU.",
        "For the GPU, do without the header, or declare the functions that you need yourself.",
    ),
    "HD306": Entry(
        "code that depends on a system header",
        "With the headers of the analysis `#if` chooses other lines than with the system's, so the analysis would "
        "see another program. The program runs on the CPU.",
        "For the GPU, do not test macros of system headers around the code.",
    ),
    "HD307": Entry(
        "words of the C compiler that kernels do not follow",
        "CC brings options that give programs another meaning (-ffast-math, -funsigned-char, -fshort-enums, -fsanitize and"
        " the like), or the compiler understands C otherwise than kernels do. The filter is built with them; the program"
        " runs on the CPU.",
        "For the GPU, leave the option out of CC.",
    ),
    "HD308": Entry(
        "a C library that behaves otherwise",
        "What a function reads or prints depends on the C library. The machine that compiles decides: its library was asked,"
        " and does something that kernels do not know. The program runs on the CPU.",
        "Compile on a machine with another version of the C library, or do without the function.",
    ),
    "HD309": Entry(
        "the C library cannot be asked",
        "Before kernels are made, a small program is built with CC and run once, to see how the C library behaves. That"
        " failed; the message says how. The program runs on the CPU.",
        "See that `CC` makes programs that run on this machine.",
    ),
    "HD310": Entry(
        "a bundle's manifest is damaged",
        "manifest.json is read strictly: a missing, unknown or ill-typed field means that it was changed by"
        " hand or only half"
        " written, and guessing could run the wrong program.",
        "Compile the program again.",
    ),
    "HD311": Entry(
        "a bundle of another version",
        "The manifest's format has a version, and this HeteroDoop reads only its own.",
        "Compile the program again with this version.",
    ),
    "HD312": Entry(
        "not a bundle",
        "The folder holds no readable manifest.json, or the path does not exist.",
        "Make a bundle with: heterodoop compile DIR -o NAME.hdp",
    ),
    "HD313": Entry(
        "a bundle's filter is missing or changed",
        "The manifest holds the SHA-256 of each filter that was built; the file in bin/ is another one.",
        "Compile the program again.",
    ),
    "HD330": Entry(
        "C that is not analysed",
        "A statement, declaration or function uses something that the intermediate representation has no form "
        "for: bit-fields, `long double`, wide strings, arrays of variable length in several dimensions, case "
        "labels that are not constant.",
        "Write it in plainer C where it matters, or leave it: the program runs on the CPU.",
    ),
    "HD401": Entry(
        "a filter failed",
        "A map, combine or reduce program ended with a status other than 0 or by a signal in every attempt"
        " of a task. The message"
        " names the command, the split or partition, and shows the end of what the program wrote to stderr;"
        " the log has all of it. From the second attempt on it names the record. A filter that a signal ends twice on the"
        " same record is not tried again.",
        "Run the command by hand on the range of the file that is named. -D"
        " stream.non.zero.exit.is.failure=false accepts any"
        " exit status.",
    ),
    "HD402": Entry(
        "a filter could not be started",
        "The system refused to run the program: not executable, made for another machine, or arguments and"
        " environment too"
        " large together.",
        "Compile the bundle again on this machine. For 'Argument list too long': a smaller environment,"
        " shorter -D values, or a"
        " lower -D stream.jobconf.truncate.limit.",
    ),
    "HD403": Entry(
        "a combiner changed its keys",
        "A combiner's output must stay in key order and in the partition of its input; the reducers rely on"
        " both. The message"
        " names the key.",
        "Print the key that was read, or remove the combiner and do the work in the reducer.",
    ),
    "HD404": Entry(
        "an input is damaged or cannot be read",
        "A compressed file ends early or does not decode, or the system refused to read a file. A part of it is never taken"
        " for the whole.",
        "Check the file (gzip -t, bzip2 -t).",
    ),
    "HD405": Entry(
        "a task could not read or write its files",
        "The system refused a read or write of the task itself; a full disk is the usual cause. Intermediate"
        " data lies in the"
        " output folder until the job ends.",
        "Make room, or put the output on a larger disk.",
    ),
    "HD406": Entry(
        "the output could not be put in place",
        "All tasks were done, but moving a finished part into the output folder failed.",
        "Check the disk and the permissions of the output folder, and whether something removed files in it.",
    ),
    "HD407": Entry(
        "pairs that the combiner cannot read back",
        "The map wrote keys or values that the combiner's own way of reading (scanf %s, say) does not read as they were"
        " written: blanks in a key, a longer key than its buffer, a value that is no number of its type. The"
        " combiner got them"
        " all the same, as on plain pipes, and the result is what it made of them.",
        "Let the combiner read whole lines and cut at the tab, or give it a larger buffer.",
    ),
    "HD408": Entry(
        "a combiner stopped before the end of its input",
        "It ended, or closed its stdin, with pairs unread; those pairs are lost, as they would be on plain"
        " pipes. The usual cause"
        " is a scanf that does not match.",
        "Check how the combiner reads: keys with blanks, empty values.",
    ),
    "HD409": Entry(
        "the native runtime failed",
        "A task failed inside HeteroDoop's own library and not in your program.",
        "Please report it, with the message.",
    ),
    "HD410": Entry(
        "a task that was meant for the device ran on the CPU",
        "A device runs a task exactly as the program would, or leaves it to the CPU: where the program exits, divides by"
        " zero, stops reading in the middle of a record, reaches behind the end of a line, reads what it has not written for"
        " the record, copies where source and target overlap, prints what only the CPU prints"
        " exactly, or where the code before the region cannot run alone. The result is complete and right; the message says"
        " why, and for how many tasks. attempts.jsonl has the reason of each.",
        "Nothing, unless it is many tasks: then look at the record and line in the message.",
    ),
    "HD411": Entry(
        "no map task can run on the device",
        "The map has no kernel: the compiler found something in it that cannot be done on a device exactly, which the"
        " message names. The job runs on the CPU as without --device.",
        "heterodoop explain APP shows all reasons and what would help.",
    ),
    "HD412": Entry(
        "the device's result is not the CPU's",
        "heterodoop verify ran the map tasks both ways and found a difference. If it shows in some orders of the lanes or"
        " with some memory patterns only, the program reads a variable in one record that an earlier record wrote, or one"
        " that nobody wrote, although its annotation says that records are independent. Else it is a fault of HeteroDoop.",
        "Please report the program and the record in the message, unless the program's output is another one in every run.",
    ),
    "HD413": Entry(
        "a device could not be opened",
        "The native runtime found no such device, or it gave an error, which is in the message. The task ran on the CPU.",
        "heterodoop doctor says what the CUDA driver finds; --device cpu does without.",
    ),
    "HD414": Entry(
        "a map task's result on the device was not the CPU's",
        "--check sample has the start of a job's first map task on a device done by the CPU too, --check first and"
        " all for whole tasks. The two results differ: the message shows where. The job's result is right all the same:"
        " this task's is the CPU's, no other result of the device counted before that, except such as were compared"
        " and equal, and the CPU did the rest.",
        "heterodoop verify BUNDLE INPUT... finds the record. Most often a record reads what an earlier one wrote, or what"
        " nobody wrote (heterodoop explain HD412). A program whose output is another one in every run (time, random"
        " numbers) differs too: --check none runs it on the device.",
    ),
    "HD415": Entry(
        "a GPU is out of service",
        "Its worker process failed as often as the setting heterodoop.gpu.faults allows: it was killed, its GPU faulted, or"
        " a task made no progress for too long. The rest of its tasks ran on the CPU; the output is complete and right. The"
        " message has the last fault.",
        "See whether the same input fails again. `heterodoop verify` compares GPU and CPU task by task; dmesg shows the"
        " driver's own errors (Xid). --gpus leaves the GPU out.",
    ),
    "HD416": Entry(
        "a GPU failed and was used again",
        "Its worker process was replaced, and the task ran once more: on the GPU, and if that failed too, on the CPU. The"
        " output is complete and right. The message has the first fault.",
        "Nothing, if it happens once. Else as for HD415.",
    ),
    "HD417": Entry(
        "a GPU is left out",
        "The job does without it: too little of its memory is free, the driver is too old, the bundle has no kernels for its"
        " architecture, or what it needs (nvcc) is missing. The message says which.",
        "heterodoop doctor says what to install. Free the GPU's memory (nvidia-smi lists who has it), or name others with"
        " --gpus; --device cpu does without, and without the warning.",
    ),
    "HD418": Entry(
        "the CUDA driver does not load",
        "A GPU's worker process holds its context by the CUDA driver (libcuda.so.1), or by PyCUDA where that is installed."
        " The driver's library is not there, or does not load.",
        "Install the NVIDIA driver, and check that nvidia-smi works.",
    ),
    "HD426": Entry(
        "a kernel could not be compiled where it was to run",
        "The emulated device compiles a bundle's kernels with g++ when they are first used. The compiler refused the text,"
        " was killed, or did not end. The CPU does that kernel's work; the result is complete and right.",
        "If g++ works for other bundles, this is a fault of HeteroDoop: please report it, with the program and the"
        " message.",
    ),
    "HD430": Entry(
        "an attempt made no progress and was stopped",
        "The program read nothing, wrote nothing and printed no status or counter for mapreduce.task.timeout milliseconds"
        " (default: 600000). It may have an endless loop, before its record loop too, or wait for something. The attempt"
        " counts as failed, as any other failure does. On the emulated device a kernel cannot be stopped, and the job ends.",
        "Look at the record that it stopped at. A program that computes for long prints a line like reporter:status:alive"
        " on stderr now and then; -D mapreduce.task.timeout=0 lets it run for ever.",
    ),
    "HD431": Entry(
        "a map output was damaged after it had been written",
        "What a reduce task read is not what its map task wrote: its index, lengths or checksums differ, or a file is gone."
        " The map task ran again, and the result is right. Damaged four times, the job fails.",
        "Check the disk and the memory of this machine, and whether something removes files below the output's _temporary.",
    ),
    "HD501": Entry(
        "a data file of the installation is missing",
        "HeteroDoop carries files beside its Python code (native sources, headers, templates); one was not"
        " found, so the"
        " installation is incomplete.",
        "Install HeteroDoop again: pip install .",
    ),
    "HD502": Entry(
        "no C compiler",
        "`heterodoop compile` needs a C compiler: $CC if set, else cc or gcc from PATH.",
        "Install gcc (Debian, Ubuntu: apt install gcc libc6-dev), or set CC.",
    ),
    "HD503": Entry(
        "C compiler does not run",
        "The compiler could not be started, was killed, did not end in time, made no program, or failed without saying why.",
        "Run the shown command by hand; check memory, disk space, the compiler's installation, and the words of CC.",
    ),
    "HD510": Entry(
        "the native runtime could not be built",
        "Local runs need a small C++ library. `pip install .` builds it where g++ is present and goes on"
        " without it where"
        " g++ is not; `python -m heterodoop.toolchain.native` builds it later. The message holds the C++"
        " compiler's own words.",
        "Install g++ (Debian and Ubuntu: apt install g++), or name another compiler in CXX, and run"
        " python -m heterodoop.toolchain.native with the Python that HeteroDoop is installed in.",
    ),
    "HD511": Entry(
        "the native runtime is missing",
        "HeteroDoop was installed on a machine without g++, so the library that runs tasks, sorts and merges"
        " was not built."
        " Compiling and explaining programs works without it; `heterodoop run` needs it.",
        "Install g++ (Debian and Ubuntu: apt install g++) and run python -m heterodoop.toolchain.native with the"
        " Python that"
        " HeteroDoop is installed in.",
    ),
    "HD512": Entry(
        "the native runtime does not fit this HeteroDoop",
        "The library that runs tasks was built from other sources than the Python code that loads it, or the file is not"
        " such a library at all. Running with it could go wrong in any way, so it is not used.",
        "Build it again: python -m heterodoop.toolchain.native. If HETERODOOP_NATIVE is set, see what it names.",
    ),
    "HD513": Entry(
        "the C++ compiler refuses a kernel for the emulated device",
        "The emulated device runs kernels that g++ compiled from the very text that nvcc gets. g++ did not take that text,"
        " or it failed; its own words are in the message, with places in the C program that the kernel was made from.",
        "If g++ ran out of memory or disk, give it more. Else please report the program: a kernel that was generated must"
        " compile. The job runs with --device cpu.",
    ),
    "HD514": Entry(
        "the CUDA compiler that was chosen cannot be used",
        "CUDA_HOME (or CUDA_PATH) names a folder without bin/nvcc, or the nvcc found is older than 12.0 or prints no"
        " version. A compiler that was chosen is never replaced by another one in silence. Or NVCC_PREPEND_FLAGS or"
        " NVCC_APPEND_FLAGS holds words under which kernels compute other numbers than filters.",
        "Correct CUDA_HOME, or unset it: then nvcc is looked for in PATH, in /usr/local/cuda and among the Python packages"
        " (pip install 'heterodoop[nvcc]'). Take -use_fast_math, -fmad, -ftz, -prec-div and -prec-sqrt out of the flags.",
    ),
    "HD515": Entry(
        "the CUDA compiler refuses a kernel",
        "nvcc did not take the text of a kernel, or it failed; its own words are in the message, with places in the C"
        " program that the kernel was made from.",
        "If nvcc names an unsupported architecture, choose others with --arch; if it finds no host compiler, install g++."
        " Else please report the program: a kernel that was generated must compile. --arch none leaves the kernels"
        " uncompiled.",
    ),
    "HD516": Entry(
        "there is no folder for compiled kernels",
        "Compiled kernels are kept in $XDG_CACHE_HOME/heterodoop, else ~/.cache/heterodoop, else a folder below /tmp."
        " Programs are loaded from there, so it must belong to you and nobody else may write to it. None of them does.",
        "Set XDG_CACHE_HOME to a folder of your own, or take the others' right to write away (chmod go-w).",
    ),
    "HD517": Entry(
        "--device cuda finds no GPU",
        "This machine has none, CUDA_VISIBLE_DEVICES hides all, or the driver is too old for any.",
        "Check that nvidia-smi works for this user; heterodoop doctor says what the CUDA driver names. Without a GPU,"
        " --device emulated runs the same kernels on the CPU.",
    ),
    "HD518": Entry(
        "the CUDA library cannot be built",
        "A GPU is driven by a library of HeteroDoop's that nvcc makes on first use, for this machine's architecture; it is"
        " kept in the cache. There is no nvcc in CUDA_HOME, PATH, /usr/local/cuda or among the Python packages.",
        "Install the CUDA toolkit, or: pip install 'heterodoop[nvcc]'.",
    ),
    "HD519": Entry(
        "what the command prints could not be written",
        "stdout is a file on a full disk, or beyond a limit. What the command did before it printed is done: a job's "
        "output is in its folder.",
        "Make room, or let the command print somewhere else.",
    ),
    "HD520": Entry(
        "a filter on a machine with another C library",
        "Filters are linked with the C library inside where that is possible. This one could not be (it looks up users or"
        " hosts, uses locales or shared libraries), and the C library of the machine where it ran has another version than"
        " that of the machine where it was compiled. What it prints could be other bytes.",
        "Compile it on a machine with the same version, or do without those calls.",
    ),
    "HD600": Entry(
        "no logs of that name",
        "heterodoop cluster logs takes a server's name, as heterodoop cluster status lists them, or the id of an"
        " application, a job or a container. Hadoop removes a container's logs after three hours.",
        "heterodoop cluster logs, without a name, lists what there is.",
    ),
    "HD601": Entry(
        "there is no Java",
        "Hadoop's servers and commands are Java programs. JAVA_HOME is not set, and PATH has no `java`.",
        "Debian, Ubuntu: apt install openjdk-17-jdk-headless, or default-jdk-headless where that is newer.",
    ),
    "HD602": Entry(
        "the Java that was found cannot be used",
        "JAVA_HOME names a folder without bin/java, or the Java is older or newer than the Hadoop release can use: Hadoop"
        " 3.5 needs Java 17 or newer, 3.4.2 runs on 17 to 22.",
        "Install Java 17 and set JAVA_HOME to its folder (Debian, Ubuntu: /usr/lib/jvm/java-17-openjdk-amd64).",
    ),
    "HD603": Entry(
        "there is no Maven",
        "Maven fetches Hadoop's jars, once for each release; PATH has no `mvn`. They are kept, and then Maven is not"
        " needed.",
        "Debian, Ubuntu: apt install maven.",
    ),
    "HD604": Entry(
        "Maven cannot bring Hadoop's jars",
        "The message has Maven's own words. The jars come from Maven Central, or from a mirror that ~/.m2/settings.xml"
        " names. A fetch that fails leaves nothing behind.",
        "Check the network, the mirror and the free space in ~/.m2 and ~/.cache; then run the command again.",
    ),
    "HD605": Entry(
        "an embedded cluster that cannot be",
        "heterodoop cluster up starts Hadoop 3.5.0 or 3.4.2, with 1 to 64 NodeManagers that have 1024 MiB or more each: an"
        " application master and a task take 512 each. --owner names a process that runs.",
        "Correct the option that the message names.",
    ),
    "HD606": Entry(
        "a folder that cannot be a cluster's",
        "A cluster's folder is new, empty, or was made by heterodoop cluster up with the same Hadoop release; one release's"
        " HDFS is not given to another. Its path has plain characters only: Hadoop's settings have lists with commas and"
        " class paths with colons.",
        "Name another folder with --dir; the message says what is wrong with this one.",
    ),
    "HD607": Entry(
        "a cluster runs there already",
        "There is one cluster in a folder, and one command at a time that starts or ends it.",
        "heterodoop cluster status says what runs, heterodoop cluster down ends it. A second cluster gets another --dir.",
    ),
    "HD608": Entry(
        "no cluster runs there",
        "The command works on a cluster that heterodoop cluster up started in this folder.",
        "Start one, or name its folder with --dir or HETERODOOP_CLUSTER_DIR.",
    ),
    "HD609": Entry(
        "a server of the cluster does not start or does not stop",
        "The message has the reason that the server's log gives. Whatever had been started was ended again.",
        "Read the log that the message names. Frequent reasons: not enough memory (a cluster takes about 2 GiB without"
        " jobs), a full disk, a host name that does not resolve.",
    ),
    "HD610": Entry(
        "Hadoop's configuration cannot be read",
        "Addresses of the cluster come from the *-site.xml files in $HADOOP_CONF_DIR (else $HADOOP_HOME/etc/hadoop)."
        " The folder is missing, a file in it is no configuration, or its variables lead to each other without an end.",
        "Set HADOOP_CONF_DIR to the folder that the Hadoop commands use, or correct the file in the message.",
    ),
    "HD611": Entry(
        "a driver runs there already",
        "Per folder and NodeManager there is one GPU driver; the message says its process and since when it runs.",
        "Use it; or end it with `heterodoop driver stop`, or give the new one another --dir or --node-port.",
    ),
    "HD612": Entry(
        "the driver's folder cannot be trusted",
        "Map tasks talk to the driver through a socket in this folder. Whoever can write there could take the driver's"
        " place, so the folder must be a real folder (no link) of your own with mode 0700.",
        "Remove what stands there, or name another folder with --dir; tasks find it by heterodoop.driver.dir.",
    ),
    "HD613": Entry(
        "no driver answers",
        "No GPU driver of this user runs with that folder and NodeManager port, or it does not answer.",
        "heterodoop driver start; check --dir and --node-port. The driver's log is driver.log in its folder.",
    ),
    "HD614": Entry(
        "the driver cannot start",
        "What it needs is missing: GPUs, a folder to work in, a port. The message says what.",
        "heterodoop doctor says what works on this machine; the driver's log is driver.log in its folder.",
    ),
    "HD615": Entry(
        "the GPU driver does not do such a task",
        "The job uses something that the CPU path of Hadoop does and the driver does not: another codec, a limit of the"
        " records' length, a compressed input, a program without kernels. The attempt runs on the CPU.",
        "Nothing has to be done. To use the GPU, change the setting that the message names; heterodoop explain BUNDLE says"
        " why a program has no kernel.",
    ),
    "HD616": Entry(
        "the job's files are not what was named",
        "A map attempt names every file of its working folder with its SHA-256. A name leads out of the folder, a file's"
        " bytes are not those of its hash, or the bundle is not the one that the job was submitted with. The attempt runs on"
        " the CPU.",
        "Submit the job again with files that do not change meanwhile.",
    ),
    "HD617": Entry(
        "the GPU driver cannot read the split",
        "Neither the driver nor the task could read the bytes of the split: no access, a file that became shorter, a"
        " DataNode that is gone. The attempt runs on the CPU, where Hadoop's own reader says what is wrong.",
        "Look at the attempt's log and at `hdfs fsck`.",
    ),
    "HD618": Entry(
        "a map output of a GPU is not right",
        "Before a result leaves the driver its order, partitions, lengths, end marks and checksums are checked. This one was"
        " damaged, and was thrown away; the attempt runs on the CPU.",
        "Please report it. heterodoop verify compares device and CPU on the job's own input.",
    ),
    "HD619": Entry(
        "the GPU driver has no GPU for the task",
        "Its queue is full, it is stopping, its GPUs are out of service, or a task of the job made a GPU fail.",
        "Nothing has to be done: the attempt runs on the CPU. heterodoop driver status shows GPUs and queue.",
    ),
    "HD620": Entry(
        "there is no Hadoop on this machine, or a part of its client is missing",
        "Jobs are submitted with Hadoop's own client: `hadoop` (of HADOOP_HOME, else in PATH), the configuration of"
        " HADOOP_CONF_DIR, and the streaming jar of the release (or of HETERODOOP_STREAMING_JAR).",
        'Start a cluster here: heterodoop cluster up; eval "$(heterodoop cluster env)". Or set those variables.',
    ),
    "HD621": Entry(
        "the configuration names no cluster",
        "mapreduce.framework.name is not yarn (its default is local): Hadoop's client would run the job in its own process.",
        "Set HADOOP_CONF_DIR to the cluster's configuration; heterodoop run needs no Hadoop.",
    ),
    "HD622": Entry(
        "the cluster does not answer",
        "No ResourceManager answers at its web address, or Hadoop's client could not reach a server. A job that was"
        " submitted before may go on.",
        "Check that the cluster runs (heterodoop cluster status) and that HADOOP_CONF_DIR is that of this cluster.",
    ),
    "HD623": Entry(
        "a setting that submit sets itself, or a queue or class that is not there",
        "The settings that bring the plug-in into a job, and those that options of streaming stand for (programs, paths,"
        " formats, -cmdenv), are made by submit. Another value would make another job than the one that was asked for.",
        "Use the option; --cpu-only submits without the plug-in. For queues: yarn queue -list all. Classes that are not"
        " Hadoop's own come by -libjars.",
    ),
    "HD624": Entry(
        "Hadoop cannot carry this name or value",
        "Job settings travel as XML, lists of paths are cut at commas, shipped files' addresses are URIs that are decoded"
        " twice, -cmdenv is cut at blanks. What would arrive changed is refused.",
        "Rename the file, or choose another value; the message says what is possible.",
    ),
    "HD625": Entry(
        "Hadoop did not take the job",
        "Its client ended with an error of its own. Nothing runs.",
        "Read the client's last lines, which are shown; the command of --dry-run shows all of them.",
    ),
    "HD626": Entry(
        "no map task of the job will use a GPU",
        "The plug-in leaves a job to the CPU where a GPU's result could differ from Hadoop's: other partitioners,"
        " comparators, formats, encrypted map output; and where the map program has no kernel. Where filters read something"
        " else than the lines of a file (-inputformat, stream.map.input.ignoreKey), the job is a plain streaming job. The"
        " result is the same, only slower.",
        "Nothing, if that is meant; heterodoop explain BUNDLE says why a program has no kernel.",
    ),
    "HD627": Entry(
        "no such setting of HeteroDoop",
        "Names that begin with heterodoop. are HeteroDoop's, and this one is none of them: it goes to the job and means"
        " nothing.",
        "Correct the name; docs/hadoop.md and docs/job-settings.md list them.",
    ),
    "HD628": Entry(
        "the job failed",
        "A task failed in all its attempts, or the application master did. The message has the attempt, its node, split and"
        " command, and what its log ends with.",
        "heterodoop job logs ID prints the whole logs. Run the filter by hand on the split that is named.",
    ),
    "HD629": Entry(
        "the job was killed",
        "Somebody ended it: heterodoop job kill, yarn application -kill, or an administrator.",
        "Submit it again.",
    ),
    "HD630": Entry(
        "no such job",
        "A job's id is job_NUMBER_NUMBER (or application_...). Neither the ResourceManager nor the JobHistory server knows"
        " it.",
        "heterodoop job list --all --users; check HADOOP_CONF_DIR.",
    ),
    "HD631": Entry(
        "the filter does not start on the node",
        "The node's loader refused it: it was built with a newer C library, for another processor, or with a library that"
        " the node lacks. The loader's own words are in the message.",
        "Compile the program on a machine with the nodes' system, or an older one, and submit that bundle.",
    ),
    "HD632": Entry(
        "a server of HDFS does not answer",
        "WebHDFS sends a client from the NameNode to the DataNode that has (or gets) the data, by the name that the DataNode"
        " gave. Here one of them cannot be reached, or its name cannot be resolved. No half file is left.",
        "Make the name that the message has known here (/etc/hosts), let DataNodes give another one"
        " (dfs.client.use.datanode.hostname, dfs.datanode.hostname), or use HttpFS.",
    ),
    "HD633": Entry(
        "a bundle holds something that is no ordinary file",
        "A bundle is shipped as files. Links, pipes and devices could mean something else on another machine.",
        "Compile the program again.",
    ),
    "HD634": Entry(
        "a name in HDFS (or here) cannot be read or written",
        "It does not exist, exists already, is a folder or no folder, may not be accessed, or can be no name in HDFS, which"
        " takes UTF-8 text without colons. Nothing is ever overwritten.",
        "heterodoop fs ls shows what there is.",
    ),
    "HD635": Entry(
        "the cluster wants a login (Kerberos)",
        "Following a job and HeteroDoop's own HDFS commands use the cluster's web addresses without a login.",
        "Run the command that heterodoop submit --dry-run prints; use hadoop fs, mapred job and yarn logs for the rest.",
    ),
    "HD636": Entry(
        "the Python package hdfs is missing",
        "heterodoop fs speaks WebHDFS with it. Submitting works without it: Hadoop then checks the paths by itself.",
        "pip install 'heterodoop[hdfs]'",
    ),
    "HD637": Entry(
        "not the cluster's HDFS",
        "heterodoop fs knows the file system of fs.defaultFS, and only where that is HDFS.",
        "hadoop fs takes any address.",
    ),
    "HD638": Entry(
        "the job's settings do not fit into a filter's environment",
        "Streaming gives a filter every setting as a variable; a system limits one to 128 KiB and all together to some MiB.",
        "Lower stream.jobconf.truncate.limit (submit sets 20000), or name fewer inputs: a folder or a pattern.",
    ),
    "HD639": Entry(
        "a container used more memory than it may",
        "YARN counts the task's Java process and the filter together, and kills what goes beyond mapreduce.map.memory.mb"
        " (or .reduce.).",
        "Raise it with -D; the filter's share is what is above mapreduce.map.java.opts' -Xmx.",
    ),
    "HD641": Entry(
        "a file cannot be the cluster's secret",
        "The coordinator and the drivers prove to each other that they hold the same secret: a file with 64 hexadecimal"
        " digits, mode 0400, owned by the user who runs them, no link. The message says what is different.",
        "heterodoop coordinator start makes one where it is missing. Copy it to the machines of the drivers by a way that"
        " others cannot read, and chmod 0400 it there.",
    ),
    "HD642": Entry(
        "the coordinator cannot listen at this address",
        "--listen takes HOST:PORT of this machine, where every driver can reach it; [::1]:PORT for IPv6. The address is"
        " none, belongs to another machine, or another program listens there.",
        "Name another port, or end the program that uses it.",
    ),
    "HD643": Entry(
        "a coordinator runs already",
        "One coordinator at a time lives in a user's folder, and holds a lock there that ends with its process.",
        "heterodoop coordinator status, or heterodoop coordinator stop.",
    ),
    "HD644": Entry(
        "the coordinator did not start",
        "The process that was to become the coordinator ended, or was not ready in time. The message has what it said last.",
        "heterodoop coordinator start --foreground shows all it says.",
    ),
    "HD645": Entry(
        "no coordinator answers",
        "No coordinator runs in this user's folder, or the one that is named does not answer, or does not know the secret.",
        "heterodoop coordinator start; jobs run without one, each driver then asks by itself.",
    ),
    "HD646": Entry(
        "the coordinator knows no ResourceManager",
        "It asks the ApplicationMasters of jobs through the ResourceManager's proxy, whose address comes from the *-site.xml"
        " files in $HADOOP_CONF_DIR. There is no such folder.",
        "Set HADOOP_CONF_DIR to the folder that the Hadoop commands use.",
    ),
    "HD647": Entry(
        "a cluster or a job cannot be simulated as it was described",
        "Nodes, tasks and slots are whole numbers, the speedup is a factor, and something must be able to run a task.",
        "heterodoop simulate --help",
    ),
    "HD648": Entry(
        "the timeline cannot be drawn",
        "The timeline is written as SVG, or as PNG where matplotlib is installed; the file's name ends in .svg or .png.",
        "pip install matplotlib, or name a file that ends in .svg.",
    ),
    "HD650": Entry(
        "the Hadoop plug-in is not built",
        "Jobs on Hadoop load a jar, heterodoop-mr.jar, which asks the node's driver for a GPU. It is Java, so the first job"
        " builds it, with a JDK and Maven. This installation was made without it, and one of the two is not here.",
        "Install a JDK and Maven (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven) and run:"
        " python -m heterodoop.toolchain.plugin. HETERODOOP_MR_JAR names a jar that lies elsewhere.",
    ),
    "HD651": Entry(
        "there is no Java compiler",
        "The Hadoop plug-in is compiled with javac, from JAVA_HOME if that is set and else from PATH. A Java runtime (JRE)"
        " alone has none.",
        "Install a JDK (Debian, Ubuntu: apt install openjdk-17-jdk-headless), or set JAVA_HOME to one.",
    ),
    "HD652": Entry(
        "there is no Maven",
        "Maven (mvn) builds the Hadoop plug-in and brings the jars of Hadoop that it is compiled against. It is not in"
        " PATH.",
        "Install it (Debian, Ubuntu: apt install maven).",
    ),
    "HD653": Entry(
        "Maven cannot build the Hadoop plug-in",
        "Maven failed; its own words are in the message. The first build downloads Hadoop's jars and Maven's own plug-ins,"
        " so most often the network or a mirror's settings (~/.m2/settings.xml) are the reason.",
        "Correct what Maven names. If a test of the plug-in failed, build without --test and please report it.",
    ),
    "HD656": Entry(
        "a plain streaming job does not heed a setting",
        "Hadoop Streaming uses Hadoop's older interface, whose input formats know no upper limit of a split. `heterodoop"
        " run` and the plug-in's input format do. The result is the same, the number of map tasks is another.",
        "-D mapreduce.job.maps=N makes splits of at most bytes / N; or leave out what makes the job a plain one (--cpu-only,"
        " -inputformat).",
    ),
    "HD657": Entry(
        "a job's counters are lost",
        "The job ended, and neither the JobHistory server nor the application master has its counters. Hadoop loses all of"
        " them when a job has more than mapreduce.job.counters.max (120) of its own; the plug-in's do not count, but for"
        " details that are left out where room is scarce. The output is not touched.",
        "Let the program have fewer counters, or raise the limit in the cluster's mapred-site.xml; if the JobHistory server"
        " was down: heterodoop job counters ID.",
    ),
    "HD658": Entry(
        "HDFS is in safe mode",
        "The NameNode takes no changes: at its start until enough blocks are reported, after `hdfs dfsadmin -safemode"
        " enter`, and where its own disk is nearly full.",
        "hdfs dfsadmin -safemode get; free the NameNode's disk; hdfs dfsadmin -safemode leave where somebody entered it.",
    ),
    "HD659": Entry(
        "an option of Hadoop Streaming has another name here, or none",
        "`heterodoop submit` makes a streaming job of a bundle: the filters, their roles and their text form are the"
        " bundle's. The message says what does here what the option does there, if anything.",
        "heterodoop submit --help; --dry-run prints the `hadoop jar` command, to which any option can be added by hand.",
    ),
    "HD660": Entry(
        "too much would be removed at once",
        "`heterodoop fs rm -r` removes for good. The root, /tmp, a home and what is above one are not removed by a slip.",
        "Name what is in it; -f removes it all the same.",
    ),
    "HD661": Entry(
        "HDFS has no room",
        "No DataNode takes data, since their disks are full or none of them runs; or a quota of the folder is used up.",
        "hdfs dfsadmin -report and hdfs dfs -count -q -h FOLDER show which; heterodoop fs rm removes what is not needed.",
    ),
    "HD667": Entry(
        "a folder is not safe to run programs from",
        "Programs are run, or libraries loaded, from this folder. Another user could put his own there: the folder, or one"
        " above it, belongs to him or is open to others, or the folder is a link. One above it that others may write to"
        " needs the sticky bit.",
        "Name a folder of your own (--work, XDG_STATE_HOME, TMPDIR), or take the rights away that the message names.",
    ),
    "HD668": Entry(
        "a folder that a driver would empty is not its own",
        "A driver empties its work folder at start and end. It takes one that is new, empty, or marked by an earlier driver;"
        " this one holds something else, or another driver is using it.",
        "Name another folder with --work. Remove this one by hand if nothing in it is needed.",
    ),
    "HD710": Entry(
        "text of another encoding is read as bytes",
        "The input begins with the byte order mark of UTF-16 or UTF-32. Records are cut at the byte of a newline, as Hadoop"
        " does it, so every character is several bytes, and half of a line end stays in the next record.",
        "Convert the file to UTF-8 first: iconv -f UTF-16 -t UTF-8 PATH > FILE. Nothing, if its bytes are meant.",
    ),
}


def markdown() -> str:
    """docs/errors.md."""
    lines = ["# Error index", "", "`heterodoop explain HDnnn` prints one entry."]
    for code, entry in sorted(CODES.items()):
        lines += ["", f"## {code}: {entry.title}", "", entry.text, "", f"What to do: {entry.fix}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
