"""C programs as people write them for Hadoop Streaming, on the emulated device and as host kernels: the bytes of filters.

Each runs in every order of lanes and with every pattern in unwritten memory, in one launch and in many. Not here: the
field cases (tests/cases), programs that a machine wrote (test_random_programs.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from heterodoop.engine.run.plan import RunOptions
from heterodoop.engine.verify.verify import verify

from ..support import Bundles

pytestmark = pytest.mark.usefixtures("kernel_cache")
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.c"))
TEXT = (
    b"the quick brown fox\nab-c_d e--f,g.h  aba\n#a comment\n\n   \nabc\n"
    b"12 34 56 7.5,8.25 x\nname 1 18446744073709551615 1e300,2.5 z rest\n"
    b"0x1F 17 077\n-12.75\n1e-5 tail\n99999999999999999999999999\ninf inch\n\tafter a tab\tb\t\n" + b"x" * 90 + b"\nx\n"
    b"trailing blank \ncaf\xc3\xa9 \xff\xfe\nlong_word_of-many_parts-0123456789-abcdefghij-klmnopqrst\n"
    b"  7\n3;4;;5\n;\n2.5\n0.125\n-0\n"
)
INPUTS = {
    "text": TEXT,
    "odd bytes": TEXT[:200] + b"a\0b c\n\0\n\r\nx\r y\rz\r\n" + bytes(range(256)) + b"\n"
                 + bytes(range(256))[::-1] + b" end",
}


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_gives_the_filters_bytes(source: Path, bundles: Bundles, tmp_path: Path) -> None:
    bundle = bundles.get(source.read_text())
    for name, data in INPUTS.items():
        (tmp_path / "in").write_bytes(data)
        for number, settings in enumerate(([], ["heterodoop.gpu.sub-split.bytes=64"])):
            options = RunOptions(device="emulated", reducers=2 * number, settings=settings)
            (verdict,) = verify(bundle, [str(tmp_path / "in")], options).verdicts
            assert verdict.difference is None, (name, settings, verdict.difference)
            assert verdict.outcome == "equal", (name, settings, verdict.reason)
            assert verdict.records >= 20 and verdict.pairs >= 20
            (verdict,) = verify(bundle, [str(tmp_path / "in")], RunOptions(reducers=2 * number), host=True).verdicts
            assert verdict.outcome == "equal", (name, verdict.reason or verdict.difference)
