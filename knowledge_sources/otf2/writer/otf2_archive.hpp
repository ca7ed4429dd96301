// How archives are opened: what OTF2 needs to be told once.
#pragma once

#include <otf2/OTF2_Archive.h>

#include <filesystem>
#include <functional>
#include <string>

namespace ardoise::knowledge_sources {

// For writing, with its event files; what is full is written to disk. nullptr: it cannot be made, see
// last_otf2_error().
[[nodiscard]] OTF2_Archive* open_otf2_archive(const std::filesystem::path& folder);

// Of one that could not be written: OTF2 3.0 crashes when it is used, or closed, after a write that failed. Its memory
// stays, some hundred KiB and a chunk for each location.
void abandon_otf2_archive(OTF2_Archive* archive);

// What the system says of a write that failed while `close` closed a file, or "". OTF2 writes at most every 4 MiB, and
// does not look whether the last ones succeed.
[[nodiscard]] std::string fault_of_close(const std::function<OTF2_ErrorCode()>& close);

// OTF2 tells its errors to nobody but those who ask here; the latest of this thread, with the system's reason.
[[nodiscard]] const std::string& last_otf2_error();

}  // namespace ardoise::knowledge_sources
