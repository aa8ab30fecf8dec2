"""What people's apps do meanwhile: they synchronize, they write, and they look whether the server answers."""
import base64
import http.client
import re
import socket
import ssl
import threading
import time

HOST = "calendar.example.org"
SYNC = ('<sync-collection xmlns="DAV:"><sync-token>%s</sync-token><sync-level>1</sync-level>'
        "<prop><getetag/></prop></sync-collection>")


class Secure(http.client.HTTPSConnection):
    """Finds the server on the machine's loopback, and knows it by its name."""

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.port), self.timeout)
        self.sock = self._context.wrap_socket(plain, server_hostname=HOST)


class App:
    """One user's program. Without an authority it speaks plain HTTP."""

    def __init__(self, user, password, port=5232, authority=None):
        self.login, self.port = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode(), port
        self.home, self.tls = f"/dav/calendars/{user}/", None
        if authority:
            self.tls = ssl.create_default_context(cadata=authority)

    def ask(self, method, path, body=None, timeout=300, **headers):
        if self.tls:
            c = Secure(HOST, self.port, timeout=timeout, context=self.tls)
        else:
            c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if not path.startswith(("/healthz", "/readyz")):
            headers.setdefault("Authorization", self.login)
        try:
            c.request(method, path, body.encode() if isinstance(body, str) else body, headers)
            answer = c.getresponse()
            return answer.status, answer.read(), answer.headers
        finally:
            c.close()

    def calendar(self, name):
        """The address of the calendar that has this name."""
        asked = '<propfind xmlns="DAV:"><prop><displayname/></prop></propfind>'
        status, body, _ = self.ask("PROPFIND", self.home, asked, Depth="1", Content_Type="application/xml")
        for one in re.findall(r"<(?:\w+:)?response\b.*?</(?:\w+:)?response>", body.decode(), re.S):
            if re.search(rf">{name}<", one):
                return re.search(r"href>([^<]+)<", one).group(1)
        raise AssertionError(f"no calendar {name}: {status} {body[:500]!r}")

    def sync(self, calendar, token=""):
        """Fetches what changed since a token. Returns the addresses that are there with their tags, those that are gone, and the next token."""
        there, gone = {}, set()
        while True:
            status, body, _ = self.ask("REPORT", calendar, SYNC % token, Content_Type="application/xml", Depth="0")
            if status != 207:
                return status, body, None
            text, more = body.decode(), False
            for one in re.findall(r"<(?:\w+:)?response\b.*?</(?:\w+:)?response>", text, re.S):
                path = re.search(r"href>([^<]+)<", one).group(1)
                tag = re.search(r"getetag[^>]*>([^<]+)<", one)
                if tag:
                    there[path] = tag.group(1)
                elif path == calendar:
                    more = True
                else:
                    gone.add(path)
            token = re.search(r"sync-token>([^<]+)<", text).group(1)
            if not more:
                return there, gone, token


def event(uid, summary, number=0):
    day = f"2026{1 + number % 12:02}{1 + number % 28:02}"
    rule = f"RRULE:FREQ=WEEKLY;COUNT={2 + number % 50}\r\n" if number % 10 == 0 else ""
    alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Ping\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\n" if number % 7 == 0 else ""
    return (f"BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:{day}T{number % 24:02}0000Z\r\nDURATION:PT45M\r\n"
            f"SUMMARY:{summary}\r\nLOCATION:Zürich\\, Raum {number % 40}\r\nDESCRIPTION:{'In words: ' + 'tomorrow and ' * (number % 9)}\r\n"
            f"X-NOTE-{number % 5}:kept as it is\r\n{rule}{alarm}END:VEVENT\r\n")


def calendar(*events):
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//newcomer//EN\r\n" + "".join(events) + "END:VCALENDAR\r\n"


class Writer(threading.Thread):
    """An app that writes without a pause, and remembers what was acknowledged."""

    def __init__(self, app, calendar_path):
        super().__init__(daemon=True)
        self.app, self.where, self.kept, self.refused, self.longest, self.going = app, calendar_path, {}, {}, 0.0, True

    def run(self):
        number, last = 0, time.monotonic()
        while self.going:
            path, body = f"{self.where}during-{number}.ics", calendar(event(f"during-{number}", "During", number))
            try:
                status, _, _ = self.app.ask("PUT", path, body, timeout=30, Content_Type="text/calendar")
            except OSError:
                status = "no answer"
            except http.client.HTTPException:
                status = "cut off"
            if status in (201, 204):
                self.kept[path], self.longest, last = body, max(self.longest, time.monotonic() - last), time.monotonic()
                number += 1
            else:
                self.refused[status] = self.refused.get(status, 0) + 1
            time.sleep(0.02)

    def end(self):
        self.going = False
        self.join()


class Watch(threading.Thread):
    """Asks for /healthz and /readyz over and over, as something that distributes requests does."""

    def __init__(self, app):
        super().__init__(daemon=True)
        self.app, self.going, self.silent, self.waiting, self.said, self.mute = app, True, 0.0, 0.0, [], False

    def run(self):
        answered = ready = time.monotonic()
        while self.going:
            try:
                health, _, _ = self.app.ask("GET", "/healthz", timeout=5)
                status, text, _ = self.app.ask("GET", "/readyz", timeout=5)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
                continue
            now = time.monotonic()
            self.mute |= health != 200
            self.silent, answered = max(self.silent, now - answered), now
            if status == 200:
                self.waiting, ready = max(self.waiting, now - ready), now
            else:
                words = re.sub(r"\d+", "N", text.decode().strip())
                if words not in self.said:
                    self.said.append(words)
            time.sleep(0.01)

    def end(self):
        self.going = False
        self.join()
