#include "proxy/admin/metrics_writer.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace proxy {
namespace {

constexpr std::string_view kTotal = "_total";

/// The unit that stands at the end of a name.
std::string_view unit_in(std::string_view family) {
    for (const std::string_view unit : {"seconds", "bytes", "ratio"})
        if (family.ends_with(unit) && family.substr(0, family.size() - unit.size()).ends_with('_'))
            return unit;
    return {};
}

void append_metric_text(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c == '\n') {
            out.append("\\n");
            continue;
        }
        if (c == '\\' || c == '"') out.push_back('\\');
        out.push_back(c);
    }
}

void append_metric_value(std::string& out, double value) {
    if (std::isnan(value)) return void(out.append("NaN"));
    if (std::isinf(value)) return void(out.append(value > 0 ? "+Inf" : "-Inf"));
    constexpr double kLeastFixed = 1e-4, kMostFixed = 1e21;  // as in Go
    const auto size = std::abs(value);
    const auto is_fixed = size == 0 || (size >= kLeastFixed && size < kMostFixed);
    std::array<char, 64> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value,
                      is_fixed ? std::chars_format::fixed : std::chars_format::scientific)
            .ptr;
    out.append(digits.data(), end);
}

/// OpenMetrics has a canonical form: `1.0`, `0.25`, `5e-05`, `+Inf`.
std::string bound_text(double bound, bool is_canonical) {
    std::string text;
    append_metric_value(text, bound);
    if (is_canonical && text.find_first_of(".eI") == std::string::npos) text.append(".0");
    return text;
}

void append_exemplar(std::string& out, const DurationExemplars::Exemplar& exemplar) {
    constexpr std::uint64_t kThousand = 1000;
    if (exemplar.trace == TraceId{}) return;
    out.append(" # {trace_id=\"");
    append_id(out, exemplar.trace);
    out.append("\"} ");
    append_metric_value(out, exemplar.seconds);
    const auto at =
        std::chrono::duration_cast<std::chrono::milliseconds>(exemplar.at.time_since_epoch());
    const auto milliseconds = static_cast<std::uint64_t>(at.count());
    const auto rest = std::to_string(milliseconds % kThousand);
    out.append(" ").append(std::to_string(milliseconds / kThousand)).append(".");
    out.append(3 - rest.size(), '0').append(rest);
}

}  // namespace

void MetricsWriter::begin(std::string_view name, std::string_view help, std::string_view type) {
    family_ = name;
    if (is_open() && name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
    if (const auto unit = unit_in(name); is_open() && !unit.empty())
        text_.append("# UNIT ").append(name).append(" ").append(unit).append("\n");
    text_.append("# HELP ").append(name).append(" ");
    append_metric_text(text_, help);
    text_.push_back('\n');
}

void MetricsWriter::append_sample(std::string_view suffix, const Labels& labels, double value) {
    text_.append(family_).append(suffix);
    for (const auto& label : labels) {
        text_.append(&label == &labels.front() ? "{" : ",").append(label.name).append("=\"");
        append_metric_text(text_, label.value);
        text_.push_back('"');
    }
    text_.append(labels.empty() ? " " : "} ");
    append_metric_value(text_, value);
}

void MetricsWriter::value(double value, const Labels& labels) {
    append_sample("", labels, value);
    text_.push_back('\n');
}

void MetricsWriter::value(const DurationHistogram& histogram, const DurationExemplars& exemplars,
                          const Labels& labels) {
    std::uint64_t below = 0;
    auto with_bound = labels;
    with_bound.push_back({"le", {}});
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        below += histogram.counts[i];
        const auto is_last = i == kDurationBuckets.size();
        const auto bound = is_last ? std::numeric_limits<double>::infinity() : kDurationBuckets[i];
        with_bound.back().value = bound_text(bound, is_open());
        append_sample("_bucket", with_bound, static_cast<double>(below));
        if (is_open()) append_exemplar(text_, exemplars.last[i]);
        text_.push_back('\n');
    }
    append_sample("_count", labels, static_cast<double>(below));
    text_.push_back('\n');
    append_sample("_sum", labels, histogram.sum_seconds);
    text_.push_back('\n');
}

std::string MetricsWriter::finish() {
    if (is_open()) text_.append("# EOF\n");
    return std::move(text_);
}

}  // namespace proxy
