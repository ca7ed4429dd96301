#include "knowledge_sources/otf2/reader/archive_faults.hpp"

#include <fmt/format.h>

#include <utility>

#include "reports/text/joined.hpp"

namespace ardoise::knowledge_sources {

void ArchiveFaults::add(const std::string& kind, std::string example, std::uint64_t count) {
  Fault& fault = faults_[kind];
  fault.count += count;
  if (!example.empty() && fault.examples.size() < kExamples) fault.examples.push_back(std::move(example));
}

void ArchiveFaults::merge(const ArchiveFaults& other) {
  for (const auto& [kind, fault] : other.faults_) {
    add(kind, "", fault.count);
    Fault& ours = faults_[kind];
    for (const std::string& example : fault.examples) {
      if (ours.examples.size() < kExamples) ours.examples.push_back(example);
    }
  }
}

std::vector<std::string> ArchiveFaults::sentences() const {
  std::vector<std::string> all;
  for (const auto& [kind, fault] : faults_) {
    std::string text = fmt::format("{} ({})", kind, fault.count);
    if (!fault.examples.empty())
      text += fmt::format(": {}{}", reports::joined(fault.examples, "; "),
                          fault.count > fault.examples.size() ? "; …" : "");
    all.push_back(text + '.');
  }
  return all;
}

}  // namespace ardoise::knowledge_sources
