"""HD0xx: the command line, input and output."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
    "HD001": Entry(
        "an app's C file is missing, or there are two",
        "An app is a folder with map.c and, if it has them, combine.c and reduce.c; or one C file that is"
        " the map, with --combine"
        " and --reduce naming the others. Each may be C++ instead (map.cc, .cpp or .cxx), and there is one of each.",
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
    "HD007": Entry(
        "a command that cannot be a program of the bundle",
        "--map-command and its like take a program and its arguments, with quotes as for a shell; no shell reads them. The"
        " program is one of PATH, an absolute path, or a file of this folder, which the bundle then carries. A file that is"
        " carried starts with #! and an interpreter, or is a program of Linux. A program is a file or a command, not both.",
        "Name the interpreter ('python3 map.py'), put what needs a shell into sh -c '...', and name files with --file.",
    ),
    "HD008": Entry(
        "the program of a command is missing on this machine",
        "A bundle carries the files that its commands name, and not what runs them: interpreters and tools of PATH are the"
        " machine's. `compile` warns where this machine lacks one, `run` refuses the job, and a task on a node without it"
        " fails with this message.",
        "Install the program where the job runs, put its folder into PATH, or carry it in the bundle (--file).",
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
        " Sockets and devices cannot be read at the offsets of splits. A pipe is an input where it is named by itself, and"
        " so is stdin (-): what they hold is kept in a file until the job ends. With --iterate they are none, since each"
        " round reads the input again.",
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
        "The embedded engine reads and writes files of this machine: plain paths, file:/path and file:///path. Inputs of"
        " `run` may be in HDFS, too: hdfs://HOST:PORT/PATH, or hdfs:///PATH of the cluster that HADOOP_CONF_DIR names. They"
        " are copied beside the output first. With --iterate they are none: each round reads again.",
        "Copy the data here first (hadoop fs -get PATH .), or let `heterodoop submit` run the job where its input is.",
    ),
    "HD014": Entry(
        "a compressed input that cannot be read",
        "Decompressed are .gz, .bz2, .deflate, .zst, and .lz4 and .snappy in Hadoop's own form of blocks, which is not that"
        " of the tools lz4 and snzip. Reading another compressed file as if it were text would give a wrong result without a"
        " word, so it is refused.",
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
    "HD035": Entry(
        "a job setting that nothing reads",
        "The setting is for a class that the job does not use, so it changes nothing, as in Hadoop. The message names the"
        " class.",
        "Set the class, or remove the setting.",
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
        "Whether a file is decompressed is told by its name alone, as in Hadoop (.gz, .bz2 and others). This one holds"
        " compressed data under another name (.GZ, .tgz, .bgz, none at all).",
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
    "HD054": Entry(
        "a codec needs a Python package that is missing",
        "Zstandard is read and written by the package zstandard, blocks of LZ4 and Snappy by cramjam. gzip, bzip2 and"
        " deflate need nothing.",
        "pip install 'heterodoop[codecs]'",
    ),
    "HD056": Entry(
        "an input is none that the job's input format reads",
        "-inputformat says what all inputs of a job are. The SequenceFile formats read SequenceFiles of versions 4 to 6,"
        " with codecs that are here, and keys and values of Hadoop's own classes of texts, bytes and integers."
        " NLineInputFormat cuts files at their lines, and so takes none that is compressed: Hadoop would count the lines of"
        " what it is compressed to.",
        "Name inputs of one kind, and the format that is theirs. Any format and class is Hadoop's with heterodoop submit.",
    ),
    "HD053": Entry(
        "there is no room for an input that must be copied",
        "What stdin, a pipe or a file in HDFS holds is kept in OUTPUT/_temporary until the job ends. Splits are read at"
        " their offsets, and attempts may read them again. The disk is full, or the folder cannot be written to.",
        "Name an output on a disk with room for input and output, or write the stream to a file first. A job on data in HDFS"
        " is better submitted.",
    ),
    "HD052": Entry(
        "a filter printed a line that is too long",
        "A filter printed more than heterodoop.line.max.bytes (256 MiB) without an end of line. What it printed would have"
        " to be kept in memory.",
        "Look for a missing newline in the filter, or a loop that never ends. -D heterodoop.line.max.bytes allows longer"
        " lines.",
    ),
    "HD060": Entry(
        "a folder is not the report of a job that has ended",
        "A page is made of report.json and attempts.jsonl, which `heterodoop run -o OUTPUT` leaves in OUTPUT.report. While a"
        " job runs, and after one that was killed, there is no report.json.",
        "Name the folder OUTPUT.report of a job that has ended.",
    ),
    "HD061": Entry(
        "a page or picture cannot be put where it is to be",
        "Something else has the name, or the place cannot be written to. Only an earlier page or picture is replaced.",
        "Name another file with -o or --svg, or move away what is there.",
    ),
    "HD062": Entry(
        "no browser shows the page",
        "--open asks the desktop, or the command in $BROWSER, to show it; neither is here. The page was written.",
        "Open the file yourself, on any machine: it needs nothing beside it.",
    ),
}
