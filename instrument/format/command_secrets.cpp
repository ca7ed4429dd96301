#include "instrument/format/command_secrets.hpp"

#include <algorithm>
#include <array>

namespace ardoise::instrument {
namespace {

constexpr auto kNames =
    std::to_array<std::string_view>({"auth", "authorization", "bearer", "cookie", "jwt", "pass", "pw", "pwd"});
constexpr auto kEndings = std::to_array<std::string_view>(
    {"key", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials"});

// Not the functions of <cctype>: the program may have set any locale.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_of_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.'; }

bool is_secret_word(std::string_view word) {
  return std::find(kNames.begin(), kNames.end(), word) != kNames.end() ||
         std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view end) { return word.ends_with(end); });
}

// The position after the first NAME= or NAME: of a secret; npos: none. A quote may stand between the two, as in JSON.
std::size_t secret_in(std::string_view word) {
  for (std::size_t at = 0; (at = word.find_first_of("=:", at)) != word.npos; ++at) {
    std::size_t end = at;
    if (end > 0 && (word[end - 1] == '"' || word[end - 1] == '\'')) --end;
    std::size_t begin = end;
    while (begin > 0 && is_of_name(word[begin - 1])) --begin;
    const bool is_scheme = word.substr(at).starts_with("://");
    if (!is_scheme && at + 1 < word.size() && names_a_secret(word.substr(begin, end - begin))) return at + 1;
  }
  return word.npos;
}

void hide_users_of_urls(std::string& word) {
  constexpr std::string_view kScheme = "://";
  for (std::size_t at = 0; (at = word.find(kScheme, at)) != word.npos;) {
    at += kScheme.size();
    const std::size_t end = std::min(word.find_first_of("/?# \t\n\"'", at), word.size());
    const std::size_t user = std::string_view(word).substr(0, end).rfind('@');
    if (user != word.npos && user > at) word.replace(at, user - at, kHidden);
  }
}

bool is_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

}  // namespace

bool names_a_secret(std::string_view name) {
  std::string word;
  for (const char c : name) {
    if (is_letter(c)) {
      word += lower(c);
      continue;
    }
    if (is_secret_word(word)) return true;
    word.clear();
  }
  return is_secret_word(word);
}

void hide_secrets(std::vector<std::string>& words) {
  bool is_value = false;  // of the preceding option
  for (std::string& word : words) {
    if (is_value && !is_option(word)) {
      word = kHidden;
      is_value = false;
      continue;
    }
    hide_users_of_urls(word);
    if (const std::size_t secret = secret_in(word); secret != word.npos) word.replace(secret, word.npos, kHidden);
    is_value = is_option(word) && word.find_first_of("=:") == word.npos && names_a_secret(word);
  }
}

std::string without_secrets(std::string_view command_line, bool names_only) {
  std::vector<std::string> words{""};
  for (const char c : command_line) {
    if (c != '\0') {
      words.back() += c;
    } else if (names_only) {
      break;
    } else {
      words.emplace_back();
    }
  }
  hide_secrets(words);
  std::string line = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) line += '\0' + words[i];
  return line;
}

}  // namespace ardoise::instrument
