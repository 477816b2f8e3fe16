"""HD4xx: tasks at run time."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
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
        "A device runs a task exactly as the program would, or leaves it to the CPU: where the program exits, "
        "divides by zero, stops reading in the middle of a record, or reaches behind the end of a line or out of an "
        "array; where it reads what it has not written for the record, copies where source and target overlap, or "
        "prints what only the CPU prints exactly; or where the code before the region cannot run alone. The result "
        "is complete and right; the message says why, and for how many tasks. attempts.jsonl has the reason of each.",
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
        "heterodoop verify ran the map tasks both ways and found a difference. It may show in some orders of the "
        "lanes or with some memory patterns only. Then the program reads a variable that an earlier record wrote, or "
        "nobody, although its annotation says that records are independent. Else it is a fault of HeteroDoop.",
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
        "A GPU's worker process holds its context by the CUDA driver (libcuda.so.1), or by PyCUDA."
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
    "HD432": Entry(
        "a map task that was meant for the host kernel ran as filters",
        "A host kernel is the map, or map and combiner, as one program on the CPU. It does a task exactly as they "
        "would, or leaves it to them in the same attempt. It does so for the reasons for which a device does "
        "(heterodoop explain HD410), where it ends in another way than it should, or says nothing for too long. "
        "After three tasks in a row, or one that was silent, the job does without it. The result is complete and "
        "right; attempts.jsonl has the reason of each task.",
        "Nothing, unless it is many tasks: then look at the record and line in the message. --filters does without host"
        " kernels.",
    ),
    "HD433": Entry(
        "the host kernel's result is not the filters'",
        "heterodoop verify --host ran the map tasks both ways, as host kernel and as map filter and combiner, and found a"
        " difference. As long as the program's output is the same in every run it is a fault of HeteroDoop.",
        "Please report the program and the record in the message. heterodoop run --filters does without host kernels.",
    ),
    "HD434": Entry(
        "the GPU driver of this machine did not do all that a job asked of it",
        "heterodoop run uses the GPUs of a driver that runs already. It ended while it had tasks of the job, or took no"
        " more: the CPU did these tasks, from their beginning; the output is complete and right. Or a task of the job made"
        " one of its GPUs fail again and again, and the driver, which has other jobs too, was asked for nothing more.",
        "heterodoop driver status says whether it lives, and its log why it ended. --driver never starts workers for the job"
        " alone.",
    ),
    "HD435": Entry(
        "filters do all tasks of the job, or all reduce tasks, for settings of its keys",
        "Separators, keys of several fields, KeyFieldBasedPartitioner and KeyFieldBasedComparator are done exactly as Hadoop"
        " does them, by the programs as filters on CPU slots. Devices and host kernels cut lines at tabs and sort by bytes.",
        "Nothing. Where the default does as well, leave the setting out, and the job is faster.",
    ),
    "HD436": Entry(
        "keys that Hadoop's comparator does not put into an order",
        "KeyFieldBasedComparator compares numerically (n) in a way that is an order among some texts only: whole numbers"
        " and numbers with a point, or whole numbers with zeros before them, -7, 7, 0.5 or 007. Of others, of an empty field"
        " in the middle of a key, and of 07 beside 7.5, it may say a < b, b < c and c < a. Hadoop's result then depends on"
        " how it happens to sort. The message names key and part.",
        "Leave out the records without a number, or print a number. A part that is one field says so: -k1,1n, not -k1n.",
    ),
    "HD437": Entry(
        "a filter used more memory than it may",
        "-D mapreduce.map.memory.mb and mapreduce.reduce.memory.mb say how many MiB a program of a task may have in use,"
        " with what it starts: counted as YARN does, and looked at ten times a second. The program was killed, and the"
        " attempt has failed. A host kernel that has more is left, and the filter does its task.",
        "Give more, or let the program keep less. To bound memory that is taken faster than that, and the command with its"
        " filters: systemd-run --user --scope -p MemoryMax=8G heterodoop run ...",
    ),
}
