#pragma once

#include <string>
#include <vector>

#include "measure/study/study.hpp"

/// The paper's tables beside those of other logs. Source of all its figures: Fan, Cao, Almeida,
/// Broder, "Summary Cache: A Scalable Wide-Area Web Cache Sharing Protocol", SIGCOMM 1998, also
/// IEEE/ACM Transactions on Networking 8(3), 2000.
namespace measure {

/// One of the traces that the paper simulates.
struct PaperTrace {
    const char* name;
    std::uint64_t requests, clients;
    double distinct_bytes, max_hit_ratio, max_byte_hit_ratio;
    unsigned proxies;
    double loss_at_one_percent;  // share of hits lost at a threshold of 1 %; negative: unpublished
};
inline constexpr PaperTrace kPaperTraces[] = {
    {"DEC", 3'543'968, 10'089, 2.88e10, 0.49, 0.36, 16, 0.017},
    {"UCB", 1'907'762, 5'780, 1.80e10, 0.30, 0.14, 8, 0.002},
    {"UPisa", 2'833'624, 2'203, 2.07e10, 0.40, 0.27, 8, 0.001},
    {"Questnet", 2'885'285, 12, 2.33e10, 0.30, 0.15, 12, 0.003},
    {"NLANR", 1'766'409, 4, 1.37e10, 0.36, 0.27, 4, -1}};
inline constexpr double kPaperFewerMessages[] = {25, 60};  // times fewer than ICP's
inline constexpr double kPaperFewerBytes = 0.5;            // share saved of ICP's bytes, at least

/// A statement of the paper, and the corresponding result for a log.
struct PaperVerdict {
    std::string statement, ours;
    enum class Is : std::uint8_t { as_published, otherwise, not_shown } is = Is::not_shown;
};
/// The verdicts of a study that plan_paper() planned. A verdict is not_shown if its rows were not
/// run.
std::vector<PaperVerdict> verdicts_of(const Study& study);

/// All tables and verdicts, at most 100 columns wide.
std::string paper_text(const std::vector<Study>& studies, bool colour);
/// {"paper": ..., "studies": [...]}, ending in a newline.
std::string paper_json(const std::vector<Study>& studies);

}  // namespace measure
