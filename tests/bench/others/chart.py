"""The results of a run as an SVG picture: a panel of bars for each row. A pure function of the results."""
import statistics
import textwrap
from xml.sax.saxutils import escape

from .load import ROWS
from .report import absences, conditions, disturbance, figures, number
from .servers import TITLES

WIDTH, MARGIN, COLUMNS = 960, 24, 3
PANEL_WIDTH = (WIDTH - 2 * MARGIN) // COLUMNS
LINE, BAR = 22, 14  # from one bar to the next, and its height
HEAD, PANEL_HEAD, FOOT_LINE = 84, 34, 18
LARGE = 3  # medians of a panel
NAME_WIDTH, BAR_WIDTH = 98, 80  # the value has the rest of a panel
FOOT_CHARACTERS = 140
# The picture has a ground of its own, so it can be read on a page of either kind. The colours are those of the reports.
STYLE = """
.ground { fill: #fff; stroke: #dde1e6 } .gap { fill: #fff } text { fill: #1d2127; font: 13px system-ui, sans-serif }
.dim { fill: #5a636e } .title { font-size: 20px; font-weight: 600 } .panel { font-size: 14px; font-weight: 600 }
.foot { fill: #5a636e; font-size: 12px } .own { fill: #0b62a4 } .other { fill: #aab4bf }
@media (prefers-color-scheme: dark) {
  .ground { fill: #15181c; stroke: #353c44 } .gap { fill: #15181c } text { fill: #e4e7ea } .dim, .foot { fill: #a3acb6 }
  .own { fill: #6db6f2 } .other { fill: #56606b } }
"""


def text(x, y, words, kind=""):
    return f'<text x="{x}" y="{y}"' + (f' class="{kind}"' if kind else "") + f">{escape(words)}</text>"


def full_width(values):
    """What the full width of a panel's bars stands for. Its scale begins at zero, and one large value cannot hide the others."""
    return min(max(values), LARGE * statistics.median(values))


def bar(x, y, server, figure, full):
    """Name, bar and value of one server. A bar that would be wider than `full` is cut, and has a gap."""
    width = max(1, round(BAR_WIDTH * min(1, figure.cpu_us / full)))
    value = f"{number(figure.cpu_us)} µs" + (f", {number(figure.ratio)}×" if figure.ratio and server != "hearsay" else "")
    return [text(x, y + BAR - 3, TITLES[server]),
            f'<rect x="{x + NAME_WIDTH}" y="{y}" width="{width}" height="{BAR}" class="{"own" if server == "hearsay" else "other"}"/>',
            *([f'<rect x="{x + NAME_WIDTH + width - 14}" y="{y}" width="4" height="{BAR}" class="gap"/>'] if figure.cpu_us > full else []),
            text(x + NAME_WIDTH + width + 6, y + BAR - 3, value)]


def panel(x, y, name, results):
    found, absent = figures(results), absences(results)
    full = full_width([figure.cpu_us for (row, _), figure in found.items() if row == name])
    parts = [text(x, y + 14, ROWS[name].title, "panel")]
    for i, server in enumerate(results["versions"]):
        top = y + PANEL_HEAD - 8 + i * LINE
        if (name, server) in found:
            parts += bar(x, top, server, found[name, server], full)
        else:
            parts += [text(x, top + BAR - 3, TITLES[server]),
                      text(x + NAME_WIDTH, top + BAR - 3, absent.get((name, server), "not measured").partition(" (")[0], "dim")]
    return parts


def foot(results):
    """The lines below the panels: who measured what, and with which programs."""
    machine = ", ".join(results["machine"].values()) + ("; h2o serves files, the others from their caches" if "h2o" in results["versions"] else "")
    programs = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    return [line for words in (f"{results['date']}: {conditions(results)}", machine, programs, disturbance(results))
            for line in textwrap.wrap(words, FOOT_CHARACTERS)]


def chart(results):
    rows = [name for name in ROWS if any(each["row"] == name for each in results["samples"])]
    panel_height = PANEL_HEAD + LINE * len(results["versions"]) + 14
    lines = foot(results)
    panels_end = HEAD + -(-len(rows) // COLUMNS) * panel_height
    height = panels_end + FOOT_LINE * len(lines) + 16
    title = "CPU time of hearsay and other servers for a request"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
             f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
             f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6" class="ground"/>',
             text(MARGIN, 36, title, "title"),
             text(MARGIN, 58, "Microseconds of the server's CPU, and how many times that of hearsay. A shorter bar is better, and one with a gap is cut.", "dim")]
    for i, name in enumerate(rows):
        parts += panel(MARGIN + i % COLUMNS * PANEL_WIDTH, HEAD + i // COLUMNS * panel_height, name, results)
    parts += [text(MARGIN, panels_end + 12 + FOOT_LINE * i, line, "foot") for i, line in enumerate(lines)]
    return "\n".join([*parts, "</svg>", ""])
