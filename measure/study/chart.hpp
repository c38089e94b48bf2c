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
    std::vector<Series> series;  // kChartColours at most have a colour of their own
};
inline constexpr std::size_t kChartColours = 8;

/// What is not above 0 has no place on a logarithmic axis, and is left out.
bool has_place(const Chart& chart, const Chart::Point& point);

/// From what to what an axis goes, and where its ticks are: round numbers.
struct Ticks {
    double from = 0, to = 1;
    std::vector<double> at;
};
Ticks ticks_for(double least, double most, bool logarithmic);
/// A tick's number: "0.001", "5", "20k".
std::string tick_text(double value);

/// Text in HTML and SVG: & < > " ' become entities; control characters but line
/// ends, blanks.
std::string escaped(std::string_view text);

/// An <svg> of its own with axes, lines and marks, and a legend below it. Colours are the page's
/// variables --c0 to --c7, --ink and --grid.
std::string svg_of(const Chart& chart);

/// The same for series that have one point each, all at one x: a bar for each series, from 0 to its
/// y, with the name before it and the figure behind it. Below them stands which x it is.
std::string svg_bars_of(const Chart& chart);

}  // namespace measure
