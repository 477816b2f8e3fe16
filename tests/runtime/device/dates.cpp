// strftime and strptime against glibc: the text, where reading ends, and every member.
#include <ctime>

#include "check.h"
#include "libc/dates.cuh"

namespace {

struct Left {};
struct Lane {
    [[noreturn]] void fail(hd::Status, uint32_t) { throw Left(); }
};
struct Made {
    char text[128];
};

const char *const conversions[] = {
    "%Y-%m-%d %H:%M:%S", "%d/%b/%Y:%H:%M:%S", "%a, %d %b %Y", "%A %B %e", "%F %T", "%D %R", "%r", "%c", "%x|%X", "%j", "%I:%M %p",
    "%y%m%d", "%k %l %P", "%U %W %V %G %g %u %w", "%C", "%-d.%-m.%Y", "%_H|%0e|%^a|%^B|%-I|%_j|%-y|%0k|%-e|%^e", "%n%t%%", "%z", "%h",
    "", "plain",
};
const char *const read_by[] = {
    "%Y-%m-%d %H:%M:%S", "%d/%b/%Y:%H:%M:%S", "%a %b %e %H:%M:%S %Y", "%F %T", "%D", "%r", "%c", "%m/%d/%y %I:%M %p", "%b %d %H:%M:%S",
    "%A, %d %B %Y", "%Y%m%d", "%H", "%Y-%m", "%j", "%T %z", "%n%y%t%%%M", "%a %b %d %j %Y", "%l%p%k",
};
template <size_t N> const char *any(Check &check, const char *const (&of)[N]) { return of[check.below(N)]; }

std::tm some_date(Check &check) {
    const long first = -30610224000, behind = 2932897L * 86400;  // years 1000 to 9999
    const time_t t = static_cast<time_t>(check.below(2) ? check.below(4102444800) : check.below(static_cast<uint64_t>(behind - first)));
    const time_t at = t < 4102444800 ? t : t + first;
    std::tm parts;
    gmtime_r(&at, &parts);
    if (check.below(5) == 0) {
        parts.tm_isdst = static_cast<int>(check.below(3)) - 1;
        parts.tm_gmtoff = static_cast<long>(check.below(86400));
        parts.tm_wday = static_cast<int>(check.below(7));
        parts.tm_yday = static_cast<int>(check.below(366));
    }
    return parts;
}

int treated = 0;

void write(Check &check, const std::tm &parts, const char *format) {
    Lane lane;
    Made ours;
    char theirs[128];
    std::strftime(theirs, sizeof theirs, *format ? format : "%n", &parts);
    if (!*format) *theirs = '\0';
    hd::date_written(lane, 1, &ours, format, &parts);
    check.same(!std::strcmp(ours.text, theirs), "strftime %s: '%s' is '%s'", format, theirs, ours.text);
}

void read(Check &check, const std::string &text, const char *format) {
    Lane lane;
    std::tm ours{}, theirs{};
    ours.tm_mday = theirs.tm_mday = 3;
    ours.tm_year = theirs.tm_year = 99;
    const char *const end = strptime(text.c_str(), format, &theirs);
    const long used = hd::date_read(lane, 1, text.c_str(), format, &ours);
    ++treated;
    check.same(used == (end ? end - text.c_str() : -1), "strptime '%s' by %s: %ld", text.c_str(), format, used);
    check.same(!std::memcmp(&ours, &theirs, sizeof ours), "members of '%s' by %s", text.c_str(), format);
}

void read_some(Check &check) {
    char text[128];
    const std::tm parts = some_date(check);
    const char *const format = any(check, read_by);
    std::strftime(text, sizeof text, check.below(8) ? format : any(check, read_by), &parts);
    std::string changed = text;
    for (uint64_t changes = check.below(3); changes > 0; --changes)
        changed[check.below(changed.size())] = " 0123456789:/-+aPmxZ\t"[check.below(21)];
    try {
        read(check, changed, format);
    } catch (Left) {
        ++check.compared;
    }
}

// What is the machine's, or another release's, is never treated.
void refuse(Check &check) {
    Lane lane;
    for (const char *format : {"%s", "%Z", "%5d", "%Ey", "%Od", "%", "%q", "%-F", "%#a", "%+"}) {
        std::tm parts = some_date(check);
        Made made;
        bool left = false;
        try {
            hd::date_written(lane, 1, &made, format, &parts);
        } catch (Left) {
            left = true;
        }
        check.same(left, "%s is treated", format);
    }
    for (const char *format : {"%s", "%Z", "%C", "%U", "%-d", "%Ey", "%", "%q"}) {
        std::tm parts{};
        bool left = false;
        try {
            hd::date_read(lane, 1, "11", format, &parts);
        } catch (Left) {
            left = true;
        }
        check.same(left, "%s is read", format);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Check check(argc, argv);
    refuse(check);
    while (check.compared < check.cases) {
        write(check, some_date(check), any(check, conversions));
        read_some(check);
    }
    check.same(treated > static_cast<int>(check.cases / 5), "only %d texts are read", treated);
    return check.finish();
}
