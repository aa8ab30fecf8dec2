"""Thunderbird without windows, driven through Marionette by scripts over its own calendar API."""
import json
import os
import socket
import subprocess
import time
from urllib.parse import urlsplit

PATIENCE = 60  # seconds until a change must have been seen

# The settings of a profile that nobody sits before.
SETTINGS = {
    "remote.prefs.recommended": False,  # they would have it keep no passwords
    "mail.provider.suppress_dialog_on_startup": True,
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "calendar.timezone.local": "Europe/Berlin",
    "calendar.timezone.useSystemTimezone": False,
}

# What each script begins with.
PRELUDE = """
const { cal } = ChromeUtils.importESModule("resource:///modules/calendar/calUtils.sys.mjs");
const { CalEvent } = ChromeUtils.importESModule("resource:///modules/CalEvent.sys.mjs");
const { CalTodo } = ChromeUtils.importESModule("resource:///modules/CalTodo.sys.mjs");
const [calendar, tasks] = ["personal", "tasks"].map(name => cal.manager.getCalendars().find(one => one.uri.spec.endsWith(`/${name}/`)));
"""


class Thunderbird:
    """A Thunderbird of one user."""

    def __init__(self, url, user, password, home):
        self.url, self.user, self.password, self.mail = url.rstrip("/"), user, password, f"{user}@example.com"
        profile = os.path.join(home, user)
        os.mkdir(profile)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open(os.path.join(profile, "user.js"), "w", encoding="utf-8") as settings:
            for name, value in {"marionette.port": port, **SETTINGS}.items():
                settings.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        with open(os.path.join(home, user + ".log"), "wb") as log:
            self.process = subprocess.Popen(
                ["thunderbird", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile],
                stdout=log, stderr=log, env=dict(os.environ, HOME=home))
        self.number = 0
        self.connect(port)
        self.ask("WebDriver:NewSession", capabilities={})
        self.ask("Marionette:SetContext", value="chrome")
        self.ask("WebDriver:SetTimeouts", script=PATIENCE * 1000)

    def connect(self, port):
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), timeout=2 * PATIENCE)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.2)
        self.stream = self.socket.makefile("rb")
        self.read()  # it says which protocol it speaks

    def read(self):
        size = b""
        while (digit := self.stream.read(1)) != b":":
            if not digit:
                raise EOFError("Thunderbird has ended")
            size += digit
        return json.loads(self.stream.read(int(size)))

    def ask(self, command, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(error.get("message", str(error)))
        return result

    def run(self, body, *arguments):
        """Runs a script that may wait, and returns what it returns."""
        script = PRELUDE + """
            const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);
            (async () => {""" + body + """})().then(value => done({ value }), error => done({ error: String(error) }));"""
        result = self.ask("WebDriver:ExecuteAsyncScript", script=script, args=list(arguments))["value"]
        if "error" in result:
            raise RuntimeError(result["error"])
        return result.get("value")

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def find(self, location=None):
        """What the dialogue for a new calendar finds: at a location without a password, else at the server with one."""
        user, password = ("", "") if location else (self.user, self.password)
        return {one["name"]: one for one in self.run("""
            const found = await cal.provider.detection.detect(...given, true, [], {});
            return [...found.values()].flat().map(one => ({ name: one.name, uri: one.uri.spec, color: one.getProperty("color"), readOnly: one.readOnly }));
        """, user, password, location or self.url + "/")}

    def subscribe(self):
        """Takes the calendars as the user does who has found them."""
        at = urlsplit(self.url)
        self.run("""
            const [user, password, origin] = given;
            await cal.auth.passwordManagerSave(user, password, origin, "Calendars");
            for (const name of ["personal", "tasks"]) {
              const one = cal.manager.createCalendar("caldav", Services.io.newURI(`${origin}/dav/calendars/${user}/${name}/`));
              one.name = name;
              one.setProperty("username", user);
              one.setProperty("cache.enabled", true);
              cal.manager.registerCalendar(one);
            }
        """, self.user, self.password, f"{at.scheme}://{at.netloc}")
