// Opens archives with the callbacks that OTF2 needs.
#pragma once

#include <otf2/OTF2_Archive.h>

#include <filesystem>
#include <functional>
#include <string>

namespace ardoise::knowledge_sources {

// For writing, with its event files; full buffers are written to disk. nullptr: failed, see last_otf2_error().
[[nodiscard]] OTF2_Archive* open_otf2_archive(const std::filesystem::path& folder);

// Abandons an archive after a write error: OTF2 3.0 crashes when it is then used or closed. Leaks some hundred KiB and
// a chunk for each location.
void abandon_otf2_archive(OTF2_Archive* archive);

// The system's reason of a write error while `close` closed a file, or "". OTF2 writes at most every 4 MiB, and does
// not check the last writes.
[[nodiscard]] std::string fault_of_close(const std::function<OTF2_ErrorCode()>& close);

// The latest OTF2 error of this thread, with the system's reason. OTF2 reports errors nowhere else.
[[nodiscard]] const std::string& last_otf2_error();

}  // namespace ardoise::knowledge_sources
