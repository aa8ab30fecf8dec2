"""Cyrus of a judge's own: Debian's packages are fetched and unpacked, not installed, as they cannot be beside Dovecot's.

CYRUS_DIR names a directory in which they are unpacked already.
"""
import glob, imaplib, os, pathlib, pwd, re, shutil, subprocess, tempfile, time

PACKAGES = ["cyrus-common", "cyrus-caldav", "cyrus-imapd", "sasl2-bin", "libsasl2-modules-db"]
KEPT = pathlib.Path(__file__).resolve().parent.parent / ".cache" / "cyrus"


def missing():
    """The packages to fetch: Cyrus itself, and the libraries of it that this machine lacks."""
    said = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n"], capture_output=True, text=True, check=True).stdout
    there = {line.split()[1] for line in said.splitlines() if line.startswith("installed ")}
    found, asked = set(PACKAGES), PACKAGES
    while asked:
        said = subprocess.run(["apt-cache", "depends", "--important", *asked], capture_output=True, text=True, check=True).stdout
        asked = sorted(set(re.findall(r"^ *(?:Pre)?Depends: (lib\S+)$", said, re.M)) - there - found)
        found |= set(asked)
    return sorted(found)


def packages():
    """The fetched packages, all of them or none: what was fetched is kept for the next time."""
    if not KEPT.is_dir():
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        part = pathlib.Path(tempfile.mkdtemp(dir=KEPT.parent))
        try:
            subprocess.run(["apt-get", "download", "-q", *missing()], cwd=part, check=True, capture_output=True, timeout=120)
            part.rename(KEPT)
        except (OSError, subprocess.SubprocessError):
            shutil.rmtree(part, ignore_errors=True)
            return []
    return sorted(KEPT.glob("*.deb"))


def unpacked(into):
    """A directory with Cyrus, or None where it cannot be had."""
    if there := os.environ.get("CYRUS_DIR"):
        return pathlib.Path(there)
    if not shutil.which("apt-get") or not (all_of_it := packages()):
        return None
    for package in all_of_it:
        subprocess.run(["dpkg", "-x", package, into], check=True)
    return into


class Cyrus:
    """A directory, two ports and a user: what Cyrus is told of."""

    def __init__(self, work, tree, http, imap):
        self.there, self.bin, self.http, self.imap = work / "cyrus", tree / "usr/lib/cyrus/bin", http, imap
        libraries = glob.glob(f"{tree}/usr/lib/*-linux-*") + glob.glob(f"{tree}/lib/*-linux-*")
        self.env = {"LD_LIBRARY_PATH": ":".join(libraries), "SASL_PATH": ":".join(f"{at}/sasl2" for at in libraries + [at.removeprefix(str(tree)) for at in libraries])}
        # It refuses to be root.
        self.who = {"user": "nobody", "group": pwd.getpwnam("nobody").pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        for name in ("", "conf", "mail"):
            (self.there / name).mkdir()
            if self.who:
                shutil.chown(self.there / name, "nobody")
        (self.there / "imapd.conf").write_text(f"""configdirectory: {self.there}/conf
defaultpartition: default
partition-default: {self.there}/mail
cyrus_user: {self.who.get("user") or pwd.getpwuid(os.geteuid()).pw_name}
servername: localhost
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: {self.there}/conf/sasldb2
allowplaintext: yes
virtdomains: off
autocreate_quota: 0
httpmodules: caldav
""")
        services = [f'{name} cmd="{self.bin}/{program} -C {self.there}/imapd.conf" listen="127.0.0.1:{at}" prefork=0 maxchild=50\n'
                    for name, program, at in [("http", "httpd", http), ("imap", "imapd", imap)]]
        (self.there / "cyrus.conf").write_text("SERVICES {\n" + "".join(services) + "}\n")

    def begin(self, start, tree, user, password):
        """Starts it, with one user whose mailbox is there: no calendar is made for anybody without."""
        own = tree / "usr/sbin/saslpasswd2"
        subprocess.run([own if own.exists() else "saslpasswd2", "-p", "-c", "-f", self.there / "conf/sasldb2", "-u", "localhost", user],
                       input=password, text=True, check=True, env={**os.environ, **self.env}, **self.who)
        start([self.bin / "master", "-D", "-C", self.there / "imapd.conf", "-M", self.there / "cyrus.conf", "-p", self.there / "conf/pid"], "cyrus", self.env, **self.who)
        for _ in range(100):
            try:
                with imaplib.IMAP4("127.0.0.1", self.imap) as mailbox:
                    mailbox.login(user, password)
                return
            except (ConnectionRefusedError, imaplib.IMAP4.abort):
                time.sleep(0.1)
        raise OSError("Cyrus does not start")
