"""The results of a run as Markdown, and their place in a page. Pure functions of the results.

Results are a dictionary, as --json writes it: `date`, `machine` (name -> text), `versions` (server -> text), `rounds`,
`seconds`, `samples`, `absent`. A sample has `row`, `server`, `round`, `cpu_us` and `rate` (of a request), `busy` and
`others` (parts of the server's core that the server and other programs took). An absence has `row`, `server`, `why`.
"""
import dataclasses
import statistics

from .load import CONNECTIONS, ROWS, STREAMS
from .servers import TITLES

BEGIN, END = "<!-- written by ./dev bench --against -->", "<!-- end -->"
FULL = 0.9  # a server that took less of its core did not limit the rate
QUIET = 0.05


@dataclasses.dataclass
class Figure:
    """Medians of the rounds. `ratio`: CPU by that of hearsay in the same round; none without hearsay's."""
    cpu_us: float
    ratio: float | None
    rate: float
    full: bool


def figures(results):
    """Returns (row, server) -> Figure."""
    samples = results["samples"]
    base = {(each["row"], each["round"]): each["cpu_us"] for each in samples if each["server"] == "hearsay"}
    found = {}
    for key in dict.fromkeys((each["row"], each["server"]) for each in samples):
        mine = [each for each in samples if (each["row"], each["server"]) == key]
        ratios = [each["cpu_us"] / base[each["row"], each["round"]] for each in mine if (each["row"], each["round"]) in base]
        cpu_us, rate, busy = (statistics.median(each[name] for each in mine) for name in ("cpu_us", "rate", "busy"))
        found[key] = Figure(cpu_us, statistics.median(ratios) if ratios else None, rate, busy >= FULL)
    return found


def absences(results):
    """Returns (row, server) -> the reason."""
    return {(each["row"], each["server"]): each["why"] for each in results["absent"]}


def number(value):
    """Three digits, as more would be noise."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cpu_cell(server, figure):
    return number(figure.cpu_us) + (f" ({number(figure.ratio)})" if figure.ratio and server != "hearsay" else "")


def rate_cell(_, figure):
    return f"{figure.rate:,.0f}" + ("" if figure.full else " \\*")


def table(results, corner, cell):
    """A line for each row that was asked for, a column for each server."""
    found, absent, servers = figures(results), absences(results), list(results["versions"])
    lines = [f"| {corner} | " + " | ".join(TITLES[server] for server in servers) + " |", "|---" * (len(servers) + 1) + "|"]
    for name in [name for name in ROWS if any(name == row for row, _ in [*found, *absent])]:
        cells = [cell(server, found[name, server]) if (name, server) in found else absent.get((name, server), "-") for server in servers]
        lines.append(f"| {ROWS[name].title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def disturbance(results):
    """A sentence about the other programs of the machine."""
    others = [each["others"] for each in results["samples"]] or [0]
    middle = statistics.median(others)
    judgement = "so the machine was quiet" if middle <= QUIET else "so the machine was busy and the figures are preliminary"
    return f"Other programs took {middle:.0%} of the server's core in the median sample and {max(others):.0%} in the worst, {judgement}."


def conditions(results):
    rounds = "one round" if results["rounds"] == 1 else f"medians of {results['rounds']} alternating rounds"
    return f"one worker each, {CONNECTIONS} connections (HTTP/2: {STREAMS} streams each), {rounds} of {results['seconds']} s"


def page_part(results):
    """Everything that a run says, as Markdown."""
    facts = {"measured": f"{results['date']}, {conditions(results)}", **results["machine"],
             "programs": ", ".join(f"{name} {version}" for name, version in results["versions"].items())}
    return "\n\n".join([
        "| | |\n|---|---|\n" + "\n".join(f"| {name} | {text} |" for name, text in facts.items()),
        disturbance(results),
        "CPU time of the server for a request, in microseconds. Brackets: how many times that of hearsay, the median of the rounds.",
        table(results, "µs of CPU", cpu_cell),
        "A star marks a rate that the server did not limit, because more than a tenth of its core was left.",
        table(results, "requests/s", rate_cell)])


def put_into(page, results):
    """Returns the page with the results in place of earlier ones, between BEGIN and END. Raises ValueError without these."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page lacks {BEGIN} or {END}")
    return f"{before}{begin}\n\n{page_part(results)}\n\n{end}{after}"
