// The kept part of a command line: all text except secrets.
#include "instrument/format/command_secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ardoise::instrument {
namespace {

TEST(CommandSecrets, NamesAreKnownByTheirWords) {
  for (const char* name :
       {"token", "TOKEN", "--token", "api_key", "apiKey", "API-KEY", "DB_PASSWORD", "PGPASSWORD", "auth", "--auth",
        "x.secret", "AWS_SECRET_ACCESS_KEY", "MYSQL_PWD", "passwd2", "proxy-auth-user"})
    EXPECT_TRUE(names_a_secret(name)) << name;
  for (const char* name : {"", "steps", "author", "tokens", "max-tokens", "tokenizer", "keyword", "secretary", "path",
                           "passes", "--", "authentic"})
    EXPECT_FALSE(names_a_secret(name)) << name;
}

std::string kept(const std::string& word) {
  std::vector<std::string> words{word};
  hide_secrets(words);
  return words[0];
}

TEST(CommandSecrets, AreHiddenInsideOfWords) {
  EXPECT_EQ(kept("--token=abc=def"), "--token=…");
  EXPECT_EQ(kept("API_KEY=s3cr3t"), "API_KEY=…");
  EXPECT_EQ(kept("host=h;password=a,b;c"), "host=h;password=…");
  EXPECT_EQ(kept("Authorization: Bearer eyJ"), "Authorization:…");
  EXPECT_EQ(kept("{\"user\": \"u\", \"secret\": \"s\"}"), "{\"user\": \"u\", \"secret\":…");
  EXPECT_EQ(kept("https://h/p?a=1&access_token=xyz&b=2"), "https://h/p?a=1&access_token=…");
  EXPECT_EQ(kept("TOKEN=abc ./solver 4"), "TOKEN=…");
  EXPECT_EQ(kept("https://me:pa@ss@host:80/a@b"), "https://…@host:80/a@b");
  EXPECT_EQ(kept("a=s3://key@bucket,b=ftp://u:p@h/x"), "a=s3://…@bucket,b=ftp://…@h/x");
}

TEST(CommandSecrets, OtherWordsStayAsTheyAre) {
  for (const char* word : {"", "-", "--", "token", "./token", "--steps=12", "a=b", "https://host/path@1",
                           "key=", "in:out", "user@host:/path", "secret://host", "x=y:z", "é世界", "://", "=", ":"})
    EXPECT_EQ(kept(word), word);
}

TEST(CommandSecrets, TheWordBehindAnOptionIsHidden) {
  std::vector<std::string> words{"a",    "--password", "hunter2", "--token", "--next",
                                 "-key", "k",          "--steps", "5",       "--auth"};
  hide_secrets(words);
  EXPECT_THAT(words, ::testing::ElementsAre("a", "--password", "…", "--token", "--next", "-key", "…", "--steps", "5",
                                            "--auth"));
}

TEST(CommandSecrets, OfAProcess) {
  using namespace std::string_view_literals;
  EXPECT_EQ(without_secrets("./a\0--token\0x\0\0b"sv, false), "./a\0--token\0…\0\0b"sv);
  EXPECT_EQ(without_secrets("./a\0--token\0x"sv, true), "./a"sv);
  EXPECT_EQ(without_secrets("", false), "");
}

// Any bytes: the search always ends, and no byte beyond the end is read.
TEST(CommandSecrets, AnyWordsAreHandled) {
  const std::string bytes("=:/@\"' -ktoken\xff\0", 16);
  std::uint32_t random = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> words(3);
    for (std::string& word : words) {
      for (std::uint32_t i = (random = random * 1664525 + 1013904223) >> 28; i != 0; --i)
        word += bytes[(random = random * 1664525 + 1013904223) >> 28];
    }
    hide_secrets(words);
    auto again = words;
    hide_secrets(again);
    EXPECT_EQ(words, again) << "hidden once is hidden";
  }
}

}  // namespace
}  // namespace ardoise::instrument
