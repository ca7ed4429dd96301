#include "knowledge_sources/otf2/writer/call_notes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

constexpr const char* kNotesName = "notes";

template <class Note>
bool read_block(std::ifstream& file, std::uint64_t at, std::uint32_t count, std::vector<Note>& notes) {
  const std::size_t before = notes.size();
  notes.resize(before + count);
  file.seekg(static_cast<std::streamoff>(at));
  if (file.read(reinterpret_cast<char*>(notes.data() + before), static_cast<std::streamsize>(count * sizeof(Note))))
    return true;
  notes.resize(before);
  return false;
}

}  // namespace

CallNotes::CallNotes(std::filesystem::path part, std::function<void(const std::string&)> fail)
    : file_name_(std::move(part) / kNotesName), fail_(std::move(fail)) {}

// mutex_ is held in all private functions.
template <class Note>
void CallNotes::add(std::uint32_t rank, OfRank& of_rank, std::vector<Note>& held, const Note& note) {
  if (of_rank.taken == kMostOfRank) {
    ++of_rank.missing;
    return;
  }
  ++of_rank.taken;
  held.push_back(note);
  constexpr Kind kKind = std::is_same_v<Note, RankWait> ? Kind::kWaits : Kind::kValues;
  if (held.size() == kBlock) write(kKind, rank, of_rank, held);
}

void CallNotes::add(std::span<const RankWait> waits) {
  if (waits.empty()) return;
  const std::uint32_t rank = waits.front().rank;
  const std::scoped_lock lock(mutex_);
  OfRank& of_rank = ranks_[rank];
  for (const RankWait& wait : waits) add(rank, of_rank, of_rank.waits, wait);
}

void CallNotes::add_values(std::span<const std::byte> bytes_untrusted,
                           const std::function<bool(std::uint32_t)>& has_rank) {
  std::vector<EventKeyDefinition> keys;
  std::vector<std::uint32_t> numbers;  // of keys
  const std::scoped_lock lock(mutex_);
  read_event_values(bytes_untrusted, keys,
                    [&](std::uint32_t key, const EventMoment& at, std::uint64_t bits, std::string_view text) {
                      if (!has_rank(at.rank)) return;
                      for (std::size_t i = numbers.size(); i < keys.size(); ++i) numbers.push_back(number_of(keys[i]));
                      const bool is_text = keys[key].type == EventValueType::kText;
                      const std::uint32_t number = is_text ? number_of(text) : 0;
                      OfRank& of_rank = ranks_[at.rank];
                      if (numbers[key] == kNone || number == kNone) {
                        ++of_rank.missing;
                        return;
                      }
                      add(at.rank, of_rank, of_rank.values,
                          NotedValue{numbers[key], at.thread, at.place, 0, at.tick, is_text ? number : bits});
                    });
}

std::uint32_t CallNotes::number_of(const EventKeyDefinition& key) {
  if (const auto found = keys_.find(key); found != keys_.end()) return found->second;
  if (keys_.size() == kMostKeys) return kNone;
  ByteWriter out;
  out.put(key.type);
  out.put_text(key.name);
  out.put_text(key.description);
  const auto bytes = out.take();
  write({Kind::kKey, 0, static_cast<std::uint32_t>(bytes.size()), 0, 0}, bytes);
  return keys_.emplace(key, static_cast<std::uint32_t>(keys_.size())).first->second;
}

std::uint32_t CallNotes::number_of(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) return found->second;
  if (texts_.size() == kMostTexts || text_bytes_ + text.size() > kMostTextBytes) return kNone;
  text_bytes_ += text.size();
  write({Kind::kText, 0, static_cast<std::uint32_t>(text.size()), 0, 0}, std::as_bytes(std::span(text)));
  return texts_.emplace(text, static_cast<std::uint32_t>(texts_.size())).first->second;
}

void CallNotes::flush() {
  const std::scoped_lock lock(mutex_);
  for (auto& [rank, of_rank] : ranks_) {
    write(Kind::kWaits, rank, of_rank, of_rank.waits);
    write(Kind::kValues, rank, of_rank, of_rank.values);
  }
  if (file_ && std::fflush(file_.get()) != 0) fail();
}

template <class Note>
void CallNotes::write(Kind kind, std::uint32_t rank, OfRank& of_rank, std::vector<Note>& held) {
  if (held.empty() && of_rank.missing == 0) return;
  write({kind, rank, static_cast<std::uint32_t>(held.size()), 0, std::exchange(of_rank.missing, 0)},
        std::as_bytes(std::span(held)));
  held.clear();
}

void CallNotes::write(const Block& block, std::span<const std::byte> bytes) {
  if (has_failed_) return;
  if (!file_) file_.reset(std::fopen(file_name_.c_str(), "wb"));
  if (!file_ || std::fwrite(&block, sizeof block, 1, file_.get()) != 1 ||
      std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
    fail();
}

void CallNotes::fail() {
  if (!std::exchange(has_failed_, true)) fail_(std::strerror(errno));
}

NotesOfPart::NotesOfPart(const std::filesystem::path& part) : file_name_(part / kNotesName) {
  using Kind = CallNotes::Kind;
  std::error_code fault;
  const std::uint64_t size = std::filesystem::file_size(file_name_, fault);
  if (fault) return;
  std::ifstream file(file_name_, std::ios::binary);
  CallNotes::Block block{};
  for (std::uint64_t at = 0; file.read(reinterpret_cast<char*>(&block), sizeof block);) {
    at += sizeof block;
    const std::uint64_t each = block.kind == Kind::kWaits    ? sizeof(RankWait)
                               : block.kind == Kind::kValues ? sizeof(NotedValue)
                                                             : 1;
    if (size - at < block.count * each) return;
    if (each == 1) {
      std::string bytes(block.count, '\0');
      file.read(bytes.data(), block.count);
      if (block.kind == Kind::kText) {
        texts_.push_back(std::move(bytes));
      } else {
        ByteReader in(std::as_bytes(std::span(bytes)), "notes of a trace");
        EventKeyDefinition& key = keys_.emplace_back();
        key.type = in.get<EventValueType>();
        key.name = in.get_text();
        key.description = in.get_text();
      }
    } else {
      OfRank& of_rank = ranks_[block.rank];
      of_rank.missing += block.missing;
      if (block.count != 0) of_rank.blocks.push_back({block.kind == Kind::kWaits, at, block.count});
    }
    at += block.count * each;
    file.seekg(static_cast<std::streamoff>(at));
  }
}

void NotesOfPart::add_to(std::vector<RankWait>& waits, std::vector<NotedValue>& values, std::uint32_t rank,
                         std::uint64_t& missing) const {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  missing += found->second.missing;
  std::ifstream file(file_name_, std::ios::binary);
  for (const Block& block : found->second.blocks) {
    if (!(block.has_waits ? read_block(file, block.at, block.count, waits)
                          : read_block(file, block.at, block.count, values)))
      return;
  }
}

}  // namespace ardoise::knowledge_sources
