// Makes all outputs of `ardoise report`, `show` and `export` for a profile, in memory and in a folder that does not
// exist. Used by tests and a fuzz target that look for crashes.
#pragma once

#include "reports/document/sections.hpp"
#include "reports/latex/latex_document.hpp"
#include "reports/model_json.hpp"
#include "reports/stack_export.hpp"
#include "reports/text/text_document.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/show/show.hpp"
#include "tools/ardoise/show/show_rows.hpp"

// Cairo leaks some bytes of each surface whose file cannot be opened.
extern "C" [[gnu::used]] const char* __lsan_default_suppressions() { return "leak:libcairo\n"; }

namespace ardoise::launcher {

inline void show_everywhere(const reports::Run& run) {
  (void)reports::summary_text(reports::document_of(run));
  for (const auto length : {reports::ReportLength::full, reports::ReportLength::brief}) {
    reports::FigureFolder nowhere{"/dev/null", "", 20, "ardoise-no-graphviz", {}, {}};
    (void)reports::latex_document(reports::document_of(run, length), nowhere);
  }
  (void)reports::profile_to_json(run);
  for (const auto format : {reports::StackFormat::folded, reports::StackFormat::speedscope})
    (void)reports::export_stacks(run, "", format);
  for (const ShownTable& table : shown_tables()) {
    for (const bool csv : {false, true}) {
      for (const char* const ranks : {"", "0", "3-7"}) {
        if (*ranks != '\0' && !table.by_rank) continue;
        try {
          (void)shown_table(run, {.table = table.name, .ranks = ranks, .csv = csv});
        } catch (const UsageError&) {  // no program, or no such rank
        }
      }
    }
  }
}

}  // namespace ardoise::launcher
