#include "filter/memory.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace hd {
namespace {

constexpr size_t kMostProcesses = 10000;  // numbers of processes are used again: a tree that changes might have a ring

uint64_t resident(const std::string &folder) {
  std::ifstream file(folder + "/statm");
  uint64_t size = 0, pages = 0;
  return file >> size >> pages ? pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

// Each thread has the processes that it started.
void add_children(const std::string &folder, std::vector<std::string> &folders) {
  const std::string threads = folder + "/task/";
  const std::unique_ptr<DIR, int (*)(DIR *)> listed(::opendir(threads.c_str()), ::closedir);
  if (!listed) return;
  while (const dirent *entry = ::readdir(listed.get())) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream file(threads + entry->d_name + "/children");
    for (pid_t child; file >> child;) folders.push_back("/proc/" + std::to_string(child));
  }
}

}  // namespace

uint64_t memory_of_tree(pid_t pid) {
  std::vector<std::string> folders{"/proc/" + std::to_string(pid)};
  uint64_t total = 0;
  for (size_t i = 0; i < folders.size() && i < kMostProcesses; ++i) {
    const std::string folder = folders[i];
    total += resident(folder);
    add_children(folder, folders);
  }
  return total;
}

}  // namespace hd
