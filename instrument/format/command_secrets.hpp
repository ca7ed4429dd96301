// Command lines are kept in profiles, captures and states of a run, which people send to each other. What looks like a
// secret in them is not: it never leaves the process that was given it. Used where a process describes itself, and by
// the launcher for the launch line. The list of what is hidden is here and in docs/reference/ardoise.md, nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ardoise::instrument {

inline constexpr std::string_view kHidden = "…";

// Does an option or variable of this name hold a secret? "--db-password", "API_KEY", "authToken". Letter case does not
// matter. A word of the name (between characters that are no letters) is
//   auth, authorization, bearer, cookie, jwt, pass, pw, pwd
// or ends with
//   key, token, secret, password, passwd, passphrase, credential, credentials
[[nodiscard]] bool names_a_secret(std::string_view name);

// The words of a command line with kHidden instead of
//   - all behind NAME= or NAME: anywhere in a word, where NAME names a secret ("--token=…", "host=h;password=…"),
//   - the word behind an option that names a secret ("--password …"), where it does not begin with '-',
//   - what stands before '@' in a URL ("https://…@host").
void hide_secrets(std::vector<std::string>& words);

// The command line of a process, words joined by '\0', likewise. `names_only`: the first word alone.
[[nodiscard]] std::string without_secrets(std::string_view command_line, bool names_only);

}  // namespace ardoise::instrument
