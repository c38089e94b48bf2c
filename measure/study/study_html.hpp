#pragma once

#include <string>

#include "measure/study/study.hpp"

namespace measure {

/// The study as one page that needs nothing else: charts, the figures behind them, all tables.
/// `advice` stands in front, as it is, when it is not empty.
std::string study_html(const Study& study, const std::string& advice = {});

}  // namespace measure
