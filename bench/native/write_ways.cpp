// Ways to write a new file, by several threads: what base/file_range.h chooses from (docs/decisions/0028).
//   g++ -O2 -std=c++20 -pthread bench/native/write_ways.cpp -o write_ways && ./write_ways FOLDER MIB THREADS...
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t kPiece = 1 << 20;
constexpr int kRounds = 5, kPopulateWrite = 23;
enum Way { kWrite, kAllocateAndWrite, kMap };
const char *const kNames[] = {"pwrite", "fallocate, pwrite", "fallocate, mapping"};

void must(bool done, const char *what) {
  if (done) return;
  std::perror(what);
  std::exit(1);
}

double seconds(const std::string &path, size_t bytes, Way way, int threads, const std::vector<char> &text) {
  ::unlink(path.c_str());
  const auto begin = std::chrono::steady_clock::now();
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_EXCL, 0600);
  must(fd >= 0, "open");
  if (way != kWrite) must(::fallocate(fd, 0, 0, off_t(bytes)) == 0, "fallocate");
  char *map = nullptr;
  if (way == kMap) {
    map = static_cast<char *>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    must(map != MAP_FAILED, "mmap");
  }
  std::atomic<size_t> next = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      for (size_t at; (at = next.fetch_add(kPiece)) < bytes;) {
        const size_t n = std::min(kPiece, bytes - at);
        if (map) {
          must(::madvise(map + at, n, kPopulateWrite) == 0, "madvise");
          std::memcpy(map + at, text.data(), n);
          ::madvise(map + at, n, MADV_DONTNEED);
        } else {
          must(::pwrite(fd, text.data(), n, off_t(at)) == ssize_t(n), "pwrite");
        }
      }
    });
  for (std::thread &thread : all) thread.join();
  if (map) ::munmap(map, bytes);
  ::close(fd);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char **argv) {
  if (count < 4) return std::fprintf(stderr, "usage: write_ways FOLDER MIB THREADS...\n"), 2;
  const std::string path = std::string(argv[1]) + "/write_ways.tmp";
  const size_t bytes = std::strtoull(argv[2], nullptr, 10) << 20;
  const std::vector<char> text(kPiece, 'x');
  for (int i = 3; i < count; ++i)
    for (const Way way : {kWrite, kAllocateAndWrite, kMap}) {
      std::vector<double> taken;
      for (int round = 0; round < kRounds; ++round) taken.push_back(seconds(path, bytes, way, std::atoi(argv[i]), text));
      std::sort(taken.begin(), taken.end());
      std::printf("%-20s %3s threads: median %.3f s, %.2f GB/s; best %.2f\n", kNames[way], argv[i], taken[kRounds / 2],
                  double(bytes) / taken[kRounds / 2] / 1e9, double(bytes) / taken[0] / 1e9);
      std::fflush(stdout);
    }
  ::unlink(path.c_str());
}
