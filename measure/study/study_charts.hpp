#pragma once

#include <vector>

#include "measure/report/chart.hpp"
#include "measure/study/study.hpp"

namespace measure {

/// A chart, and the finding in words. Without points if its rows were not run.
struct Finding {
    Chart chart;
    std::string words;
};

Finding hits_by_cache(const Study& study);
Finding messages_by_threshold(const Study& study);
Finding bytes_by_threshold(const Study& study);
Finding false_hits_by_proxies(const Study& study);
/// The messages saved and the hits lost by announcing less often.
Finding lost_hits_by_messages(const Study& study);

/// In the order of a page.
std::vector<Finding> findings_of(const Study& study);

}  // namespace measure
