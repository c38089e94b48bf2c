#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace measure {

/// Lines over two axes, to be drawn into a page.
struct Chart {
    struct Axis {
        std::string label;  // with its unit
        bool logarithmic = false;
    };
    struct Point {
        double x = 0, y = 0;
        std::string name;  // shown beside it; may be empty
    };
    struct Series {
        std::string name;
        std::vector<Point> points;
    };
    std::string title;
    Axis x, y;
    /// At most kChartColours have a colour of their own. One without points is left out, and keeps
    /// the colours of the others in place.
    std::vector<Series> series;
};
inline constexpr std::size_t kChartColours = 8;

/// Returns true if a point can be drawn: a logarithmic axis needs values above 0.
bool has_place(const Chart& chart, const Chart::Point& point);

/// The range of an axis, and its ticks at round numbers.
struct Ticks {
    double from = 0, to = 1;
    std::vector<double> at;
};
Ticks ticks_for(double least, double most, bool logarithmic);
/// A tick's number: "0.001", "5", "20k".
std::string tick_text(double value);

/// Escapes text for HTML and SVG: & < > " ' become entities, control characters except line ends
/// become blanks.
std::string escaped(std::string_view text);

/// Draws a complete <svg> with axes, lines and marks, and a legend below it. Colours are the page's
/// variables --c0 to --c7, --ink and --grid.
std::string svg_of(const Chart& chart);

/// Draws series of one point each, all at one x, as bars from 0 to y, with the name before the bar
/// and the figure behind it. The value of x stands below.
std::string svg_bars_of(const Chart& chart);

}  // namespace measure
