"""The architecture, read from the imports: who may import whom, where each third-party name may appear, how long code is."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "heterodoop"
MODULES = sorted(PACKAGE.rglob("*.py"))
OTHERS = [path for folder in ("bench", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
PYTHON_FILES = [*MODULES, *OTHERS, ROOT / "setup.py"]
NATIVE_FILES = sorted(p for p in (ROOT / "runtime").rglob("*") if p.suffix in {".cpp", ".h", ".cuh", ".cu", ".c"})

# Lowest first. A module may import lower levels and its own package; never a sibling package of its own level.
LEVELS = (
    {"", "errors", "source", "resources", "interrupts", "last_resort", "together", "private", "regular", "kernel_plan"},
    {"diag", "manifest", "hdcodes", "scratch"},
    {"toolchain", "storage"},
    {"compiler", "executor", "scheduler"},
    {"engine", "driver"},
    {"hadoop"},
    {"commands", "explain"},
    {"cli"},
    {"__main__"},
)
RANK = {name: rank for rank, names in enumerate(LEVELS) for name in names}

# Third-party name -> where it may be imported.
HOMES = {
    "pycparser": ("compiler",),
    "jinja2": ("compiler.emit.render",),
    "click": ("cli", "commands"),
    "rich": ("engine",),
    "pycuda": ("executor.device",),
    "hdfs": ("storage",),
    "hdfs_native": ("storage",),
    "matplotlib": ("commands.simulate_png",),
}
# Standard modules that reach out of the process, and where they may.
PROCESS_HOMES = {
    "subprocess": (
        "toolchain", "executor.worker_process", "executor.worker_spawn", "driver", "hadoop",
    ),
    "ctypes": ("executor",),
}

# Decision 0005: commands load what they need when they run, and only a terminal needs the progress bar's library.
# PyCUDA is an extra, and only a worker process that drives a GPU loads it, which wakes the GPU before it imports the rest;
# matplotlib is used where it happens to be.
LOADS_LATE = {
    *(PACKAGE / "cli").glob("*.py"), PACKAGE / "engine" / "progress.py", PACKAGE / "executor" / "device.py",
    PACKAGE / "together.py", PACKAGE / "compiler" / "compile.py",  # loads the compiler while C compilers run
    PACKAGE / "executor" / "worker_main.py", PACKAGE / "commands" / "early.py", PACKAGE / "commands" / "simulate_png.py",
}

FILE_LINES = 400
TABLES = {PACKAGE / "hdcodes.py"}  # texts in a dict: length is no burden to a reader
FUNCTION_LINES = 60


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
    optional = {"pycuda", "hdfs", "hdfs_native", "matplotlib"}
    assert declared == used - sys.stdlib_module_names - optional


def test_files_stay_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in [*PYTHON_FILES, *NATIVE_FILES]}
    wrong = [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lengths.items() if n > FILE_LINES and path not in TABLES]
    assert not wrong, "\n".join(wrong)


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
    assert ("own", "executor.split") in {(kind, name) for kind, name, _ in imports(PACKAGE / "engine" / "jobconf.py")}
    assert goes_up_or_sideways("compiler.ir.ir", "executor.split") and goes_up_or_sideways("errors", "diag")
    assert not goes_up_or_sideways("engine.jobconf", "executor.split")
    assert not at_home("engine.jobconf", "click") and at_home("engine.progress", "rich")
