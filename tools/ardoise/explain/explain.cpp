#include "tools/ardoise/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "reports/losses/loss.hpp"
#include "reports/text/text_document.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/similar_name.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/explain/loss_pages.hpp"

namespace ardoise::launcher {
namespace {

constexpr std::size_t kColumns = 80;

// The lines below the heading "### CODE: NAME", up to the next heading.
std::string_view section_of(std::string_view code) {
  const std::string_view pages = loss_pages();
  const std::size_t heading = pages.find(fmt::format("\n### {}: ", code));
  if (heading == std::string_view::npos) return "";
  const std::size_t begin = pages.find('\n', heading + 1) + 1;
  const std::size_t end = std::min(pages.find("\n### ", begin), pages.find("\n## ", begin));
  return pages.substr(begin, end == std::string_view::npos ? end : end - begin);
}

std::string_view actor_in_words(reports::Actor actor) {
  switch (actor) {
    case reports::Actor::program:
      return "the program";
    case reports::Actor::launch:
      return "the launch";
    case reports::Actor::system:
      return "the host";
  }
  return "";
}

const reports::LossCode& loss_of(std::string_view code) {
  if (const reports::LossCode* const found = reports::find_loss_code(code)) return *found;
  std::vector<std::string_view> codes;
  for (const reports::LossCode& each : reports::loss_codes()) codes.push_back(each.code);
  const std::string_view meant = similar_name(code, codes);
  throw UsageError(fmt::format("there is no loss '{}'; {}", code,
                               meant.empty() ? "ardoise explain lists all." : fmt::format("did you mean {}?", meant)));
}

bool is_item(std::string_view line) { return line.size() > 3 && line[0] >= '1' && line[0] <= '9' && line[1] == '.'; }

std::string language(std::string_view fence) {
  const std::string_view name = fence.substr(3);
  return name == "c" ? "C" : name == "fortran" ? "Fortran" : name == "python" ? "Python" : std::string(name);
}

}  // namespace

std::string terminal_text(std::string_view markdown) {
  std::string out, text;  // text: of the paragraph or item that is being read
  const auto end_block = [&] {
    if (text.empty()) return;
    std::erase(text, '`');
    for (std::size_t mark; (mark = text.find("**")) != std::string::npos;) text.erase(mark, 2);
    out += is_item(text) ? reports::wrapped(text.substr(3), text.substr(0, 3), kColumns)
                         : reports::wrapped(text, "", kColumns);
    text.clear();
  };
  std::istringstream lines{std::string(markdown)};
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      end_block();
      is_code = !is_code;
      if (is_code) out += language(line) + ":\n\n";
    } else if (is_code) {
      out += line.empty() ? "\n" : "    " + line + '\n';
    } else if (line.empty()) {
      end_block();
      if (!out.ends_with("\n\n")) out += '\n';
    } else {
      if (is_item(line)) end_block();
      text += (text.empty() ? "" : " ") + line.substr(line.find_first_not_of(' '));
    }
  }
  end_block();
  out.erase(out.find_last_not_of('\n') + 1);
  return out.substr(std::min(out.find_first_not_of('\n'), out.size()));
}

std::string listed_losses() {
  std::string out;
  for (const reports::LossCode& loss : reports::loss_codes())
    out += reports::wrapped(std::string(loss.name), fmt::format("{:<20} ", loss.code), kColumns);
  return out + "\nardoise explain CODE: signs, reason and ways out of a loss.\n";
}

std::string explained_loss(std::string_view code) {
  const reports::LossCode& loss = loss_of(code);
  return reports::wrapped(fmt::format("{}: {}", loss.code, loss.name), "", kColumns) +
         fmt::format("To be changed: {}.\n\n{}\n", actor_in_words(loss.actor), terminal_text(section_of(code)));
}

int explain(const CommandLine& line) {
  if (line.words.empty()) return print(listed_losses()) ? 0 : kFailedStatus;
  std::string out;
  for (const std::string& code : line.words) out += (out.empty() ? "" : "\n\n") + explained_loss(code);
  return print(out) ? 0 : kFailedStatus;
}

}  // namespace ardoise::launcher
