"""Reads files of callgrind: per function its own instructions, those with all it called, and its calls."""
import collections
import re

Cost = collections.namedtuple("Cost", "own inclusive calls")
NONE = Cost(0, 0, 0)


def bracketed(name, opening, closing):
    """The name with the text between matching brackets left out."""
    text, depth = [], 0
    for i, letter in enumerate(name):
        if letter == opening:
            depth += 1
        elif letter == closing and depth and name[i - 1] != "-":
            depth -= 1
        elif not depth:
            text.append(letter)
    return "".join(text)


def short(name):
    """A name that survives another build: without arguments of functions and templates, clones and recursion."""
    name = re.sub(r"'\d+$", "", name)
    actor = ".actor" in name or ".Frame" in name
    name = re.sub(r"\.(lto_priv|isra|constprop|part|cold|actor|destroy)(\.\d+)*", "", name)
    name = re.sub(r"\s*\[clone[^]]*\]", "", name)
    name = name.replace("(anonymous namespace)::", "").replace("decltype(auto)", "auto")
    name = re.sub(r"operator(<<|>>|<=>|<=|>=|<|>|->|\(\))",
                  lambda found: "operator " + {"()": "call", "->": "arrow"}.get(found[1], "compare"), name)
    name = bracketed(bracketed(name, "<", ">"), "(", ")")
    name = re.sub(r"\{lambda(#\d+)?\}", "{lambda}", name)
    name = re.sub(r"\b(const|volatile)$|&+$", "", name.strip()).strip()
    # A return type stands before the name of an instance of a function template.
    if " " in name and "operator" not in name:
        name = name.rsplit(" ", 1)[-1]
    return name + (" (coroutine)" if actor else "")


class Reader:
    """One file. Names stand in full once and as a number afterwards."""

    def __init__(self):
        self.names = {}
        self.own = collections.Counter()
        self.called = collections.Counter()
        self.calls = collections.Counter()

    def name(self, text):
        number, _, full = text.partition(" ")
        if full:
            self.names[number] = short(full)
        return self.names[number]

    def read(self, path):
        function = callee = None
        is_call = False
        with open(path) as file:
            for line in file:
                if line.startswith("fn="):
                    function = self.name(line[3:].rstrip("\n"))
                elif line.startswith("cfn="):
                    callee = self.name(line[4:].rstrip("\n"))
                elif line.startswith("calls="):
                    count = int(line[6:].split(" ", 1)[0])
                    self.calls[callee] += count
                    is_call = True
                elif function and (line[0].isdigit() or line[0] in "+-*"):
                    cost = int(line.split()[1])
                    if not is_call:
                        self.own[function] += cost
                    elif callee != function:
                        self.called[function] += cost
                    is_call = False
        return self


def profile(path):
    """Function -> Cost."""
    read = Reader().read(path)
    return {name: Cost(read.own[name], read.own[name] + read.called[name], read.calls[name])
            for name in read.own.keys() | read.called.keys()}


def per_request(less, more, requests):
    """The difference of two runs as a profile of one request; what a run costs in any case falls out of it."""
    return {name: Cost(*((b - a) / requests for a, b in zip(less.get(name, NONE), more.get(name, NONE))))
            for name in less.keys() | more.keys()}


def total(costs):
    return sum(cost.own for cost in costs.values())
