#include "knowledge_sources/otf2/writer/location_events.hpp"

#include <otf2/otf2.h>

namespace ardoise::knowledge_sources {

bool read_location_events(const std::filesystem::path& part, std::uint64_t location,
                          const OTF2_EvtReaderCallbacks* callbacks, void* data) {
  OTF2_Reader* const reader = OTF2_Reader_Open((part / "traces.otf2").c_str());
  if (reader == nullptr) return false;
  OTF2_EvtReader* local = nullptr;
  bool is_good = OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS &&
                 OTF2_Reader_SelectLocation(reader, location) == OTF2_SUCCESS &&
                 OTF2_Reader_OpenEvtFiles(reader) == OTF2_SUCCESS;
  if (is_good) local = OTF2_Reader_GetEvtReader(reader, location);
  if (local != nullptr) {
    std::uint64_t read = 0;
    is_good = OTF2_Reader_RegisterEvtCallbacks(reader, local, callbacks, data) == OTF2_SUCCESS &&
              OTF2_Reader_ReadAllLocalEvents(reader, local, &read) == OTF2_SUCCESS;
    OTF2_Reader_CloseEvtReader(reader, local);
  }
  OTF2_Reader_Close(reader);
  return is_good && local != nullptr;
}

}  // namespace ardoise::knowledge_sources
