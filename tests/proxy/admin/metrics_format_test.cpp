#include "proxy/admin/metrics_format.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace metrics_format_test {

TEST(MetricsFormats, AreChosenByTheScraper) {
    // Prometheus 2.42 and 3.
    for (const auto* open :
         {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
          "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
          "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
          "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,"
          "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
          "application/openmetrics-text", "Application/OpenMetrics-Text ; Version=\"1.0.0\"",
          "text/plain;q=0.5, application/openmetrics-text;q=0.5",
          "*/*, application/openmetrics-text",
          "text/plain;q=0, application/openmetrics-text;q=0.1"})
        EXPECT_EQ(wanted_format(open), MetricsFormat::open_metrics) << open;
}

TEST(MetricsFormats, AreTextForEverybodyElse) {
    for (const auto* text :
         {"", "*/*", "text/plain", "text/html,application/xhtml+xml,*/*;q=0.8", "application/*",
          "text/plain;version=0.0.4, application/openmetrics-text;q=0.9",
          "text/*, application/openmetrics-text;q=0.9", "application/openmetrics-text;q=0",
          "application/openmetrics-text;version=2.0.0",
          "application/openmetrics-text;version=0.0.1", "application/openmetrics-text;q=nan",
          "application/openmetrics-text;q=2",
          "application/openmetrics-text;q=", "application/openmetrics-textual", ";;;,,,\"",
          "text/plain;q=0.5;version=0.0.4, */*;q=0.1, application/openmetrics-text;q=0.4"})
        EXPECT_EQ(wanted_format(text), MetricsFormat::text) << text;
}

}  // namespace metrics_format_test
}  // namespace proxy
