#pragma once

#include <string>

#include "measure/report/page.hpp"
#include "measure/study/study.hpp"

namespace measure {

/// Renders the study as one self-contained page: charts, the figures behind them, all tables. A
/// non-empty `advice` is shown first, unchanged.
std::string study_html(const Study& study, const std::string& advice = {},
                       const PageFacts& facts = {});

}  // namespace measure
