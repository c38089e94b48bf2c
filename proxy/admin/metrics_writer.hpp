#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/admin/metrics_format.hpp"
#include "proxy/telemetry/counters.hpp"

namespace proxy {

/// Writes the body of GET /metrics, family by family, in either format. Names of counters end in
/// `_total`, which an OpenMetrics family goes without. Sources: Prometheus text format 0.0.4,
/// OpenMetrics 1.0.0.
class MetricsWriter {
public:
    struct Label {
        std::string name, value;
    };
    using Labels = std::vector<Label>;

    explicit MetricsWriter(MetricsFormat format) : format_(format) {}

    // Each begins a family. Its values follow.
    void counter(std::string_view name, std::string_view help) { begin(name, help, "counter"); }
    void gauge(std::string_view name, std::string_view help) { begin(name, help, "gauge"); }
    void histogram(std::string_view name, std::string_view help) { begin(name, help, "histogram"); }

    void value(double value, const Labels& labels = {});
    void value(std::uint64_t count, const Labels& labels = {}) {
        value(static_cast<double>(count), labels);
    }
    /// OpenMetrics has the exemplars, bucket by bucket.
    void value(const DurationHistogram& histogram, const DurationExemplars& exemplars,
               const Labels& labels);

    /// The whole text. Once.
    std::string finish();

private:
    bool is_open() const { return format_ == MetricsFormat::open_metrics; }
    void begin(std::string_view name, std::string_view help, std::string_view type);
    /// A line up to its value.
    void append_sample(std::string_view suffix, const Labels& labels, double value);

    const MetricsFormat format_;
    std::string family_;
    std::string text_;
};

}  // namespace proxy
