"""A program on some cores in the foreground: its start, its CPU time and its end. Linux."""
import os
import pathlib
import signal
import socket
import subprocess
import time

READY_SECONDS, END_SECONDS = 30, 20


class ServerFailed(Exception):
    """A server ended, or did not listen in time. The text ends with its last words."""


def stat(pid):
    """The fields of /proc/PID/stat from the state on; none if the process is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def family(pid):
    """The process and its descendants."""
    children = {}
    for each in map(int, filter(str.isdigit, os.listdir("/proc"))):
        if fields := stat(each):
            children.setdefault(int(fields[1]), []).append(each)
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def listens(address):
    try:
        socket.create_connection(address, timeout=1).close()
        return True
    except OSError:
        return False


class Process:
    """A program that listens at `address`, with its output in FOLDER/output. `user`: whom root becomes for it."""

    def __init__(self, argv, address, cores, folder, user=None):
        self.name = os.path.basename(argv[0])
        if listens(address):  # or the figures would be those of another program
            raise ServerFailed("%s:%d is taken, so --net needs another value" % address)
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"  # where Debian puts servers
        identity = {"user": user, "group": "nogroup", "extra_groups": []} if user else {}
        with open(folder / "output", "wb") as output:
            self.process = subprocess.Popen(["taskset", "-c", cores, *argv], cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=output, start_new_session=True, env={**os.environ, "PATH": path}, **identity)
        try:
            self.wait_until_listening(address, folder / "output")
        except BaseException:
            self.stop()
            raise

    def wait_until_listening(self, address, output):
        end = time.monotonic() + READY_SECONDS
        while not listens(address):
            if time.monotonic() > end or self.process.poll() is not None:
                raise ServerFailed(f"{self.name} does not listen on %s:%d\n" % address + output.read_text(errors="replace")[-1000:])
            time.sleep(0.05)

    def cpu_seconds(self):
        """User and system time of the process, its descendants and those of them that ended."""
        ticks = sum(sum(map(int, fields[11:15])) for pid in family(self.process.pid) if (fields := stat(pid)))
        return ticks / os.sysconf("SC_CLK_TCK")

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Asks it to end, waits for END_SECONDS, and kills what is left of its family."""
        handles = []
        for pid in family(self.process.pid):
            try:
                handles.append(os.pidfd_open(pid))
            except ProcessLookupError:
                pass
        self.process.terminate()
        self.resume()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        for handle in handles:
            try:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.close(handle)
        self.process.wait()
