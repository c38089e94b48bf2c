#include "proxy/admin/open_metrics.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace proxy {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

constexpr std::string_view kTotal = "_total";

std::string_view metric_type_name(MetricType type) {
    switch (type) {
        case MetricType::Counter:
            return "counter";
        case MetricType::Gauge:
            return "gauge";
        case MetricType::Histogram:
            return "histogram";
        default:
            return "unknown";
    }
}

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

/// The canonical form of a bound: `1.0`, `0.25`, `5e-05`, `+Inf`.
void append_bound(std::string& out, double bound) {
    const auto begin = out.size();
    append_metric_value(out, bound);
    if (std::string_view(out).substr(begin).find_first_of(".eI") == std::string_view::npos)
        out.append(".0");
}

void append_metric_label(std::string& out, std::string_view name, std::string_view value) {
    if (out.back() != '{') out.push_back(',');
    out.append(name).append("=\"");
    append_metric_text(out, value);
    out.push_back('"');
}

/// `le`: the bound of a bucket, or null.
void append_metric_labels(std::string& out, const ClientMetric& metric, const double* le) {
    if (metric.label.empty() && !le) return;
    out.push_back('{');
    for (const auto& label : metric.label) append_metric_label(out, label.name, label.value);
    if (le) {
        std::string bound;
        append_bound(bound, *le);
        append_metric_label(out, "le", bound);
    }
    out.push_back('}');
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

void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   const ClientMetric& metric, double value) {
    out.append(name).append(suffix);
    append_metric_labels(out, metric, nullptr);
    out.push_back(' ');
    append_metric_value(out, value);
    out.push_back('\n');
}

void append_histogram(std::string& out, std::string_view name, const ClientMetric& metric,
                      const DurationExemplars* exemplars) {
    const auto& histogram = metric.histogram;
    for (std::size_t i = 0; i < histogram.bucket.size(); ++i) {
        const auto& bucket = histogram.bucket[i];
        out.append(name).append("_bucket");
        append_metric_labels(out, metric, &bucket.upper_bound);
        out.push_back(' ');
        append_metric_value(out, static_cast<double>(bucket.cumulative_count));
        if (exemplars && i < exemplars->last.size()) append_exemplar(out, exemplars->last[i]);
        out.push_back('\n');
    }
    append_sample(out, name, "_count", metric, static_cast<double>(histogram.sample_count));
    append_sample(out, name, "_sum", metric, histogram.sample_sum);
}

}  // namespace

std::string open_metrics_text(const std::vector<prometheus::MetricFamily>& families,
                              const std::vector<PlacedExemplars>& placed) {
    std::string out;
    auto next = placed.begin();
    for (std::size_t i = 0; i < families.size(); ++i) {
        const auto& family = families[i];
        std::string_view name = family.name;
        const auto is_counter = family.type == MetricType::Counter && name.ends_with(kTotal);
        if (is_counter) name.remove_suffix(kTotal.size());
        out.append("# TYPE ")
            .append(name)
            .append(" ")
            .append(metric_type_name(family.type))
            .append("\n");
        if (const auto unit = unit_in(name); !unit.empty())
            out.append("# UNIT ").append(name).append(" ").append(unit).append("\n");
        out.append("# HELP ").append(name).append(" ");
        append_metric_text(out, family.help);
        out.push_back('\n');
        for (std::size_t k = 0; k < family.metric.size(); ++k) {
            const auto& metric = family.metric[k];
            const DurationExemplars* exemplars = nullptr;
            if (next != placed.end() && next->family == i && next->metric == k)
                exemplars = (next++)->exemplars;
            if (family.type == MetricType::Histogram)
                append_histogram(out, name, metric, exemplars);
            else if (is_counter)
                append_sample(out, name, kTotal, metric, metric.counter.value);
            else
                append_sample(out, name, "", metric, metric.gauge.value);
        }
    }
    return out.append("# EOF\n");
}

}  // namespace proxy
