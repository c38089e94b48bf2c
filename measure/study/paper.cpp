#include "measure/study/paper.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/report/numbers.hpp"
#include "measure/study/study_report.hpp"

namespace measure {
namespace {

using Is = PaperVerdict::Is;

constexpr double kTooLittle = 0.0005;  // of the hits: a smaller loss is chance
constexpr double kSameHits = 0.005;    // relative

/// The rows of a paper's study, by subject.
class Rows {
public:
    explicit Rows(const Study& study) : study_(study) {}

    const SimulationCounts* of(Scheme scheme) const {
        return find([&](const SimulationConfig& config) { return config.scheme == scheme; });
    }
    const SimulationCounts* of(Scheme scheme, double threshold, unsigned load = 16) const {
        return find([&](const SimulationConfig& config) {
            return config.scheme == scheme && config.announce_changed == threshold &&
                   (scheme != Scheme::paper_bloom || config.load_factor == load);
        });
    }

private:
    template <typename Wanted>
    const SimulationCounts* find(Wanted wanted) const {
        for (const auto& row : study_.rows)
            if (row.counts && wanted(row.config)) return &*row.counts;
        return nullptr;
    }
    const Study& study_;
};

Is judged(bool as_published) {
    return as_published ? Is::as_published : Is::otherwise;
}

PaperVerdict loss_at_one_percent(const Rows& rows) {
    PaperVerdict out;
    out.statement = "announced at 1 %, an exact directory loses 0.1 to 1.7 % of the hits";
    const auto *icp = rows.of(Scheme::icp),
               *exact = rows.of(Scheme::exact_directory, kPaperThreshold);
    if (!icp || !exact) return out;
    const double loss = lost_hits(*exact, *icp);
    out.ours = fmt::format("{:.2f} %", loss * 100);
    if (loss < kTooLittle) {
        out.ours += ": too little to judge";
        return out;
    }
    out.is = judged(loss <= 0.0175);
    return out;
}

PaperVerdict loss_grows(const Rows& rows) {
    PaperVerdict out;
    out.statement = "the loss grows almost linearly with the threshold";
    const auto *icp = rows.of(Scheme::icp),
               *low = rows.of(Scheme::exact_directory, kPaperThreshold),
               *high = rows.of(Scheme::exact_directory, 0.1);
    if (!icp || !low || !high) return out;
    const double less = lost_hits(*low, *icp), more = lost_hits(*high, *icp);
    out.ours = fmt::format("{:.2f} % at 1 %, {:.2f} % at 10 %", less * 100, more * 100);
    if (less < kTooLittle) {
        out.ours += ": too little at 1 % to judge";
        return out;
    }
    out.is = judged(more >= 3 * less && more <= 30 * less);
    return out;
}

PaperVerdict bloom_hits(const Rows& rows) {
    PaperVerdict out;
    out.statement = "Bloom filters have the hits of the exact directory";
    const auto *exact = rows.of(Scheme::exact_directory, kPaperThreshold),
               *bloom = rows.of(Scheme::paper_bloom, kPaperThreshold);
    if (!exact || !bloom) return out;
    const double loss = lost_hits(*bloom, *exact);
    out.is = judged(std::abs(loss) <= kSameHits);
    out.ours = fmt::format("{:.2f} % against {:.2f} % of the requests",
                           per_request(*bloom).total * 100, per_request(*exact).total * 100);
    return out;
}

/// Objects in one cache at the end.
double objects_each(const Study& study, const SimulationCounts& counts) {
    return static_cast<double>(counts.stored - std::min(counts.stored, counts.evicted)) /
           static_cast<double>(study.tables.front().proxies);
}

PaperVerdict fewer_messages(const Study& study, const Rows& rows) {
    PaperVerdict out;
    out.statement =
        "Bloom filters of 16 bits, announced at 1 %, need 25 to 60 times fewer messages than ICP";
    const auto *icp = rows.of(Scheme::icp), *bloom = rows.of(Scheme::paper_bloom, kPaperThreshold);
    if (!icp || !bloom || bloom->requests == 0) return out;
    const auto each = per_request(*bloom), dear = per_request(*icp);
    const double announced = each.announcements, asked = each.queries;
    const double factor = dear.queries / std::max(announced + asked, 1e-9);
    out.is = judged(factor >= kPaperFewerMessages[0]);
    out.ours = fmt::format("{:.1f} times: {} instead of {}", factor, figure_text(each.messages()),
                           figure_text(dear.queries));
    if (out.is == Is::as_published) return out;
    const double objects = objects_each(study, *bloom);
    out.ours += fmt::format(
        ". A cache holds {:.0f} objects, so 1 % are {:.1f}, announced to {} peers each time: {} "
        "messages "
        "per request; {} more are peer requests and their answers",
        objects, objects * kPaperThreshold, study.tables.front().proxies - 1,
        figure_text(announced), figure_text(asked));
    // Larger caches announce less often; the number of queries stays.
    const double allowed = dear.queries / kPaperFewerMessages[0] - asked;
    out.ours += allowed > 0 ? fmt::format(". With {:.0f} objects in a cache it would be 25 times",
                                          objects * announced / allowed)
                            : ", which alone are more than a 25th of ICP's";
    return out;
}

PaperVerdict fewer_bytes(const Rows& rows) {
    PaperVerdict out;
    out.statement = "and more than 50 % fewer bytes";
    const auto *icp = rows.of(Scheme::icp), *bloom = rows.of(Scheme::paper_bloom, kPaperThreshold);
    if (!icp || !bloom || icp->query_bytes == 0) return out;
    const double bytes = per_request(*bloom).message_bytes(),
                 dear = per_request(*icp).message_bytes();
    const double fewer = 1 - bytes / dear;
    out.is = judged(fewer >= kPaperFewerBytes);
    out.ours = fmt::format("{:.0f} % fewer: {} instead of {} per request", fewer * 100,
                           figure_text(bytes), figure_text(dear));
    return out;
}

PaperVerdict server_names(const Rows& rows) {
    PaperVerdict out;
    out.statement =
        "server names make too many false hits, and many more messages than Bloom filters";
    const auto *names = rows.of(Scheme::server_names, kPaperThreshold),
               *bloom = rows.of(Scheme::paper_bloom, kPaperThreshold);
    if (!names || !bloom) return out;
    const auto each = per_request(*names), other = per_request(*bloom);
    out.is = judged(each.false_hits > other.false_hits && each.messages() > other.messages());
    out.ours = fmt::format("{} false hits per request against {}, {} messages against {}",
                           figure_text(each.false_hits), figure_text(other.false_hits),
                           figure_text(each.messages()), figure_text(other.messages()));
    return out;
}

PaperVerdict more_bits(const Rows& rows) {
    PaperVerdict out;
    out.statement =
        "false hits fall from 8 to 16 to 32 bits, to hardly more than the exact directory's";
    const auto *exact = rows.of(Scheme::exact_directory, kPaperThreshold),
               *few = rows.of(Scheme::paper_bloom, kPaperThreshold, 8),
               *some = rows.of(Scheme::paper_bloom, kPaperThreshold, 16),
               *many = rows.of(Scheme::paper_bloom, kPaperThreshold, 32);
    if (!exact || !few || !some || !many) return out;
    const auto hits = [](const SimulationCounts* counts) {
        return per_request(*counts).false_hits;
    };
    out.is = judged(hits(few) >= hits(some) && hits(some) >= hits(many));
    out.ours =
        fmt::format("{}, {}, {} per request; exact {}", figure_text(hits(few)),
                    figure_text(hits(some)), figure_text(hits(many)), figure_text(hits(exact)));
    return out;
}

}  // namespace

std::vector<PaperVerdict> verdicts_of(const Study& study) {
    const Rows rows(study);
    if (study.tables.empty()) return {};
    return {loss_at_one_percent(rows),
            loss_grows(rows),
            bloom_hits(rows),
            fewer_messages(study, rows),
            fewer_bytes(rows),
            server_names(rows),
            more_bits(rows)};
}

}  // namespace measure
