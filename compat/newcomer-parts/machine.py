"""A machine of its own: Debian 12 with systemd as its first process, in namespaces, with no network but its own loopback."""
import ctypes
import glob
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

# What a server's owner has beside Debian's least: neither sudo nor a compiler, but curl, and Postgres for who wants it.
PACKAGES = "systemd,systemd-sysv,dbus,curl,ca-certificates,procps,postgresql"
CLONE_NEWNET = 0x40000000


class Failed(Exception):
    """Words did not do what the page says."""


def image(path):
    """Downloads Debian, once."""
    if os.path.exists(path):
        return
    new = path + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(new + ".log", "w") as log:
        subprocess.run(["debootstrap", "--variant=minbase", "--include=" + PACKAGES, "bookworm", new],
                       check=True, stdout=log, stderr=log)
    os.rename(new, path)


class Machine:
    def __init__(self, base, work):
        self.root, self.work, self.aliases = os.path.join(work, "machine"), work, ""
        subprocess.run(["cp", "-a", "--reflink=auto", base, self.root], check=True)
        self.write("/etc/hosts", "127.0.0.1 localhost calendar.example.org\n")
        self.log = open(os.path.join(work, "machine.log"), "wb")
        self.nspawn = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--directory", self.root, "--machine", "calendar", "--register=no", "--keep-unit",
             "--private-network", "--link-journal=no", "--resolv-conf=off", "--timezone=off", "--console=pipe", "--boot"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            self.first = self._first()
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _wait(self):
        for _ in range(300):
            if self.run("systemctl is-system-running", check=False).strip() in ("running", "degraded"):
                return
            time.sleep(0.2)
        raise Failed("the machine does not come up: " + os.path.join(self.work, "machine.log"))

    def _first(self):
        """Finds the machine's first process: the child of nspawn that has become systemd."""
        for _ in range(150):
            for path in glob.glob(f"/proc/{self.nspawn.pid}/task/*/children"):
                for child in open(path).read().split():
                    if os.path.exists(f"/proc/{child}/root/run/systemd/private"):
                        return int(child)
            if self.nspawn.poll() is not None:
                break
            time.sleep(0.2)
        raise Failed("systemd-nspawn started nothing: " + os.path.join(self.work, "machine.log"))

    def stop(self):
        self.nspawn.send_signal(signal.SIGTERM)  # it has systemd power off
        try:
            self.nspawn.wait(30)
        except subprocess.TimeoutExpired:
            self.nspawn.send_signal(signal.SIGKILL)
            self.nspawn.wait()

    def join_network(self):
        """Has this thread, and all that it starts from now on, be on the machine's loopback."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/proc/{self.first}/ns/net") as net:
            if libc.setns(net.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")

    def path(self, inside):
        return self.root + inside

    def seen(self, inside):
        """A path as the machine's own processes have it, with what is mounted there."""
        return f"/proc/{self.first}/root{inside}"

    def read(self, inside):
        with open(self.path(inside), encoding="utf-8") as f:
            return f.read()

    def write(self, inside, text, mode=0o644):
        with open(self.path(inside), "w", encoding="utf-8", newline="") as f:
            f.write(text)
        os.chmod(self.path(inside), mode)

    def command(self, text, directory):
        """A shell of root's that reads the words. It stops at the first that fails."""
        script = f"shopt -s expand_aliases\nset -e\ncd {directory}\n{self.aliases}\n{text}\n"
        self.write("/root/.words", script)
        return ["nsenter", f"--target={self.first}", "--all", "--root", "--wd", "env", "-i", "HOME=/root", "LANG=C.UTF-8", "TERM=dumb",
                "DEBIAN_FRONTEND=noninteractive", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "SYSTEMD_EDITOR=/root/.editor", "bash", "/root/.words"]

    def run(self, text, check=True, stdin=None, directory="/root", timeout=900):
        """Runs words without a terminal, and returns what they print."""
        try:
            done = subprocess.run(self.command(text, directory), input=stdin, text=True, timeout=timeout,
                                  stdin=None if stdin is not None else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{text.strip()}\nhas not ended after {timeout} s: {(late.stdout or b'').decode().strip()}\n{self.processes()}") from None
        if check and done.returncode:
            raise Failed(f"{text.strip()}\nended with {done.returncode}: {done.stdout.strip()}")
        return done.stdout

    def processes(self):
        """Tells what runs in the machine, and what it waits for."""
        return subprocess.run(["nsenter", f"--target={self.first}", "--all", "--root", "ps", "axo", "pid,ppid,stat,wchan:24,etime,args"],
                              text=True, timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def type(self, text, secret, timeout=120):
        """Runs words at a terminal, types the secret whenever something asks for it, and says yes to apt."""
        outer, inner = pty.openpty()
        process = subprocess.Popen(self.command(text, "/root"), stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
                                   preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)))
        os.close(inner)
        said, seen, end = b"", 0, time.monotonic() + timeout
        while time.monotonic() < end:
            if select.select([outer], [], [], 0.2)[0]:
                try:
                    said += os.read(outer, 65536)
                except OSError:  # the last one on the other side has hung up
                    break
            asked = re.search(rb"(password|again): $|(\[Y/n\]) $", said[seen:])
            if asked:
                seen = len(said)
                time.sleep(0.3)  # nobody types sooner, and it is to be seen whether the terminal shows it
                os.write(outer, (b"y" if asked.group(2) else secret.encode()) + b"\n")
        os.close(outer)
        if process.wait(30):
            raise Failed(f"{text.strip()}\nended with {process.returncode}: {said.decode().strip()}")
        return said.decode().replace("\r\n", "\n")
