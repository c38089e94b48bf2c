"""Load on one server, by wrk (HTTP/1.1) and by h2load (HTTP/2 over TLS), and the check that its cache answers alone."""
import contextlib
import dataclasses
import http.client
import re
import subprocess

from .servers import PORT, TLS_PORT

CONNECTIONS, STREAMS, MAX_THREADS = 64, 10, 8
PATIENCE_SECONDS = 5  # for one answer of the check
CHECKED_MISSES = 20
WARM_PASSES = 3  # some caches hand an object to their memory only when it is read again
SCRIPT = """
local threads = 0
function setup(thread)
    threads = threads + 1
    thread:set("number", threads)
end
function init(args)
    prefix, objects, sent, ready = args[1], tonumber(args[2]), 0, {}
    for i = 1, objects do ready[i] = wrk.format("GET", prefix .. i) end
end
function request()  -- objects in turn, or a new URL each time
    sent = sent + 1
    if objects > 0 then return ready[sent % objects + 1] end
    return wrk.format("GET", prefix .. number .. "-" .. sent)
end
"""


class LoadFailed(Exception):
    """A request failed, or its answer is not what the row is about. The text is for a cell of the table."""


@dataclasses.dataclass(frozen=True)
class Row:
    """One kind of request. Hits take `objects` of `size` bytes in turn; misses (no objects) have a new URL each."""
    title: str
    size: int = 1024
    objects: int = 100
    close: bool = False
    http2: bool = False


ROWS = {"hit": Row("1 KiB hit"), "hit10k": Row("10 KiB hit", 10 << 10), "hit100k": Row("100 KiB hit", 100 << 10),
        "hit1m": Row("1 MiB hit", 1 << 20, objects=20), "connection": Row("connection for each 1 KiB hit", close=True),
        "miss": Row("1 KiB miss, stored", objects=0), "h2": Row("1 KiB hit, HTTP/2 and TLS", http2=True)}


@contextlib.contextmanager
def paused(process):
    process.pause()
    try:
        yield
    finally:
        process.resume()


def fetch(host, path, size):
    """One request by a connection of its own. The built-in origin obeys Hearsay-Bytes, a cache passes it on."""
    connection = http.client.HTTPConnection(host, PORT, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", path, headers={"Hearsay-Bytes": str(size)})
        answer = connection.getresponse()
        return answer.status, len(answer.read())
    finally:
        connection.close()


def fetch_all(host, paths, size):
    for path in paths:
        if (got := fetch(host, path, size)) != (200, size):
            raise LoadFailed(f"status {got[0]}, {got[1]} bytes")


def paths_of(row):
    return [f"/{row.size}/{i}" for i in range(1, row.objects + 1)]


def warm(server, row, origin):
    """Fills the cache, and proves that it answers while the origin is stopped. Raises LoadFailed if it does not."""
    paths = paths_of(row) or [f"/check-{server.name}-{i}" for i in range(CHECKED_MISSES)]
    try:
        for _ in range(WARM_PASSES):
            ask_over_http2(server, paths) if row.http2 else fetch_all(server.host, paths, row.size)
        with paused(origin):
            ask_over_http2(server, paths) if row.http2 else fetch_all(server.host, paths, row.size)
    except (OSError, http.client.HTTPException, subprocess.TimeoutExpired) as failure:
        raise LoadFailed(f"not from its cache ({failure or type(failure).__name__})") from failure


def run(argv, seconds):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds)
    return done.stdout + done.stderr


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found[1]) if found else 0


def read_wrk(text):
    """Returns requests and their seconds."""
    failures = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", text)))
    if errors := re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text):
        failures += sum(map(int, errors.groups()))
    done = re.search(r"(\d+) requests in ([\d.]+)(m?s|m),", text)
    if failures or not done or done[1] == "0":
        raise LoadFailed(f"{failures} requests failed" if failures else "wrk had no answer")
    return int(done[1]), float(done[2]) * {"ms": 0.001, "s": 1, "m": 60}[done[3]]


def read_h2load(text):
    """Returns requests and their seconds."""
    good = number(r"status codes: (\d+) 2xx", text)
    failed = number(r"(\d+) failed", text)
    other = sum(number(rf"(\d+) {kind}xx", text) for kind in (3, 4, 5))
    rate = number(r"finished in [\d.]+m?s, ([\d.]+) req/s", text)
    if failed or other or not good or not rate:
        raise LoadFailed(f"{failed + other:.0f} requests failed" if failed + other else "h2load had no answer")
    return int(good), good / rate


def ask_over_http2(server, paths):
    urls = [f"https://{server.host}:{TLS_PORT}{path}" for path in paths]
    read_h2load(run(["h2load", "-n", str(len(urls)), "-c", "1", "-m", "1", *urls], 2 * PATIENCE_SECONDS))


def measure(server, row, serial, script, cores, seconds):
    """Puts load on the server. `script` is a file with SCRIPT. Returns requests and their seconds."""
    threads = str(min(len(cores.split(",")), MAX_THREADS))
    duration, urls = str(seconds), [f"https://{server.host}:{TLS_PORT}{path}" for path in paths_of(row)]
    if row.http2:
        argv = ["h2load", "-D", duration, "-c", str(CONNECTIONS), "-m", str(STREAMS), "-t", threads, *urls]
        return read_h2load(run(["taskset", "-c", cores, *argv], seconds + 60))
    closing = ["-H", "Connection: close"] if row.close else []
    prefix = f"/{row.size}/" if row.objects else f"/miss-{serial}-"
    argv = ["wrk", "-t", threads, "-c", str(CONNECTIONS), "-d", duration, "-s", script, *closing,
            f"http://{server.host}:{PORT}/", "--", prefix, str(row.objects)]
    return read_wrk(run(["taskset", "-c", cores, *argv], seconds + 60))
