// The content of an archive as printed by otf2-print, OTF2's own reader.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ardoise::replay {

// Standard output and standard error of a command of the shell.
inline std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return text;
  for (char piece[4096]; const std::size_t size = std::fread(piece, 1, sizeof piece, pipe);) text.append(piece, size);
  if (::pclose(pipe) != 0) text += "\nfailed: " + command;
  return text;
}

// Attributes of a line of otf2-print, "Sender: 3, Tag: 1" …: the number or word behind a key.
inline std::string attribute(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key + ": ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + 2;
  if (text[begin] == '"') return text.substr(begin + 1, text.find('"', begin + 1) - begin - 1);
  return text.substr(begin, text.find_first_of(", ", begin) - begin);
}

class PrintedTrace {
 public:
  struct Event {
    std::string kind;  // "ENTER"
    std::uint64_t location, time;
    std::string attributes;
    [[nodiscard]] std::string of(const std::string& key) const { return attribute(attributes, key); }
  };

  // file: traces.otf2. Expects that the reader reports no error.
  explicit PrintedTrace(const std::filesystem::path& file) {
    const auto print = [&file](const char* what) {
      return output_of(std::string("otf2-print ") + what + " '" + file.string() + "'");
    };
    std::istringstream lines(print(""));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_EQ(line.find("ERROR"), std::string::npos) << line;
      EXPECT_EQ(line.find("error:"), std::string::npos) << line;
      EXPECT_EQ(line.find("warning:"), std::string::npos) << line;
      if (line.find("ADDITIONAL ATTRIBUTES:") != std::string::npos && !events.empty()) {
        events.back().attributes += ", " + line.substr(line.find_first_not_of(' '));
        continue;
      }
      Event event;
      std::istringstream words(line);
      if (!(words >> event.kind >> event.location >> event.time)) continue;
      std::getline(words, event.attributes);
      events.push_back(std::move(event));
    }
    definitions = print("-G");
    properties = print("-A");
    markers = output_of("otf2-marker '" + file.string() + "'");
  }

  [[nodiscard]] std::vector<Event> of_kind(const std::string& kind) const {
    std::vector<Event> some;
    for (const Event& each : events) {
      if (each.kind == kind) some.push_back(each);
    }
    return some;
  }
  // By name.
  [[nodiscard]] std::map<std::string, std::uint64_t> calls() const {
    std::map<std::string, std::uint64_t> calls;
    for (const Event& each : of_kind("ENTER")) ++calls[each.of("Region")];
    return calls;
  }
  // Lines of definitions that begin so.
  [[nodiscard]] std::vector<std::string> defined(const std::string& kind) const {
    std::vector<std::string> some;
    std::istringstream lines(definitions);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kind + " ")) some.push_back(line);
    }
    return some;
  }

  std::vector<Event> events;  // as they come: by time
  std::string definitions, properties, markers;
};

// Properties of every trace: on each location time ascends and calls nest; the number of events is as declared.
inline void expect_in_order(const PrintedTrace& trace) {
  std::map<std::uint64_t, std::uint64_t> last, counts;
  std::map<std::uint64_t, std::vector<std::string>> open;
  for (const auto& event : trace.events) {
    EXPECT_GE(event.time, last[event.location]) << event.kind;
    last[event.location] = event.time;
    ++counts[event.location];
    auto& stack = open[event.location];
    if (event.kind == "ENTER") stack.push_back(event.of("Region"));
    if (event.kind != "LEAVE") continue;
    ASSERT_FALSE(stack.empty());
    EXPECT_EQ(stack.back(), event.of("Region"));
    stack.pop_back();
  }
  for (const auto& [location, stack] : open) EXPECT_TRUE(stack.empty()) << location << " " << stack.back();
  for (const std::string& line : trace.defined("LOCATION")) {
    std::istringstream words(line);
    std::string kind;
    std::uint64_t location = 0;
    words >> kind >> location;
    EXPECT_EQ(attribute(line, "# Events"), std::to_string(counts[location])) << line;
  }
}

}  // namespace ardoise::replay
