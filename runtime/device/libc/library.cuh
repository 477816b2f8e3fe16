// How the C library of the machine that compiled a program behaves, where libraries differ. A kernel's text defines what is
// not so in glibc 2.36 (runtime/probe/known.txt).
#pragma once

#ifndef HD_BINARY_INTEGERS  // strtol and its kin read 0b101 in bases 0 and 2 (C23; glibc 2.38 with _GNU_SOURCE)
#define HD_BINARY_INTEGERS 0
#endif
#ifndef HD_BINARY_SCANS  // so does scanf's %i
#define HD_BINARY_SCANS 0
#endif
#ifndef HD_EXACT_HEXADECIMALS  // subnormal hexadecimal numbers are rounded right (newer glibc)
#define HD_EXACT_HEXADECIMALS 0
#endif
#ifndef HD_QUIET_PAYLOADS  // nan(99999999999999999999) does not set errno (newer glibc)
#define HD_QUIET_PAYLOADS 0
#endif
#ifndef HD_SCANNED_PAYLOADS  // scanf reads nan(12) whole (newer glibc)
#define HD_SCANNED_PAYLOADS 0
#endif
