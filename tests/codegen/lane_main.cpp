// Runs a generated kernel in one lane over stdin: stdout and stderr are the C program's, in the order of the sequential
// program. A failure of the lane: exit status 40 + hd::Status, and nothing on stdout.
//
//     lane PATTERN < records        PATTERN: the byte that private storage holds at first, 0 to 255
//
// Built with -DKERNEL='"map.cu"' -DENTRY=hd_map -DPER_RECORD=1 (0: all records are one work item).
#include "lane.h"

#include KERNEL

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

namespace {

hd::Failure failure{};

struct Records {
    std::vector<char> text;
    std::vector<uint64_t> offset;
    std::vector<uint32_t> length;
};

std::string read_all() {
    std::string all;
    char part[4096];
    for (size_t n; (n = std::fread(part, 1, sizeof part, stdin)) > 0;) all.append(part, n);
    return all;
}

Records stage(const std::string &input) {
    Records records;
    for (size_t start = 0; start < input.size();) {
        size_t end = input.find('\n', start);
        if (end == std::string::npos) end = input.size();
        records.offset.push_back(records.text.size());
        records.length.push_back(static_cast<uint32_t>(end - start));
        records.text.insert(records.text.end(), input.begin() + static_cast<long>(start), input.begin() + static_cast<long>(end));
        records.text.push_back('\n');
        do records.text.push_back('\0'); while (records.text.size() % 16);
        start = end + 1;
    }
    records.text.resize(records.text.size() + 16);
    return records;
}

}  // namespace

void hd_emu_exit_lane() { std::exit(40 + static_cast<int>(failure.status)); }

int main(int argc, char **argv) {
    hd_pattern = argc > 1 ? std::atoi(argv[1]) : 0;
    Records records = stage(read_all());
    const auto count = static_cast<uint32_t>(records.length.size());
    std::vector<char> arena(1 << 24);
    std::vector<hd::Pair> pairs(1 << 18, hd::Pair{0, hd::no_pair, 0, 0, 0});
    unsigned long long arena_used = 0, pairs_used = 0;
    unsigned next = 0;
    const uint32_t begin[] = {0, count};
    hd::Task task{};
    task.in = {records.text.data(), records.offset.data(), records.length.data(), count};
    task.out = {arena.data(), arena.size(), &arena_used, pairs.data(), pairs.size(), &pairs_used};
    task.begin = PER_RECORD ? nullptr : begin;
    task.items = PER_RECORD ? count : count ? 1 : 0;
    task.next = &next;
    task.failure = &failure;
    app::ENTRY(task, app::Shared{});
    std::vector<hd::Pair> lines;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(lines), [](const hd::Pair &p) { return p.length != hd::no_pair; });
    const auto place = [](const hd::Pair &p) { return static_cast<uint64_t>(p.item) << 32 | (p.sequence & ~hd::to_stderr); };
    std::sort(lines.begin(), lines.end(), [&](const hd::Pair &a, const hd::Pair &b) { return place(a) < place(b); });
    for (const hd::Pair &line : lines) {
        const bool error = line.sequence & hd::to_stderr;
        std::fwrite(arena.data() + line.at, 1, line.length, error ? stderr : stdout);
        if (!error) std::fputc('\n', stdout);
    }
    return 0;
}
