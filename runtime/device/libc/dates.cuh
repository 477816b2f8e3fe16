// Dates as text, as glibc's strftime and strptime have them in the C locale: a program that sets another one has no kernel.
// What depends on the machine's time zone, on tables of locales, or differs between releases gives the task up.
#pragma once

#include "libc/ctype.cuh"
#include "steps/abi.h"

namespace hd {

HD_TABLE char day_names[7][10] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
HD_TABLE char month_names[12][10] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

// Days from the first of January 1970; the day of the month may be any.
HD_DEVICE long days_of(long year, int month, int day) {
    const long y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    const long of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

HD_DEVICE int year_length(int year) { return 365 + (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)); }

// Days since the Monday of the first week of ISO 8601, for the `day`th day of a year (0: January 1).
HD_DEVICE int iso_days(int day, int weekday) { return day - ((day - (weekday + 6) % 7 + 381) % 7 - 3); }

// The conversions that one stands for, null for those that stand for themselves.
HD_DEVICE const char *date_format(char conversion) {
    switch (conversion) {
    case 'D':
    case 'x': return "%m/%d/%y";
    case 'F': return "%Y-%m-%d";
    case 'T':
    case 'X': return "%H:%M:%S";
    case 'R': return "%H:%M";
    case 'r': return "%I:%M:%S %p";
    case 'c': return "%a %b %e %H:%M:%S %Y";
    default: return nullptr;
    }
}

// Goes through a format: the conversions that one stands for come in its place.
struct DateFormat {
    const char *at, *behind = nullptr;

    // The next byte that is not the format's end, or 0.
    HD_DEVICE char peek() {
        if (*at == '\0' && behind != nullptr) {
            at = behind;
            behind = nullptr;
        }
        return *at;
    }
    HD_DEVICE bool enter(char conversion) {
        const char *const inner = date_format(conversion);
        if (inner == nullptr) return false;
        behind = at;
        at = inner;
        return true;
    }
};

// strftime's text, of up to `Size` - 1 bytes.
template <class L, class Tm> struct DateWriter {
    L &lane;
    uint32_t line;
    const Tm &parts;
    char *text;
    uint32_t size, used = 0;
    char pad = 0;
    bool upper = false;

    HD_DEVICE void leave() { lane.fail(Status::unsupported, line); }
    HD_DEVICE int within(int number, int low, int high) {
        if (number < low || number > high) leave();
        return number;
    }
    HD_DEVICE int year() { return within(parts.tm_year, -900, 8099) + 1900; }
    HD_DEVICE int hour() { return within(parts.tm_hour, 0, 23); }
    HD_DEVICE int weekday() { return within(parts.tm_wday, 0, 6); }
    HD_DEVICE int day_of_year() { return within(parts.tm_yday, 0, 365); }

    HD_DEVICE void put(char c) {
        if (used + 1 >= size) leave();
        text[used++] = c;
    }
    HD_DEVICE void name(const char *from, int most) {
        for (int i = 0; i < most && from[i] != '\0'; ++i) put(upper && from[i] >= 'a' && from[i] <= 'z' ? from[i] - 32 : from[i]);
    }
    HD_DEVICE void number(int value, int digits, char usual = '0') {
        const char with = pad != 0 ? pad : usual;
        int power = 1;
        for (int i = 1; i < digits; ++i) power *= 10;
        for (bool begun = false; power > 0; power /= 10) {
            begun = begun || value >= power || power == 1;
            if (begun || with != '-') put(begun ? static_cast<char>('0' + value / power % 10) : with == '_' ? ' ' : '0');
        }
    }
    // ISO 8601's year, times 100, and week.
    HD_DEVICE int iso_week() {
        int of = year(), days = iso_days(day_of_year(), weekday());
        if (days < 0) {
            --of;
            days = iso_days(day_of_year() + year_length(of), weekday());
        } else if (const int next = iso_days(day_of_year() - year_length(of), weekday()); next >= 0) {
            ++of;
            days = next;
        }
        return of * 100 + days / 7 + 1;
    }
    HD_DEVICE void offset() {
        if (parts.tm_isdst < 0) return;
        if (parts.tm_gmtoff < 0 || parts.tm_gmtoff > 86399) leave();
        const int minutes = static_cast<int>(parts.tm_gmtoff / 60);
        put('+');
        number(minutes / 60 * 100 + minutes % 60, 4);
    }
    HD_DEVICE void conversion(char letter) {
        switch (letter) {
        case 'a': return name(day_names[weekday()], 3);
        case 'A': return name(day_names[weekday()], 9);
        case 'b':
        case 'h': return name(month_names[within(parts.tm_mon, 0, 11)], 3);
        case 'B': return name(month_names[within(parts.tm_mon, 0, 11)], 9);
        case 'C': return number(year() / 100, 2);
        case 'd': return number(within(parts.tm_mday, 0, 99), 2);
        case 'e': return number(within(parts.tm_mday, 0, 99), 2, '_');
        case 'g': return number(iso_week() / 100 % 100, 2);
        case 'G': return number(within(iso_week() / 100, 1000, 9999), 4);
        case 'H': return number(hour(), 2);
        case 'I': return number((hour() + 11) % 12 + 1, 2);
        case 'j': return number(day_of_year() + 1, 3);
        case 'k': return number(hour(), 2, '_');
        case 'l': return number((hour() + 11) % 12 + 1, 2, '_');
        case 'm': return number(within(parts.tm_mon, 0, 11) + 1, 2);
        case 'M': return number(within(parts.tm_min, 0, 59), 2);
        case 'n': return put('\n');
        case 'p': return name(hour() > 11 ? "PM" : "AM", 2);
        case 'P': return name(hour() > 11 ? "pm" : "am", 2);
        case 'S': return number(within(parts.tm_sec, 0, 60), 2);
        case 't': return put('\t');
        case 'u': return number((weekday() + 6) % 7 + 1, 1);
        case 'U': return number((day_of_year() - weekday() + 7) / 7, 2);
        case 'V': return number(iso_week() % 100, 2);
        case 'w': return number(weekday(), 1);
        case 'W': return number((day_of_year() - (weekday() + 6) % 7 + 7) / 7, 2);
        case 'y': return number(year() % 100, 2);
        case 'Y': return number(year(), 4);
        case 'z': return offset();
        case '%': return put('%');
        default: leave();  // of %s and %Z the machine's zone; widths, E, O; and what is no conversion
        }
    }
    HD_DEVICE void run(DateFormat format) {
        while (const char c = format.peek()) {
            ++format.at;
            if (c != '%') {
                put(c);
                continue;
            }
            char letter = *format.at++;
            for (pad = 0, upper = false; letter == '-' || letter == '_' || letter == '0' || letter == '^'; letter = *format.at++)
                (letter == '^' ? upper = true : pad = letter);
            if (letter == '\0') leave();
            if (date_format(letter) == nullptr)
                conversion(letter);
            else if (pad != 0 || upper || !format.enter(letter))
                leave();
        }
    }
};

// All of *made is written: a text and NUL bytes.
template <class L, class Made, class Tm>
HD_NOINLINE void date_written(L &lane, uint32_t line, Made *made, const char *format, const Tm *parts) {
    for (char &c : made->text) c = '\0';
    DateWriter<L, Tm>{lane, line, *parts, made->text, sizeof made->text}.run({format});
}

// ---- strptime

template <class L, class Tm> struct DateReader {
    L &lane;
    uint32_t line;
    Tm &parts;
    const char *at;
    bool afternoon = false, half = false, dated = false, has_month = false, has_day = false, has_weekday = false, has_year_day = false;

    HD_DEVICE void leave() { lane.fail(Status::unsupported, line); }
    HD_DEVICE bool number(int low, int high, int digits, int &found) {
        while (*at == ' ') ++at;
        if (*at >= '\t' && *at <= '\r') leave();  // releases differ about it
        int n = 0;
        for (found = 0; n < digits && *at >= '0' && *at <= '9' && (n == 0 || found * 10 <= high); ++n) found = found * 10 + *at++ - '0';
        return n != 0 && found >= low && found <= high;
    }
    template <class To> HD_DEVICE bool number(int low, int high, int digits, To &to, int less) {
        int found;
        if (!number(low, high, digits, found)) return false;
        to = found - less;
        return true;
    }
    // Its first three letters do, whatever their case.
    HD_DEVICE bool name(const char (*names)[10], int count, int &to) {
        for (int i = 0; i < count; ++i) {
            int n = 0;
            while (names[i][n] != '\0' && (at[n] | 32) == (names[i][n] | 32)) ++n;
            if (n < 3) continue;
            at += names[i][n] == '\0' ? n : 3;
            to = i;
            return true;
        }
        return false;
    }
    HD_DEVICE bool half_day() {
        afternoon = (*at | 32) == 'p';
        if ((!afternoon && (*at | 32) != 'a') || (at[1] | 32) != 'm') return false;
        at += 2;
        return true;
    }
    // +hhmm, +hh:mm. Of others releases know different ones.
    HD_DEVICE bool offset() {
        while (*at == ' ') ++at;
        if (*at != '+' && *at != '-') leave();
        const int sign = *at++ == '-' ? -1 : 1;
        int found = 0;
        for (int n = 0; n < 4; ++n) {
            if (*at < '0' || *at > '9') leave();
            found = found * 10 + *at++ - '0';
            if (n == 1 && *at == ':') ++at;
        }
        if (found % 100 >= 60) leave();
        parts.tm_gmtoff = sign * (found / 100 * 3600L + found % 100 * 60);
        return true;
    }
    HD_DEVICE bool conversion(char letter) {
        switch (letter) {
        case 'a':
        case 'A': return has_weekday = name(day_names, 7, parts.tm_wday);
        case 'b':
        case 'B':
        case 'h': return dated = has_month = name(month_names, 12, parts.tm_mon);
        case 'd':
        case 'e': return dated = has_day = number(1, 31, 2, parts.tm_mday, 0);
        case 'H':
        case 'k': return half = false, number(0, 23, 2, parts.tm_hour, 0);
        case 'I':
        case 'l': {
            int found;
            if (!number(1, 12, 2, found)) return false;
            parts.tm_hour = found % 12;
            return half = true;
        }
        case 'j': return has_year_day = number(1, 366, 3, parts.tm_yday, 1);
        case 'm': return dated = has_month = number(1, 12, 2, parts.tm_mon, 1);
        case 'M': return number(0, 59, 2, parts.tm_min, 0);
        case 'n':
        case 't': return blanks();
        case 'p': return half_day();
        case 'S': return number(0, 61, 2, parts.tm_sec, 0);
        case 'y': {
            int found;
            if (!number(0, 99, 2, found)) return false;
            parts.tm_year = found >= 69 ? found : found + 100;
            return dated = true;
        }
        case 'Y': return dated = number(0, 9999, 4, parts.tm_year, 1900);
        case 'z': return offset();
        default: leave();  // of %s and %Z the machine's zone; centuries, weeks, flags, E, O; and what is no conversion
        }
        return false;
    }
    HD_DEVICE bool blanks() {
        while (space_char(*at)) ++at;
        return true;
    }
    // The days that follow from a date.
    HD_DEVICE void finish() {
        if (half && afternoon) parts.tm_hour += 12;
        if (!dated || (has_weekday && has_year_day)) return;
        const int year = parts.tm_year, month = parts.tm_mon;
        if ((has_year_day && !(has_month && has_day)) || year < -1900 || year > 8099 || month < 0 || month > 11) leave();
        const long day = days_of(year + 1900L, month + 1, parts.tm_mday);
        if (!has_weekday) parts.tm_wday = static_cast<int>(((day + 4) % 7 + 7) % 7);
        if (!has_year_day) parts.tm_yday = static_cast<int>(day - days_of(year + 1900L, 1, 1));
    }
    // A conversion that stands for others has none of its members written where one of them is not there.
    HD_DEVICE bool run(DateFormat format) {
        Tm before = parts;
        const bool found = each(format, before);
        if (found)
            finish();
        else if (format.behind != nullptr)
            parts = before;
        return found;
    }
    HD_DEVICE bool each(DateFormat &format, Tm &before) {
        while (const char c = format.peek()) {
            ++format.at;
            if (space_char(c)) {
                blanks();
            } else if (c == '%' && *format.at != '%') {
                const char letter = *format.at++;
                if (letter == '\0') leave();
                if (format.behind == nullptr && format.enter(letter)) {
                    before = parts;
                    continue;
                }
                if (!conversion(letter)) return false;
            } else {
                if (c == '%') ++format.at;
                if (*at != c) return false;
                ++at;
            }
        }
        return true;
    }
};

// Bytes of the text that a date is read from, -1 where it is none; some of its members are written then, too.
template <class L, class Tm> HD_NOINLINE long date_read(L &lane, uint32_t line, const char *text, const char *format, Tm *parts) {
    DateReader<L, Tm> reader{lane, line, *parts, text};
    return reader.run({format}) ? reader.at - text : -1;
}

}  // namespace hd
