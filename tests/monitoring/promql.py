"""A rough reading of PromQL and of the text format: enough to compare the names in rules and panels with an exposition."""
import re

KEYWORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "group_right", "inf", "nan"}
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')


class Selector:
    """A metric name with its matchers: (label, operator, value)."""

    def __init__(self, name, matchers):
        self.name, self.matchers = name, matchers

    def __repr__(self):
        return self.name + "{" + ", ".join(f'{label}{op}"{value}"' for label, op, value in self.matchers) + "}"


def read(expression):
    """Returns the selectors of an expression, and the labels that its operators and aggregations name."""
    labels = set()

    def note(match):
        labels.update(name.strip() for name in match.group(2).split(",") if name.strip())
        return " "
    rest = re.sub(r'"[^"]*"', lambda text: text.group().replace("(", "\1").replace(")", "\2"), expression)
    rest = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", note, rest)
    rest = re.sub(r"\[[^\]]*\]|\boffset\s+\w+", " ", rest)
    selectors = []
    for match in re.finditer(r"([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?", rest):
        name, behind = match.groups()
        if behind == "(" or name in KEYWORDS or rest[match.start() - 1:match.start()].isdigit():
            continue
        matchers = [(label, op, value.replace("\1", "(").replace("\2", ")"))
                    for label, op, value in MATCHER.findall(behind or "")]
        selectors.append(Selector(name, matchers))
    return selectors, labels


def exposition(text):
    """The samples of a text exposition: name -> label -> set of values."""
    out = {}
    for line in text.splitlines():
        match = re.match(r"([a-zA-Z_:][\w:]*)(\{.*\})? \S+$", line)
        if match and not line.startswith("#"):
            labels = out.setdefault(match.group(1), {})
            for label, value in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match.group(2) or ""):
                labels.setdefault(label, set()).add(value)
    return out


def words(matcher):
    """The values that a matcher names; none if it is a pattern."""
    label, op, value = matcher
    if op in ("=", "!="):
        return {value}
    return set(value.split("|")) if re.fullmatch(r"[\w|]*", value) else set()


SHORT = {"5m": "6s", "10m": "6s", "15m": "6s", "30m": "6s", "1h": "6s", "1d": "90s"}


def hurry(rules):
    """The text of a file of rules with windows of seconds, and alerts that fire at once. Thresholds stay."""
    rules = re.sub(r"\n +for: \w+", "", rules)
    rules = rules.replace("offset 1h", "offset 3s")
    return re.sub(r"\[(\w+)\]", lambda window: f"[{SHORT[window.group(1)]}]", rules)


def waits(rules):
    """The `for` of each alert in a file of rules, in seconds."""
    seconds = {"s": 1, "m": 60, "h": 3600}
    out = {}
    for part in re.split(r"- alert: ", rules)[1:]:
        wait = re.search(r"\n +for: (\d+)([smh])\n", part)
        out[part.split()[0]] = int(wait.group(1)) * seconds[wait.group(2)] if wait else 0
    return out
