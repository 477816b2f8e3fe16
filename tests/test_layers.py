"""The architecture, read from the imports: who imports whom, where each third-party name may appear, how large it is."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "heterodoop"
MODULES = sorted(PACKAGE.rglob("*.py"))
OTHERS = [path for folder in ("bench", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
PYTHON_FILES = [*MODULES, *OTHERS, ROOT / "setup.py"]
NATIVE = {".cpp", ".h", ".cuh", ".cu", ".c", ".java"}
SOURCES = [*MODULES, *(p for p in (ROOT / "runtime").rglob("*") if p.suffix in NATIVE and "test" not in p.parts)]

# Lowest first. A module may import lower levels and its own package; never a sibling package of its own level.
LEVELS = (
    {"", "errors", "source", "resources", "interrupts", "last_resort", "together", "private", "regular",
     "kernel_plan", "values"},
    {"diag", "manifest", "hdcodes", "scratch"},
    {"toolchain", "storage", "daemon"},
    {"compiler", "executor", "scheduler"},
    {"job"},
    {"engine", "driver", "page"},
    {"hadoop"},
    {"commands", "explain", "why_not_gpu"},
    {"cli"},
    {"__main__"},
)
RANK = {name: rank for rank, names in enumerate(LEVELS) for name in names}

# The rooms of a package, lowest first: a module imports its own room and lower ones. Modules that lie in the package itself
# are the spine: they stand above all its rooms.
ROOMS = {
    "compiler": (
        "source", "types", "ir", "lower", "normalise", "analysis", "keyloop", "decide", "device", "emit", "report",
        "mend",
    ),
    "executor": ("native", "task", "kernel", "gpu", "worker", "lent"),
    "engine": ("job", "terminal", "devices", "run", "verify", "rounds"),
    "driver": ("wire", "cluster", "job"),
    "hadoop": ("embedded", "job", "submit", "rounds"),
}

# The rooms of runtime/host, lowest first, each with those of which it may include headers. "../" is beside runtime/host.
NATIVE_ROOMS = {
    "base": "../hostlane",  # checksums, which host kernels have without the system's headers
    "device": "base ../emu",
    "pairs": "base",
    "filter": "base pairs",
    "input": "base device filter",
    "ifile": "base pairs filter",
    "output": "base device ifile",
    "collect": "base pairs filter ifile",
    "task": "base pairs filter input ifile collect ../device",
    "host_kernel": "base filter input collect task ../device",
    "launch": "base device task ../device",
    "steps": "base input output collect task launch ../device",
    "gpu": "base device filter input ifile output collect task host_kernel launch steps",
    "api": "device input collect task host_kernel gpu",
}

# The plug-in's classes, lowest first: a class names others of its own room and of lower ones. They are one package all the
# same: of another one Java sees only public classes, and what is public there is seen by every job.
PLUGIN_ROOMS = {
    "settings": "Settings",
    "splits": "GroupReader GroupedSplit Grouping Slots",
    "wire": "Connection DataFrames DriverAddress DriverSocket Fields Frame Handshake KeepAlive PatienceException "
            "ProtocolException RefusedException UntrustedException VersionException",
    "result": "HeteroCounters LeftoverException MapOutputIndex MapOutputVerifier MapResult ResultTarget SegmentChecksums "
              "ShuffleOutput",
    "task": "ChildEnvironment DriverTask LocalizedFiles SplitReader",
    "attempt": "Decline EarlierAttempts Fallback HeteroCollector HeteroInputFormat HeteroMapRunner HeteroOutputFormat "
               "InputFormats MapAttempt Offer TextOutput",
}

# Third-party name -> where it may be imported.
HOMES = {
    "pycparser": ("compiler",),
    "jinja2": ("compiler.emit.render",),
    "click": ("cli", "commands"),
    "rich": ("engine.terminal",),
    "pycuda": ("executor.gpu.device",),
    "hdfs": ("storage",),
    "hdfs_native": ("storage",),
}
# Standard modules that reach out of the process, and where they may.
PROCESS_HOMES = {
    "subprocess": (
        "toolchain", "daemon.start", "executor.worker.process", "hadoop",
    ),
    "ctypes": ("executor", "storage.spnego"),
    # Decision 0037: what processes of ours need is in one kit.
    "hmac": ("daemon.secret",), "logging": ("daemon.log",),
}

# Decision 0005: commands load what they need when they run, and only a terminal needs the progress bar's library.
# PyCUDA is an extra, and only a worker process that drives a GPU loads it, which wakes the GPU before it imports the rest.
LOADS_LATE = {
    *(PACKAGE / "cli").glob("*.py"), PACKAGE / "engine" / "terminal" / "progress.py",
    PACKAGE / "executor" / "gpu" / "device.py",
    PACKAGE / "together.py", PACKAGE / "compiler" / "compile.py",  # loads the compiler while C compilers run
    PACKAGE / "compiler" / "emit" / "render.py",  # as that
    PACKAGE / "storage" / "inputs.py",  # HDFS, which few jobs have inputs in
    PACKAGE / "executor" / "worker" / "main.py", PACKAGE / "commands" / "early.py",
}

FUNCTION_LINES = 60
FOLDER_FILES = 20  # sources; beyond that nobody finds a file by reading the folder's list
# Folders that are larger, each with what was found when it was looked at.
LARGER = {
    "heterodoop/compiler/analysis": "the path analysis, ten files by their prefix, and what others ask beside it",
    "runtime/device/libc": "C's own library: a header for each family of its functions",
    "runtime/hadoop/src/main/java/org/heterodoop/mr": "one package, in the order of PLUGIN_ROOMS",
    "runtime/headers": "a file for each header of C: their names are given",
}


def dotted(path: Path) -> str:
    """`compiler.ir.ir` for heterodoop/compiler/ir/ir.py; a package is its folder's name, heterodoop itself ""."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[str, str, ast.stmt]]:
    """(kind, name, node) per imported module: kind "own" with a name below heterodoop, or "foreign" with a top name."""
    module = dotted(path)
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield ("own" if alias.name.split(".")[0] == "heterodoop" else "foreign"), alias.name.split(".")[0], node
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield "foreign", (node.module or "").split(".")[0], node
        elif isinstance(node, ast.ImportFrom):
            base = [p for p in package if p][: len([p for p in package if p]) - node.level + 1]
            if node.module:
                yield "own", ".".join([*base, node.module]), node
            else:
                for alias in node.names:
                    yield "own", ".".join([*base, alias.name]), node


def top(module: str) -> str:
    name = module.split(".")[0]
    return name if name in RANK else ""


def test_every_module_has_a_level() -> None:
    tops = {dotted(path).split(".")[0] for path in MODULES}
    assert tops - set(RANK) == set(), "put these into LEVELS"
    assert set(RANK) - tops == set(), "LEVELS names what is not there"


def test_imports_go_down() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: imports {name}"
        for path in MODULES
        for kind, name, node in imports(path)
        if kind == "own" and goes_up_or_sideways(dotted(path), name)
    ]
    assert not wrong, "\n".join(wrong)


def goes_up_or_sideways(module: str, name: str) -> bool:
    me, other = top(module), top(name)
    return me != other and RANK[other] >= max(RANK[me], 1)


@pytest.mark.parametrize("package", ROOMS)
def test_the_rooms_of_a_package_stand_one_above_the_other(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: imports {name}"
        for path in (PACKAGE / package).rglob("*.py")
        for kind, name, node in imports(path)
        if kind == "own" and name.split(".")[0] == package and floor(name) > floor(dotted(path))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", ROOMS)
def test_every_folder_of_a_package_is_a_room(package: str) -> None:
    folders = {path.parent.name for path in (PACKAGE / package).glob("*/*.py")}
    assert folders == set(ROOMS[package]), "ROOMS and the folders differ"
    assert all((PACKAGE / package / room / "__init__.py").is_file() for room in folders), "without a word on what is in it"


@pytest.mark.parametrize("package", ["compiler", "executor", "engine", "driver"])
def test_tests_of_a_package_lie_in_its_rooms(package: str) -> None:
    folders = {path.parent.name for path in (ROOT / "tests" / package).glob("*/test_*.py")}
    assert folders, f"no test of {package} in a room"
    assert folders <= set(ROOMS[package]), sorted(folders - set(ROOMS[package]))


def floor(module: str) -> int:
    """The place of a module in the rooms of its package; the spine is above them all."""
    package, room = (module.split(".") + [""])[:2]
    return ROOMS[package].index(room) if room in ROOMS[package] else len(ROOMS[package])


def native_includes(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every header of ours that a file of runtime/host includes."""
    runtime = ROOT / "runtime"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if found:
            header = next(p for p in (path.parent / found[1], runtime / "host" / found[1]) if p.exists()).resolve()
            folder = header.relative_to(runtime).parts
            yield number, folder[1] if folder[0] == "host" else f"../{folder[0]}"


def native_files() -> list[Path]:
    return sorted(p for p in (ROOT / "runtime" / "host").rglob("*") if p.suffix in (".h", ".cpp"))


def test_the_native_rooms_stand_one_above_the_other() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: includes {room}"
        for path in native_files()
        for number, room in native_includes(path)
        if room not in {path.parent.name, *NATIVE_ROOMS[path.parent.name].split()}
    ]
    assert not wrong, "\n".join(wrong)


def test_the_table_of_native_rooms_goes_down_and_names_what_is_used() -> None:
    rooms = list(NATIVE_ROOMS)
    assert set(rooms) == {path.parent.name for path in native_files()}
    used = {(path.parent.name, room) for path in native_files() for _, room in native_includes(path)}
    for room, lower in NATIVE_ROOMS.items():
        assert all(name in rooms[: rooms.index(room)] for name in lower.split() if not name.startswith("../")), room
        assert {(room, name) for name in lower.split()} <= used, f"{room} includes less than the table says"


def plugin_classes() -> dict[str, set[str]]:
    """Class of the plug-in -> the others that its code names; comments and strings are no code."""
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "runtime/hadoop/src/main").rglob("*.java")}
    found = {}
    for name, text in sources.items():
        code = re.sub(r'"(\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', " ", text, flags=re.DOTALL)
        found[name] = set(re.findall(r"\w+", code)) & sources.keys() - {name}
    return found


def test_the_plug_in_s_rooms_stand_one_above_the_other() -> None:
    place = {name: number for number, names in enumerate(PLUGIN_ROOMS.values()) for name in names.split()}
    classes = plugin_classes()
    assert place.keys() == classes.keys(), "PLUGIN_ROOMS and the classes differ"
    wrong = [f"{name} names {other}" for name, others in classes.items() for other in others if place[other] > place[name]]
    assert not wrong, "\n".join(wrong)
    assert "Frame" in classes["Connection"] and "MapResult" in classes["DriverTask"]


def test_foreign_names_have_one_home() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: imports {name}"
        for path in MODULES
        for kind, name, node in imports(path)
        if kind == "foreign" and not at_home(dotted(path), name)
    ]
    assert not wrong, "\n".join(wrong)


def at_home(module: str, name: str) -> bool:
    homes = PROCESS_HOMES.get(name, ("",)) if name in sys.stdlib_module_names else HOMES.get(name, ())
    return any(home in ("", module) or module.startswith(f"{home}.") for home in homes)


def test_no_import_inside_a_function() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: import inside {function.name}"
        for path in MODULES
        if path not in LOADS_LATE
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert not wrong, "\n".join(wrong)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_every_dependency_is_used_and_every_use_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[^\w.-]", dependency)[0].lower() for dependency in project["dependencies"]}
    used = {name for path in MODULES for kind, name, _ in imports(path) if kind == "foreign"}
    optional = {"pycuda", "hdfs", "hdfs_native"}
    assert declared == used - sys.stdlib_module_names - optional


def test_folders_stay_small() -> None:
    sizes = Counter(str(path.parent.relative_to(ROOT)) for path in SOURCES if path.name != "__init__.py")
    larger = {folder: n for folder, n in sizes.items() if n > FOLDER_FILES}
    assert larger.keys() - LARGER.keys() == set(), f"divide, or look at it and say in LARGER what is in it: {larger}"
    assert LARGER.keys() - larger.keys() == set(), "LARGER names folders that are not large"


def test_functions_stay_short() -> None:
    lengths = [
        (f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for path in PYTHON_FILES
        for node in functions(path)
    ]
    wrong = [f"{place} has {n} lines" for place, n in lengths if n > FUNCTION_LINES]
    assert not wrong, "\n".join(wrong)


def test_modules_say_what_they_are() -> None:
    wrong = [str(path.relative_to(ROOT)) for path in MODULES if not ast.get_docstring(ast.parse(path.read_bytes()))]
    assert not wrong, f"without a docstring: {wrong}"


def test_the_checks_see_what_they_check() -> None:
    """The readers above would pass on anything if they saw nothing."""
    assert ("own", "errors") in {(kind, name) for kind, name, _ in imports(PACKAGE / "resources.py")}
    jobconf = PACKAGE / "job" / "jobconf.py"
    assert ("own", "executor.task.split") in {(kind, name) for kind, name, _ in imports(jobconf)}
    assert goes_up_or_sideways("compiler.ir.ir", "executor.task.split") and goes_up_or_sideways("errors", "diag")
    assert not goes_up_or_sideways("job.jobconf", "executor.task.split")
    walk = PACKAGE / "compiler" / "ir" / "walk.py"
    assert ("own", "compiler.types.ctype") in {(kind, name) for kind, name, _ in imports(walk)}
    assert floor("executor.native.abi") < floor("executor.worker.client") < floor("executor.device_pool")
    assert floor("compiler.source.clean") < floor("compiler.ir") < floor("compiler.emit.stmt") < floor("compiler.passes")
    assert not at_home("job.jobconf", "click") and at_home("engine.terminal.progress", "rich")
