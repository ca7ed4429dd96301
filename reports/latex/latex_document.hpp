// A document as the text of report.tex: the cover page, then the chapters. Draws figures as PDF into `figures` and sets
// its prefix. render.cpp writes the file and runs LaTeX.
#pragma once

#include <string>

#include "reports/document/document.hpp"

namespace ardoise::reports {

[[nodiscard]] std::string latex_document(const Document& document, FigureFolder& figures);

[[nodiscard]] const char* latex_preamble();

}  // namespace ardoise::reports
