// Command lines are kept in profiles, captures and states of a run, which people send to each other. Text that looks
// like a secret is replaced before it leaves the process that received it. Used by a process that describes itself, and
// by the launcher for the launch line. The rules are listed here and in docs/reference/ardoise.md only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ardoise::instrument {

inline constexpr std::string_view kHidden = "…";

// True if an option or variable of this name holds a secret: "--db-password", "API_KEY", "authToken". Letter case does
// not matter. A word of the name (letters between other characters) is
//   auth, authorization, bearer, cookie, jwt, pass, pw, pwd
// or ends with
//   key, token, secret, password, passwd, passphrase, credential, credentials
[[nodiscard]] bool names_a_secret(std::string_view name);

// Puts kHidden into the words of a command line in place of
//   - the text after NAME= or NAME: anywhere in a word, if NAME names a secret ("--token=…", "host=h;password=…"),
//   - the word after an option that names a secret ("--password …"), if it does not begin with '-',
//   - the text before '@' in a URL ("https://…@host").
void hide_secrets(std::vector<std::string>& words);

// The same for the command line of a process, words joined by '\0'. `names_only`: returns the first word alone.
[[nodiscard]] std::string without_secrets(std::string_view command_line, bool names_only);

}  // namespace ardoise::instrument
