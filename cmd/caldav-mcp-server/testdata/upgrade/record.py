#!/usr/bin/env python3
"""Records a database of an older version, and what its server answers, for TestUpgrade.

    record.py SERVER VERSION            needs a Postgres in TEST_DATABASE_URL, and pg_dump

SERVER is the program of that version. The same content is written on both engines, through its own doors. The results
are VERSION.sqlite.gz, VERSION.postgres.gz and VERSION.json: the answers of the server on SQLite.
"""
import base64, gzip, json, os, re, subprocess, sys, tempfile, time, urllib.request

SERVER, VERSION = sys.argv[1:]
SCHEMA = "upgrade_" + VERSION.replace(".", "_")
PASSWORD = "a password of the old version"


class House:
    def __init__(self, database):
        self.env = {"PATH": os.environ["PATH"], "DATABASE_URL": database, "CALDAV_PORT": "0", "MCP_PORT": "0"}
        with tempfile.TemporaryFile("w+") as log:
            self.process = subprocess.Popen([SERVER, "serve", "--no-first-user"], env=self.env, stderr=log)
            text = ""
            while "msg=ready" not in text:
                time.sleep(0.1)
                log.seek(0)
                text = log.read()
        self.doors = re.findall(r"addr=127\.0\.0\.1:(\d+)", text)

    def command(self, *arguments, text=""):
        done = subprocess.run([SERVER, *arguments], env=self.env, input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{arguments}: {done.stderr}")
        return done.stdout

    def ask(self, user, method, path, body="", content="text/calendar"):
        headers = {"Content-Type": content, "Authorization": "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()}
        request = urllib.request.Request(f"http://127.0.0.1:{self.doors[0]}{path}", body.encode() or None, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode(), answer.headers

    def use(self, token, tool, arguments):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "MCP-Protocol-Version": "2025-06-18", "Authorization": "Bearer " + token}
        request = urllib.request.Request(f"http://127.0.0.1:{self.doors[1]}/mcp", json.dumps(call).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
        if '"isError":true' in text or '"error"' in text:
            sys.exit(f"{tool}: {text}")

    def stop(self):
        self.process.terminate()
        self.process.wait()


def wrapped(*lines):
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//upgrade//EN", *lines, "END:VCALENDAR", ""])


def event(uid, *lines):
    return wrapped("BEGIN:VEVENT", f"UID:{uid}", "DTSTAMP:20260101T000000Z", *lines, "END:VEVENT")


ZONE = ["BEGIN:VTIMEZONE", "TZID:Somewhere", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:+0530",
        "TZOFFSETTO:+0530", "TZNAME:SOME", "END:STANDARD", "END:VTIMEZONE"]
OBJECTS = {
    "alice/personal/once.ics": event("once", "SUMMARY:Once 🎉 ünïcode", "DTSTART:20260303T100000Z", "DURATION:PT1H",
                                     "DESCRIPTION:Notes\\nwith lines", "X-OF-A-PROGRAM;P=1:kept"),
    "alice/personal/days.ics": event("days", "SUMMARY:Holiday", "DTSTART;VALUE=DATE:20260701", "DTEND;VALUE=DATE:20260715"),
    "alice/personal/weekly.ics": wrapped(
        *ZONE, "BEGIN:VEVENT", "UID:weekly", "DTSTAMP:20260101T000000Z", "DTSTART;TZID=Somewhere:20260105T090000",
        "DURATION:PT30M", "RRULE:FREQ=WEEKLY;BYDAY=MO,TH", "EXDATE;TZID=Somewhere:20260108T090000", "SUMMARY:Weekly",
        "BEGIN:VALARM", "ACTION:DISPLAY", "TRIGGER:-PT10M", "DESCRIPTION:Soon", "END:VALARM", "END:VEVENT",
        "BEGIN:VEVENT", "UID:weekly", "DTSTAMP:20260101T000000Z", "RECURRENCE-ID;TZID=Somewhere:20260112T090000",
        "DTSTART;TZID=Somewhere:20260113T110000", "DURATION:PT30M", "SUMMARY:Weekly\\, moved", "END:VEVENT"),
    "alice/personal/meeting.ics": event(
        "meeting", "SUMMARY:Meeting", "DTSTART:20260310T140000Z", "DTEND:20260310T150000Z", "SEQUENCE:0",
        "ORGANIZER:mailto:alice@example.com", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:alice@example.com",
        "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:bob@example.com"),
    "alice/tasks/task.ics": wrapped("BEGIN:VTODO", "UID:task", "DTSTAMP:20260101T000000Z", "SUMMARY:Task",
                                    "DUE;VALUE=DATE:20260401", "STATUS:NEEDS-ACTION", "PRIORITY:1", "END:VTODO"),
    "bob/personal/own.ics": event("own", "SUMMARY:Bob's own", "DTSTART:20260304T100000Z", "DURATION:PT2H"),
}
SYNC = ('<D:sync-collection xmlns:D="DAV:"><D:sync-token>%s</D:sync-token><D:sync-level>1</D:sync-level>'
        "<D:prop><D:getetag/></D:prop></D:sync-collection>")


def furnish(h):
    for user in ["alice", "bob", "carol"]:
        h.command("create-user", user, "--email", f"{user}@example.com", "--timezone", "Europe/Berlin", "--password-stdin",
                  text=PASSWORD + "\n")
    for path, text in OBJECTS.items():
        h.ask(path.split("/")[0], "PUT", "/dav/calendars/" + path, text)
    h.ask("alice", "MKCALENDAR", "/dav/calendars/alice/work/",
          '<C:mkcalendar xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:set><D:prop><D:displayname>Work'
          "</D:displayname></D:prop></D:set></C:mkcalendar>")
    h.ask("alice", "PROPPATCH", "/dav/calendars/alice/work/",
          '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x:mark xmlns:x="urn:upgrade">kept</x:mark></D:prop></D:set>'
          "</D:propertyupdate>")
    h.ask("alice", "PUT", "/dav/calendars/alice/work/plan.ics",
          event("plan", "SUMMARY:Plan", "DTSTART:20260305T080000Z", "DURATION:PT1H"))
    h.ask("alice", "PUT", "/dav/calendars/alice/work/gone.ics",
          event("gone", "SUMMARY:Gone", "DTSTART:20260306T080000Z", "DURATION:PT1H"))
    h.ask("alice", "DELETE", "/dav/calendars/alice/work/gone.ics")
    h.command("share", "--user", "alice", "--calendar", "Work", "--with", "bob", "--permission", "read-write")
    token = json.loads(h.command("create-token", "--user", "alice", "--name", "Old assistant", "--json"))
    link = json.loads(h.command("create-link", "--user", "alice", "--calendar", "Work", "--json"))
    h.use(token["token"], "create_event", {"calendar_id": calendar_of(h, "Work"), "title": "Made by an assistant",
                                           "start": "2026-03-07T10:00:00Z", "end": "2026-03-07T11:00:00Z"})
    return {"token": token["token"], "link": link["url"]}


def calendar_of(h, name):
    listed = json.loads(h.command("list-calendars", "--user", "alice", "--json"))
    return next(one["id"] for one in listed if one["name"] == name)


def answers(h):
    """What a client of the old server has seen: each object with its ETag, and the sync tokens."""
    seen, tokens = {}, {}
    for user, calendar in [("alice", "personal"), ("alice", "tasks"), ("alice", "work"), ("bob", "personal")]:
        home = f"/dav/calendars/{user}/{calendar}/"
        text, _ = h.ask(user, "REPORT", home, SYNC % "", "application/xml")
        tokens[home] = re.search(r"<[^>]*sync-token>([^<]+)<", text)[1]
        for href in re.findall(r"<[^>]*href>([^<]+\.ics)<", text):
            body, headers = h.ask(user, "GET", href)
            seen[href] = {"user": user, "etag": headers["ETag"], "body": body}
    return {"objects": seen, "tokens": tokens}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    server = os.environ["TEST_DATABASE_URL"]
    with tempfile.TemporaryDirectory() as scratch:
        file = scratch + "/old.db"
        h = House("sqlite:" + file)
        secrets = furnish(h)
        time.sleep(3)  # the invitation is delivered
        known = answers(h)
        h.stop()
        with gzip.open(f"{here}/{VERSION}.sqlite.gz", "wb") as out, open(file, "rb") as data:
            out.write(data.read())
        subprocess.run(["psql", server, "-qc", f"CREATE SCHEMA {SCHEMA}"], check=True)
        h = House(server + ("&" if "?" in server else "?") + "search_path=" + SCHEMA)
        secrets_pg = furnish(h)
        time.sleep(3)
        known_pg = answers(h)
        h.stop()
        dump = subprocess.run(["pg_dump", server, "-n", SCHEMA, "--inserts", "--no-owner", "--no-privileges",
                               "--no-comments"], check=True, capture_output=True, text=True).stdout
        with gzip.open(f"{here}/{VERSION}.postgres.gz", "wb") as out:
            out.write(dump.encode())
    with open(f"{here}/{VERSION}.json", "w") as out:
        json.dump({"password": PASSWORD, "schema": SCHEMA, "sqlite": {**secrets, **known},
                   "postgres": {**secrets_pg, **known_pg}}, out, indent=1, sort_keys=True, ensure_ascii=False)
        out.write("\n")


main()
