package web_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// link makes a public link.
func (h *house) link(u calendar.User, cal calendar.Calendar, access calendar.Access) (auth.Link, string) {
	h.Helper()
	l, secret, err := h.auth.CreateLink(h.Context(), callerOf(u), cal, auth.LinkSpec{Access: access})
	h.must(err)
	return l, string(secret)
}

// follow opens the page of a link in a browser without cookies.
func (h *house) follow(secret, query string, headers ...string) shown {
	r := httptest.NewRequestWithContext(h.Context(), http.MethodGet, "/dav/links/"+secret+"/x"+query, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.pages.ServeLink(w, r, secret)
	return shown{h.browser(), w.Code, w.Header(), "x" + query, w.Body.String()}
}

func TestPageOfALink(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		club := h.made(ann, "Club")
		h.put(callerOf(ann), club, object("VEVENT", "1", "Final <b>", "DTSTART;TZID=Europe/Berlin:20260504T203000",
			"DURATION:PT2H", "LOCATION:Stadium", "DESCRIPTION:Bring flags", "ATTENDEE:mailto:bob@example.com"))
		h.put(callerOf(ann), club, object("VEVENT", "2", "Doctor", "DTSTART:20260505T080000Z", "CLASS:PRIVATE"))
		h.put(callerOf(ann), club, object("VEVENT", "3", "Camp",
			"DTSTART;VALUE=DATE:20260508", "DTEND;VALUE=DATE:20260511"))
		h.put(callerOf(ann), club, object("VEVENT", "4", "Cancelled walk",
			"DTSTART:20260512T080000Z", "STATUS:CANCELLED"))
		link, secret := h.link(ann, club, calendar.ReadAccess)
		month := h.follow(secret, "").shows(http.StatusOK, "Club", "May 2026", "Final <b>", "20:30", "Camp", "Busy",
			"Subscribe in a calendar program").hides("Doctor", "bob@", string(club.ID), "<script")
		if got := month.header.Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors 'none'") {
			t.Error(got)
		}
		if got := month.header.Get("Referrer-Policy"); got != "no-referrer" {
			t.Error(got)
		}
		for _, want := range []string{
			`content="noindex`, `href="webcal://example.com/dav/links/` + secret + `/x.ics"`, `lang="en"`,
			`cid=webcal%3A%2F%2Fexample.com`,
		} {
			if !strings.Contains(month.body, want) {
				t.Errorf("no %s in\n%s", want, month.body)
			}
		}
		h.follow(secret, "?view=list&date=2026-05-04&zone=America/New_York").
			shows(http.StatusOK, "14:30", "Stadium", "Bring flags", "Cancelled walk", "(cancelled)").
			hides("Doctor", "bob@")
		h.follow(secret, "?date=2026-05-04", "Accept-Language", "de-AT,de;q=0.9").
			shows(http.StatusOK, "Mai 2026", "Beschäftigt", "Abonnieren")
		h.follow(secret, "", "User-Agent", "Mozilla/5.0 (iPhone) Mobile/15E148").shows(http.StatusOK, "Stadium")
		h.follow(secret, "?date=x").shows(http.StatusUnprocessableEntity, "is not a date")
		h.follow(secret, "?zone=Mars/Base").shows(http.StatusUnprocessableEntity, "no time zone")
		h.follow(secret, "?view=week").shows(http.StatusOK, "May 2026")

		tag := month.header.Get("ETag")
		if again := h.follow(secret, "", "If-None-Match", tag); again.status != 304 || again.body != "" {
			t.Errorf("the same page is sent again: %d", again.status)
		}
		h.follow(secret, "?view=list", "If-None-Match", tag).shows(http.StatusOK)
		h.put(callerOf(ann), club, object("VEVENT", "5", "Party", "DTSTART:20260520T080000Z"))
		h.follow(secret, "", "If-None-Match", tag).shows(http.StatusOK, "Party")

		h.must(h.auth.RevokeLink(t.Context(), link.ID))
		h.follow(secret, "").shows(http.StatusNotFound, "This link does not work").hides("Club")
		h.follow("wrong", "").shows(http.StatusNotFound, "This link does not work")
	})
}

// The page of a link to busy times shows times only, as its file does.
func TestPageOfABusyLink(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		secret := h.made(ann, "Therapy")
		h.must(patched(h, ann, secret))
		h.put(callerOf(ann), secret, object("VEVENT", "1", "Session", "DTSTART:20260504T083000Z", "DURATION:PT1H",
			"LOCATION:Clinic", "DESCRIPTION:Notes of it"))
		h.put(callerOf(ann), secret, object("VEVENT", "2", "Free", "DTSTART:20260506T083000Z", "TRANSP:TRANSPARENT"))
		link, by := h.link(ann, secret, calendar.FreeBusyAccess)
		for _, query := range []string{"", "?view=list&date=2026-05-01"} {
			h.follow(by, query).shows(http.StatusOK, "ann (busy)", "Busy", "08:30").
				hides("Therapy", "Session", "Clinic", "Notes of it", "#ABCDEF", "Apia",
					string(secret.ID), string(link.Calendar))
		}
		h.follow(by, "?view=list&date=2026-05-06").shows(http.StatusOK).hides("Free")
		// Two years ahead is outside the file.
		h.pass(time.Hour)
		h.put(callerOf(ann), secret, object("VEVENT", "3", "Far", "DTSTART:20280504T083000Z"))
		h.follow(by, "?view=list&date=2028-05-04").shows(http.StatusOK).hides("08:30")
	})
}

// patched gives a calendar a colour and a zone.
func patched(h *house, u calendar.User, cal calendar.Calendar) error {
	return h.calendars.PatchCalendar(h.Context(), callerOf(u), cal.ID,
		func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Color, p.Timezone = new("#ABCDEF"), "Pacific/Apia"
			return nil, nil
		})
}

// Only the page of a link whose owner allows it may be framed.
func TestLinkInAFrame(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		club := h.made(ann, `A "club"`)
		b := h.as("ann")
		links := "calendars/" + string(club.ID) + "/links"
		made := b.post(links, "access", "read", "days", "0", "embed", "1").
			shows(http.StatusOK, `<iframe src="`, `/x" title="A &#34;club&#34;"`)
		secret := regexp.MustCompile(`dav/links/([\w-]+)`).FindStringSubmatch(made.body)[1]
		b.get("calendars/"+string(club.ID)).shows(http.StatusOK, "may be shown in frames")
		page := h.follow(secret, "").shows(http.StatusOK)
		csp := page.header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "frame-ancestors *;") || !strings.Contains(csp, "script-src 'self'") ||
			page.header.Get("X-Frame-Options") != "" {
			t.Error(page.header)
		}
		_, other := h.link(ann, club, calendar.ReadAccess)
		page = h.follow(other, "").shows(http.StatusOK)
		if got := page.header.Get("X-Frame-Options"); got != "DENY" {
			t.Errorf("X-Frame-Options: %q", got)
		}

		elsewhere := string(h.made(ann, "other").ID)
		all, err := h.auth.Links(t.Context(), "ann")
		h.must(err)
		for _, l := range all {
			want := map[bool]string{true: "DENY", false: ""}[l.Embed]
			fields := []string{"embed", "1"}
			if l.Embed {
				fields = nil
			}
			change := links + "/" + string(l.ID) + "/embed"
			b.post(change, fields...).shows(http.StatusOK, "Saved")
			of := map[bool]string{true: secret, false: other}[l.Embed]
			if got := h.follow(of, "").shows(http.StatusOK).header.Get("X-Frame-Options"); got != want {
				t.Errorf("X-Frame-Options after the change: %q, want %q", got, want)
			}
			h.user("bob" + string(l.ID))
			h.as("bob"+string(l.ID)).post(change, "embed", "1").shows(http.StatusNotFound)
			b.post("calendars/" + elsewhere + "/links/" + string(l.ID) + "/embed").shows(http.StatusNotFound)
		}
	})
}
