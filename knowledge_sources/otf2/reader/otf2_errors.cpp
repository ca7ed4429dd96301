#include "knowledge_sources/otf2/reader/otf2_errors.hpp"

#include <otf2/OTF2_ErrorCodes.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

std::string& complaint_of_thread() {
  static thread_local std::string complaint;
  return complaint;
}

OTF2_ErrorCode keep_complaint(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                              std::va_list values) {
  std::string& complaint = complaint_of_thread();
  if (!complaint.empty()) return code;  // later ones are consequences
  char text[512] = "";
  if (format != nullptr) std::vsnprintf(text, sizeof text, format, values);
  complaint = text;
  if (complaint.empty()) complaint = OTF2_Error_GetDescription(code);
  while (!complaint.empty() && (complaint.back() == '!' || complaint.back() == '.')) complaint.pop_back();
  return code;
}

}  // namespace

void keep_otf2_complaints() {
  OTF2_Error_RegisterCallback(keep_complaint, nullptr);
  complaint_of_thread().clear();
}

std::string take_otf2_complaint() { return std::exchange(complaint_of_thread(), ""); }

}  // namespace ardoise::knowledge_sources
