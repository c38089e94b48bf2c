#include "measure/report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace measure {
namespace {

constexpr double kWidth = 720, kHeight = 400;
constexpr double kLeft = 78, kRight = 20, kTop = 14, kBottom = 52;
constexpr double kBesideMark = 8;
constexpr double kBarsLeft = 190, kBarsRight = 80, kBarStep = 26;  // of bars
constexpr double kNearly = 1.001;

/// Maps a value to its position.
class Scale {
public:
    Scale(Ticks ticks, bool logarithmic, double begin, double end)
        : ticks_(std::move(ticks)), logarithmic_(logarithmic), begin_(begin), end_(end) {}

    double at(double value) const {
        return begin_ + (end_ - begin_) * (along(value) - along(ticks_.from)) /
                            (along(ticks_.to) - along(ticks_.from));
    }
    const std::vector<double>& ticks() const { return ticks_.at; }

private:
    double along(double value) const { return logarithmic_ ? std::log10(value) : value; }

    Ticks ticks_;
    bool logarithmic_;
    double begin_, end_;
};

Scale scale_for(const Chart& chart, const Chart::Axis& axis, double Chart::Point::*value,
                double begin, double end) {
    double least = std::numeric_limits<double>::max(), most = std::numeric_limits<double>::lowest();
    for (const auto& series : chart.series) {
        for (const auto& point : series.points) {
            if (!has_place(chart, point)) continue;
            least = std::min(least, point.*value);
            most = std::max(most, point.*value);
        }
    }
    if (least > most) least = most = axis.logarithmic ? 1 : 0;
    return {ticks_for(least, most, axis.logarithmic), axis.logarithmic, begin, end};
}

std::string colour(std::size_t series) {
    return fmt::format("var(--c{})", series % kChartColours);
}

/// A mark of its own for each series, so that colour is not the only distinction.
std::string mark(std::size_t series, double x, double y) {
    switch (series % 4) {
        case 0:
            return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"", x, y);
        case 1:
            return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7.4\" height=\"7.4\"",
                               x - 3.7, y - 3.7);
        case 2:
            return fmt::format("<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"", x,
                               y - 5, x - 4.6, y + 3.8, x + 4.6, y + 3.8);
        default:
            return fmt::format(
                "<polygon points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"", x,
                y - 5.2, x + 5.2, y, x, y + 5.2, x - 5.2, y);
    }
}

void draw_axes(const Chart& chart, const Scale& x, const Scale& y, std::string& out) {
    const double bottom = kHeight - kBottom, right = kWidth - kRight;
    for (const double tick : x.ticks()) {
        const double at = x.at(tick);
        out += fmt::format(
            "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>"
            "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
            at, kTop, bottom, bottom + 18, tick_text(tick));
    }
    for (const double tick : y.ticks()) {
        const double at = y.at(tick);
        out += fmt::format(
            "<line class=\"grid\" x1=\"{1}\" y1=\"{0:.1f}\" x2=\"{2}\" y2=\"{0:.1f}\"/>"
            "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
            at, kLeft, right, kLeft - 8, at + 4, tick_text(tick));
    }
    out += fmt::format("<polyline class=\"axis\" points=\"{0},{1} {0},{2} {3},{2}\"/>\n", kLeft,
                       kTop, bottom, right);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                       (kLeft + right) / 2, kHeight - 10, escaped(chart.x.label));
    out += fmt::format(
        "<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        (kTop + bottom) / 2, escaped(chart.y.label));
}

void draw_series(const Chart& chart, std::size_t which, const Scale& x, const Scale& y,
                 std::string& out) {
    const auto& series = chart.series[which];
    std::string line, marks;
    for (const auto& point : series.points) {
        if (!has_place(chart, point)) continue;
        const double px = x.at(point.x), py = y.at(point.y);
        line += fmt::format("{:.1f},{:.1f} ", px, py);
        marks += mark(which, px, py) +
                 fmt::format(" fill=\"{}\"><title>{}{}{}: {:.4g}, {:.4g}</title>{}\n",
                             colour(which), escaped(series.name), point.name.empty() ? "" : ", ",
                             escaped(point.name), point.x, point.y,
                             which % 4 == 0   ? "</circle>"
                             : which % 4 == 1 ? "</rect>"
                                              : "</polygon>");
        const bool left = px > kWidth * 0.75;
        if (!point.name.empty())
            marks += fmt::format(
                "<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                left ? px - kBesideMark : px + kBesideMark, py - kBesideMark / 2,
                left ? "end" : "start", escaped(point.name));
    }
    if (line.empty()) return;
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\"{}/>\n", line,
                       colour(which), which >= 4 ? " stroke-dasharray=\"6 4\"" : "");
    out += marks;
}

std::string legend_of(const Chart& chart) {
    std::string out = "<ul class=\"legend\">\n";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        if (chart.series[i].points.empty()) continue;
        out += fmt::format(
            "<li><svg width=\"30\" height=\"12\" viewBox=\"0 0 30 12\" aria-hidden=\"true\">"
            "<line x1=\"0\" y1=\"6\" x2=\"30\" y2=\"6\" stroke=\"{0}\" stroke-width=\"2\"{1}/>"
            "{2} fill=\"{0}\"/></svg> {3}</li>\n",
            colour(i), i >= 4 ? " stroke-dasharray=\"6 4\"" : "", mark(i, 15, 6),
            escaped(chart.series[i].name));
    }
    return out + "</ul>\n";
}

}  // namespace

bool has_place(const Chart& chart, const Chart::Point& point) {
    return std::isfinite(point.x) && std::isfinite(point.y) &&
           (!chart.x.logarithmic || point.x > 0) && (!chart.y.logarithmic || point.y > 0);
}

Ticks ticks_for(double least, double most, bool logarithmic) {
    Ticks out;
    if (logarithmic) {
        // A value that equals a tick up to rounding needs no further tick.
        const int low = static_cast<int>(std::floor(std::log10(least * kNearly)));
        const int high = static_cast<int>(std::ceil(std::log10(most / kNearly)));
        const bool few = high - low <= 3;
        for (int decade = low; decade <= std::max(high, low + 1); ++decade) {
            for (const double digit : {1.0, 2.0, 5.0}) {
                const double tick = digit * std::pow(10, decade);
                if (digit != 1 && !few) continue;
                if (!out.at.empty() && tick <= least * kNearly) out.at.clear();
                const bool enough = out.at.size() > 1 && out.at.back() >= most / kNearly;
                if (!enough) out.at.push_back(tick);
            }
        }
        out.from = out.at.front();
        out.to = out.at.back();
        return out;
    }
    const double reach = most > least ? most - least : std::max(std::abs(most), 1.0);
    const double rough = reach / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = (rough / power < 1.5   ? 1
                         : rough / power < 3.5 ? 2
                         : rough / power < 7.5 ? 5
                                               : 10) *
                        power;
    const double first = std::floor(least / step + 1e-9), last = std::ceil(most / step - 1e-9);
    for (double i = first; i <= std::max(last, first + 1); ++i) out.at.push_back(i * step);
    out.from = out.at.front();
    out.to = out.at.back();
    return out;
}

std::string tick_text(double value) {
    if (std::abs(value) >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
    if (std::abs(value) >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
    if (value != 0 && std::abs(value) < 1e-4) return fmt::format("{:.0e}", value);
    return fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f ? ' ' : c;
        }
    }
    return out;
}

std::string svg_of(const Chart& chart) {
    const auto x = scale_for(chart, chart.x, &Chart::Point::x, kLeft, kWidth - kRight);
    const auto y = scale_for(chart, chart.y, &Chart::Point::y, kHeight - kBottom, kTop);
    std::string out =
        fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                    kWidth, kHeight, escaped(chart.title));
    draw_axes(chart, x, y, out);
    for (std::size_t i = 0; i < chart.series.size(); ++i) draw_series(chart, i, x, y, out);
    return out + "</svg>\n" + legend_of(chart);
}

std::string svg_bars_of(const Chart& chart) {
    double most = 0, x = 0;
    for (const auto& series : chart.series) {
        for (const auto& point : series.points) {
            if (std::isfinite(point.y)) most = std::max(most, point.y);
            x = point.x;
        }
    }
    const double longest = kWidth - kBarsLeft - kBarsRight;
    const double height = kBarStep * static_cast<double>(chart.series.size()) + kBottom;
    std::string out =
        fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                    kWidth, height, escaped(chart.title));
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const auto& series = chart.series[i];
        if (series.points.empty() || !std::isfinite(series.points.front().y)) continue;
        const double value = series.points.front().y, top = kBarStep * static_cast<double>(i);
        const double width = most > 0 ? std::max(longest * value / most, 0.0) : 0;
        out += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>"
            "<rect class=\"bar\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
            "fill=\"{}\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{:.4g}</text>\n",
            kBarsLeft - kBesideMark, top + kBarStep * 0.7, escaped(series.name), kBarsLeft,
            top + kBarStep * 0.2, width, kBarStep * 0.6, colour(i), kBarsLeft + width + kBesideMark,
            top + kBarStep * 0.7, value);
    }
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\">{}</text>\n", kBarsLeft, height - kBottom / 2,
                       escaped(chart.y.label));
    out += fmt::format("<text class=\"small\" x=\"{}\" y=\"{:.1f}\">{}: {:.4g}</text>\n", kBarsLeft,
                       height - kBottom / 2 + 18, escaped(chart.x.label), x);
    return out + "</svg>\n";
}

}  // namespace measure
