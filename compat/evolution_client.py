"""Evolution's data server, driven by its own client library."""
import os
import subprocess
import tempfile
from urllib.parse import urlsplit

import gi

gi.require_version("ECal", "2.0")
gi.require_version("EDataServer", "1.2")
gi.require_version("ICalGLib", "3.0")
from gi.repository import ECal, EDataServer, GLib, ICalGLib  # noqa: E402 F401: judges import them from here


def apart(program, arguments, seconds):
    """Runs a Python program with its own session bus, keyring and home."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        inside = dict(os.environ, COMPAT_APART="yes", HOME=home)
        for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
            inside[name] = os.path.join(home, name.lower())
            os.mkdir(inside[name], 0o700)
        unlock = 'eval "$(printf x | gnome-keyring-daemon --unlock --components=secrets 2>/dev/null)"; exec "$@"'
        return subprocess.run(["dbus-run-session", "--", "bash", "-c", unlock, "_", "/usr/bin/python3", os.path.abspath(program), *arguments],
                              env=inside, timeout=seconds).returncode


class Evolution:
    """An account in Evolution's data server, and a client of its calendar."""

    def __init__(self, registry, url, user, password):
        self.mail = f"{user}@example.com"
        at = urlsplit(url)
        source = EDataServer.Source.new(None, None)
        source.set_parent("caldav-stub")
        source.set_display_name(user)
        source.get_extension("Calendar").set_backend_name("caldav")
        login = source.get_extension("Authentication")
        login.set_host(at.hostname)
        login.set_port(at.port)
        login.set_user(user)
        login.set_method("plain/password")
        dav = source.get_extension("WebDAV Backend")
        dav.set_resource_path(f"/dav/calendars/{user}/personal/")
        dav.set_calendar_auto_schedule(True)
        dav.set_email_address(self.mail)
        source.get_extension("Security").set_method("none")
        registry.commit_source_sync(source, None)
        source = registry.ref_source(source.get_uid())
        source.store_password_sync(password, True, None)
        self.client = ECal.Client.connect_sync(source, ECal.ClientSourceType.EVENTS, 10, None)
