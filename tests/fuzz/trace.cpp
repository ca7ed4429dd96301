// Feeds bytes as an OTF2 archive (packed_archive.hpp): it is refused, or read and checked as far as possible.
#include <stdlib.h>

#include <cstdlib>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "tests/fuzz/packed_archive.hpp"
#include "tools/ardoise/trace/perfetto/trace_perfetto.hpp"
#include "tools/ardoise/trace/races/trace_races.hpp"
#include "tools/ardoise/trace/trace_check.hpp"

using namespace ardoise;

namespace {

// In memory if there is such a file system.
std::filesystem::path make_scratch_folder() {
  const bool has_memory = std::filesystem::is_directory("/dev/shm");
  std::string name = std::string(has_memory ? "/dev/shm" : "/tmp") + "/fuzz_trace_XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  std::filesystem::create_directories(name + "/traces");
  static const std::filesystem::path kept = name;
  std::atexit([] { std::filesystem::remove_all(kept); });
  return name;
}

}  // namespace

// OTF2 does not free the arrays of a record with a fault.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libopen-trace-format2\n"; }

// OTF2 allocates as many bytes as a record claims; the failed allocation is not an error.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path folder = make_scratch_folder();
  fuzz::unpack_archive({reinterpret_cast<const char*>(data), size}, folder);
  try {
    const knowledge_sources::ArchiveReader archive(folder);
    launcher::TraceCheck check(archive.definitions());
    (void)knowledge_sources::read_in_order(archive, check);
    check.finish();
    (void)check.faults().sentences();
    launcher::TraceRaces races(archive.definitions());
    (void)knowledge_sources::read_in_order(archive, races);
    races.finish();
    (void)races.text();
    (void)races.csv();
    (void)races.notes();
    launcher::ExportOutput out("/dev/null");
    (void)launcher::write_perfetto(archive, out);
  } catch (const knowledge_sources::UnreadableArchive& refused) {
    if (std::string_view(refused.what()).empty()) __builtin_trap();
  }
  return 0;
}
