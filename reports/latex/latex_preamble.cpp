// The look of the report: page, fonts, headings, tables. XeLaTeX with what Debian's texlive-xetex brings along.
#include "reports/latex/latex_document.hpp"

namespace ardoise::reports {

const char* latex_preamble() {
  return R"TEX(% Made by ardoise from profile.json. Build: xelatex report.tex, twice.
\documentclass[10pt,a4paper,headings=small,numbers=noenddot]{scrreprt}
\usepackage[no-math]{fontspec}
\usepackage[top=20mm,bottom=18mm,footskip=9mm,left=23mm,right=23mm,headsep=6mm]{geometry}
\usepackage{xcolor,graphicx,booktabs,array,longtable}
\usepackage[automark,headsepline]{scrlayer-scrpage}
\usepackage[font=small,labelfont={sf,bf},textfont=sf,justification=raggedright,singlelinecheck=false,skip=5pt]{caption}
\definecolor{slate}{HTML}{2B3A4A}
\definecolor{chalk}{HTML}{EEF1F4}
\definecolor{high}{HTML}{A8231C}
\definecolor{medium}{HTML}{B8701A}
\definecolor{note}{HTML}{5F7285}
\usepackage[hidelinks,bookmarksnumbered,pdftitle={Ardoise report},pdfcreator={ardoise}]{hyperref}
% No TeX ligatures: "--" in a command line is two hyphens.
\defaultfontfeatures{}
\defaultfontfeatures[\rmfamily,\sffamily]{}
\setmainfont{lmroman10-regular.otf}[BoldFont=lmroman10-bold.otf,ItalicFont=lmroman10-italic.otf,BoldItalicFont=lmroman10-bolditalic.otf]
\setsansfont{lmsans10-regular.otf}[BoldFont=lmsans10-bold.otf,ItalicFont=lmsans10-oblique.otf,BoldItalicFont=lmsans10-boldoblique.otf]
\setmonofont{lmmonolt10-regular.otf}[BoldFont=lmmonolt10-bold.otf,ItalicFont=lmmonolt10-oblique.otf,BoldItalicFont=lmmonolt10-boldoblique.otf]
\IfFontExistsTF{DejaVu Sans}{\newfontfamily\fallback{DejaVu Sans}[Scale=0.9]}{\let\fallback\relax}
% A character outside ASCII: from this font, else from the fallback, else its number.
\DeclareRobustCommand\missing[1]{{\fboxsep=0.8pt\fcolorbox{note}{white}{\sffamily\tiny #1}}}
\DeclareRobustCommand\U[1]{\iffontchar\font"#1 \char"#1 \else{\fallback\iffontchar\font"#1 \char"#1 \else\missing{#1}\fi}\fi}
\newcommand\B{\penalty50\hskip0pt\relax}
\newcommand\C{\penalty800\hskip0pt\relax}
\DeclareRobustCommand\code[1]{{\ttfamily #1}}
\setkomafont{disposition}{\sffamily\bfseries\color{slate}}
\setkomafont{pageheadfoot}{\small\sffamily\color{note}}
\setkomafont{pagenumber}{\small\sffamily\color{note}}
\RedeclareSectionCommand[style=section,beforeskip=16pt plus 4pt,afterskip=6pt,font=\LARGE]{chapter}
\RedeclareSectionCommand[beforeskip=8pt plus 4pt,afterskip=3pt]{section}
\RedeclareSectionCommand[tocbeforeskip=3pt]{chapter}
\renewcommand*\chapterpagestyle{scrheadings}
\clearpairofpagestyles\ihead{\leftmark}\ohead{Ardoise report}\cfoot*{\pagemark}
\setcounter{secnumdepth}{0}\setcounter{tocdepth}{0}
\setlength\parindent{0pt}\setlength\parskip{4pt plus 1pt}
\setlength\LTleft{0pt}\setlength\LTright{0pt}\setlength\LTpre{2pt}\setlength\LTpost{0pt}\setlength\tabcolsep{4pt}
\setlength\emergencystretch{3em}\hbadness=10000\hfuzz=1pt
\renewcommand\arraystretch{1.05}
\newcolumntype{L}[1]{>{\raggedright\arraybackslash\hspace{0pt}}p{#1}}
\newcolumntype{R}[1]{>{\raggedleft\arraybackslash\hspace{0pt}}p{#1}}
\newcommand\head[1]{{\sffamily\bfseries #1}}
\newcommand\finding[3]{\par\noindent\begin{minipage}[t]{15mm}\raggedright\sffamily\bfseries\footnotesize\textcolor{#1}{\MakeUppercase{#1}}\end{minipage}%
  \begin{minipage}[t]{\dimexpr\linewidth-15mm}\raggedright #2\ifx\relax#3\relax\else\par{\itshape #3}\fi\end{minipage}\par\vspace{4pt plus 1pt}}
\newcommand\fact[2]{{\sffamily\bfseries #1}&#2\\}
% Figures stay where they are spoken of. \need{n}: at least n lines here, else a new page.
\newcommand\need[1]{\par\penalty-100\begingroup\dimen0=#1\baselineskip\dimen1=\pagegoal\advance\dimen1-\pagetotal
  \ifdim\dimen0>\dimen1\ifdim\dimen1>0pt\vfil\fi\break\fi\endgroup}
\newenvironment{figurehere}{\par\addvspace{4pt}\noindent\begin{minipage}{\linewidth}\centering}{\end{minipage}\par\addvspace{6pt}}
\raggedbottom
\begin{document}
)TEX";
}

}  // namespace ardoise::reports
