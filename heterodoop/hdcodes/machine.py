"""HD5xx: this machine, its compilers and libraries."""

from __future__ import annotations

from .entry import Entry

CODES: dict[str, Entry] = {
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
        " python -m heterodoop.toolchain.native with the Python that HeteroDoop is installed in. An app that was compiled"
        " without a C++ compiler has no host kernel: compile it again.",
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
        "stdout is a file on a full disk, or beyond a limit; or the file of --output cannot be made in its folder. What the"
        " command did before it printed is done: a job's output is in its folder.",
        "Make room, or let the command print somewhere else.",
    ),
    "HD520": Entry(
        "a filter on a machine with another C library",
        "Filters are linked with the C library inside where that is possible. This one could not be (it looks up "
        "users or hosts, uses locales or shared libraries). The C library of the machine where it ran has another "
        "version than that of the machine where it was compiled. What it prints could be other bytes.",
        "Compile it on a machine with the same version, or do without those calls.",
    ),
}
