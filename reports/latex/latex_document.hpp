// A document as report.tex: a page with the cover, then its chapters. Figures are drawn as PDF into `figures`, whose
// prefix is set here; render.cpp puts files and LaTeX itself around it.
#pragma once

#include <string>

#include "reports/document/document.hpp"

namespace ardoise::reports {

[[nodiscard]] std::string latex_document(const Document& document, FigureFolder& figures);

[[nodiscard]] const char* latex_preamble();

}  // namespace ardoise::reports
