#include "proxy/admin/metrics_format.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

/// A member of Accept: a media range, its version, and its weight from 0 to 1.
struct AcceptedMedia {
    std::string_view range;
    std::string_view version = {};
    double weight = 1;
};

std::string_view cut_at(std::string_view& rest, char separator) {
    const auto end = rest.find(separator);
    const auto part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return trim(part);
}

/// Empty for a weight that is none (RFC 9110 §12.4.2).
std::optional<double> media_weight(std::string_view text) {
    double weight = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, weight, std::chars_format::fixed);
    if (read.ec != std::errc() || read.ptr != end || !(weight >= 0 && weight <= 1))
        return std::nullopt;
    return weight;
}

std::optional<AcceptedMedia> media_of(std::string_view member) {
    AcceptedMedia media{cut_at(member, ';')};
    while (!member.empty()) {
        auto parameter = cut_at(member, ';');
        const auto name = cut_at(parameter, '=');
        if (parameter.size() > 1 && parameter.starts_with('"') && parameter.ends_with('"'))
            parameter = parameter.substr(1, parameter.size() - 2);
        if (iequals(name, "version")) media.version = parameter;
        if (!iequals(name, "q")) continue;
        const auto weight = media_weight(parameter);
        if (!weight) return std::nullopt;
        media.weight = *weight;
    }
    return media;
}

/// How well a range fits the text format: a named type before `text/*` before `*/*`.
int precision_for_text(const AcceptedMedia& media) {
    if (iequals(media.range, "text/plain"))
        return media.version.empty() || media.version == "0.0.4" ? 3 : 0;
    if (iequals(media.range, "text/*")) return 2;
    return media.range == "*/*" ? 1 : 0;
}

}  // namespace

MetricsFormat wanted_format(std::string_view accept) {
    double open_metrics = 0, text = 0;
    int precision = 0;
    ListMembers members(accept);
    while (const auto member = members.next()) {
        const auto media = media_of(*member);
        if (!media) continue;
        const auto is_open = iequals(media->range, "application/openmetrics-text") &&
                             (media->version.empty() || media->version == "1.0.0");
        if (is_open) open_metrics = std::max(open_metrics, media->weight);
        const auto fits = precision_for_text(*media);
        if (fits > precision) text = media->weight;
        precision = std::max(precision, fits);
    }
    return open_metrics > 0 && open_metrics >= text ? MetricsFormat::open_metrics
                                                    : MetricsFormat::text;
}

std::string_view content_type_of(MetricsFormat format) {
    return format == MetricsFormat::open_metrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

}  // namespace proxy
