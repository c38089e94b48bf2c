"""A network and a view of files of its own, and the machines in it.

The network has loopback alone, so nothing here reaches another machine, every address and port is free, and the real
names of public hosts can stand in configurations. Each machine has its own /etc/hosts and its own home.
"""
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys

ENTERED = "HEARSAY_RECIPES_SANDBOX"
SKIPPED = 77
CLIENT_SECONDS = 60


class Skip(Exception):
    """Something that the test needs is missing."""


class Failure(Exception):
    """A client or a node did what it should not."""


def enter():
    """Runs this script again in namespaces of its own, or returns if it is there already."""
    if os.environ.get(ENTERED):
        raise_loopback()
        return
    flags = "-mn" if os.geteuid() == 0 else "-rmn"
    if not shutil.which("unshare") or subprocess.run(["unshare", flags, "true"], capture_output=True).returncode:
        raise Skip("unshare, or the right to make namespaces")
    os.environ[ENTERED] = "1"
    os.execvp("unshare", ["unshare", flags, sys.executable, *sys.argv])


def raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP, IFF_RUNNING


def end_with_parent():
    """Runs in a child before its program: it is killed when this test ends, however it ends."""
    ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL


class Names:
    """A file of names and addresses that a process sees as /etc/hosts."""

    def __init__(self, path, addresses):
        self.path = path
        with open(path, "w") as file:
            file.write("127.0.0.1 localhost\n")
            file.writelines(f"{address} {name}\n" for name, address in addresses.items())

    def command(self, arguments):
        return ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', self.path, *arguments]


def tool_homes():
    """Where rustup and pyenv are, which look for themselves in HOME."""
    places = {"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv"}
    found = {name: os.environ.get(name, os.path.expanduser(f"~/{folder}")) for name, folder in places.items()}
    return {name: path for name, path in found.items() if os.path.isdir(path)}


class Machine:
    """A machine of a user: its own names, home and environment. `access` says how it comes to the origin's content."""

    def __init__(self, folder, name, access, authority):
        self.folder = os.path.join(folder, name)
        self.access = access
        self.authority = authority
        os.makedirs(os.path.join(self.folder, "home"))
        self.names = Names(os.path.join(self.folder, "hosts"), access.addresses)
        self.environment = {"HOME": self.path("home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TMPDIR": self.folder,
                            **tool_homes(), **access.environment}

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def url(self, url):
        """The URL by which this machine asks for what the origin has at `url`."""
        return self.access.url(url)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def read(self, *parts):
        with open(self.path(*parts), "rb") as file:
            return file.read()

    def run(self, *arguments, **environment):
        """Runs a client and returns what it wrote. Raises Failure with its last lines if it fails."""
        try:
            done = subprocess.run(self.names.command(arguments), cwd=self.folder, env={**self.environment, **environment},
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=CLIENT_SECONDS, preexec_fn=end_with_parent)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"{' '.join(arguments)}: not done after {CLIENT_SECONDS} s\n{tail(late.output or b'')}")
        if done.returncode:
            raise Failure(f"{' '.join(arguments)}: exit code {done.returncode}\n{tail(done.stdout)}")
        return done.stdout.decode(errors="replace")


def tail(output, lines=25):
    return "\n".join(output.decode(errors="replace").splitlines()[-lines:])
