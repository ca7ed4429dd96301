// Names that programs, traces and files may choose, and that must not reach a terminal or a table unchanged.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/text/utf8.hpp"

namespace ardoise {

// C0, an escape sequence, C1 as UTF-8 and as a byte, a mark of direction, invisible ones, other line ends.
inline const std::vector<std::string> kHostile{"\x1b[31mred\x1b]0;title\x07",
                                               "a\rb",
                                               "a\nardoise: forged",
                                               "\x08\x7f",
                                               "\xc2\x9b"
                                               "31m",
                                               "\x9b"
                                               "31m",
                                               "\xe2\x80\xae"
                                               "txt.exe",
                                               "\xe2\x81\xa6x",
                                               "\xe2\x80\x8b",
                                               "\xe2\x80\xa8line",
                                               "\xff\xc3("};

// Expects that a printed text contains none of them.
inline void expect_clean(const std::string& text, const std::string& what) {
  EXPECT_TRUE(text == reports::printable_lines(text)) << what;
  EXPECT_EQ(text.find("\nardoise: forged"), text.npos) << what;
}

// The text that `work` prints on standard output and error.
template <class Work>
std::string printed_by(Work&& work) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  std::forward<Work>(work)();
  std::string printed = ::testing::internal::GetCapturedStdout();
  return printed + ::testing::internal::GetCapturedStderr();
}

}  // namespace ardoise
