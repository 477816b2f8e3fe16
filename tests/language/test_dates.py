"""What kernels have for gmtime and timegm is C in a stand-in header: here it is held against the C library."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from ..support import ROOT

MAIN = r"""
static int same(struct tm a, struct tm b)
{
    return a.tm_sec == b.tm_sec && a.tm_min == b.tm_min && a.tm_hour == b.tm_hour && a.tm_mday == b.tm_mday &&
           a.tm_mon == b.tm_mon && a.tm_year == b.tm_year && a.tm_wday == b.tm_wday && a.tm_yday == b.tm_yday &&
           a.tm_isdst == b.tm_isdst && a.tm_gmtoff == b.tm_gmtoff && !strcmp(a.tm_zone, b.tm_zone);
}
int main(void)
{
    const long first = -719162L * 86400, behind = 2932897L * 86400; /* years 1 to 9999 */
    unsigned long r = 88172645463325252ul;
    for (long i = 0; i < 200000; i++) {
        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        long any = (long)(r % (behind - first)) + first;
        long t = i == 0 ? first : i == 1 ? behind - 1 : i < 60000 ? (i - 30000) * 86400 - i % 2 : any;
        struct tm ours = {0}, theirs = {0};
        our_gmtime_r(&t, &ours), gmtime_r(&t, &theirs);
        if (!same(ours, theirs))
            return printf("gmtime %ld\n", t), 1;
        if (theirs.tm_year < -899)
            continue;
        ours.tm_wday = theirs.tm_wday = 3;
        long found = our_timegm(&ours), expected = timegm(&theirs);
        if (found != expected || !same(ours, theirs))
            return printf("timegm %ld %ld\n", found, expected), 1;
    }
    struct tm odd = {.tm_year = 100, .tm_mon = 1, .tm_mday = 30};
    puts("equal");
    fflush(stdout);
    return our_timegm(&odd) != 0; /* aborts: the C library's goes on to March */
}
"""


def test_dates_of_kernels_are_the_librarys(tmp_path: Path) -> None:
    header = (ROOT / "runtime" / "headers" / "time.h").read_text()
    body = header[header.index("time_t __hd_days"):header.index("double difftime(time_t a, time_t b)\n{")]
    ours = re.sub(r"\b(gmtime_r|gmtime|timegm)\(", r"our_\1(", body)
    source, binary = tmp_path / "dates.c", tmp_path / "dates"
    names = ("stdio", "stdlib", "string", "time")
    source.write_text("#define _GNU_SOURCE\n" + "".join(f"#include <{name}.h>\n" for name in names) + ours + MAIN)
    subprocess.run(["gcc", "-O1", "-w", source, "-o", binary], check=True)
    done = subprocess.run([binary], capture_output=True)
    assert (done.stdout, done.returncode) == (b"equal\n", -6)
