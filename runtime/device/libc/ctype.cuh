// ctype.h in the C locale, bit for bit as glibc: the classes answer with the bit of its table (isalpha: 1024), and chars
// that were passed without a cast to unsigned char (-128..-2) are of no class, and become their unsigned value in
// tolower and toupper.
#pragma once

#include "lane/base.cuh"

#undef isascii  // macros, also in C++, wherever glibc's ctype.h was read before
#undef toascii
#undef _tolower
#undef _toupper

namespace hd {

HD_DEVICE bool in_range(int c, int first, int last) {
    return static_cast<unsigned>(c) - static_cast<unsigned>(first) <= static_cast<unsigned>(last - first);
}

HD_DEVICE bool digit_char(int c) { return in_range(c, '0', '9'); }
HD_DEVICE bool space_char(int c) { return c == ' ' || in_range(c, '\t', '\r'); }
HD_DEVICE bool alpha_char(int c) { return in_range(c | 0x20, 'a', 'z'); }
HD_DEVICE bool hex_char(int c) { return digit_char(c) || in_range(c | 0x20, 'a', 'f'); }

HD_DEVICE int isupper(int c) { return in_range(c, 'A', 'Z') ? 1 << 8 : 0; }
HD_DEVICE int islower(int c) { return in_range(c, 'a', 'z') ? 1 << 9 : 0; }
HD_DEVICE int isalpha(int c) { return alpha_char(c) ? 1 << 10 : 0; }
HD_DEVICE int isdigit(int c) { return digit_char(c) ? 1 << 11 : 0; }
HD_DEVICE int isxdigit(int c) { return hex_char(c) ? 1 << 12 : 0; }
HD_DEVICE int isspace(int c) { return space_char(c) ? 1 << 13 : 0; }
HD_DEVICE int isprint(int c) { return in_range(c, ' ', '~') ? 1 << 14 : 0; }
HD_DEVICE int isgraph(int c) { return in_range(c, '!', '~') ? 1 << 15 : 0; }
HD_DEVICE int isblank(int c) { return c == ' ' || c == '\t' ? 1 << 0 : 0; }
HD_DEVICE int iscntrl(int c) { return in_range(c, 0, 31) || c == 127 ? 1 << 1 : 0; }
HD_DEVICE int ispunct(int c) { return in_range(c, '!', '~') && !alpha_char(c) && !digit_char(c) ? 1 << 2 : 0; }
HD_DEVICE int isalnum(int c) { return alpha_char(c) || digit_char(c) ? 1 << 3 : 0; }
HD_DEVICE int isascii(int c) { return in_range(c, 0, 127); }
HD_DEVICE int toascii(int c) { return c & 0x7f; }

HD_DEVICE int tolower(int c) { return in_range(c, 'A', 'Z') ? c | 0x20 : in_range(c, -128, -2) ? c & 0xff : c; }
HD_DEVICE int toupper(int c) { return in_range(c, 'a', 'z') ? c & ~0x20 : in_range(c, -128, -2) ? c & 0xff : c; }
HD_DEVICE int _tolower(int c) { return tolower(c); }  // glibc's macros: the table's entry, not c + 32
HD_DEVICE int _toupper(int c) { return toupper(c); }

}  // namespace hd
