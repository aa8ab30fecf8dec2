package web_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
)

// TestRefusedForms sends forms with bad input. Each comes back with its input, except secrets, and with the error at
// the field that has it.
func TestRefusedForms(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		_, err := h.auth.ChangeUser(h.Context(), "ann", auth.UserEdit{Admin: new(true)})
		h.must(err)
		h.user("bob")
		work := "calendars/" + string(h.made(ann, "Work").ID)
		b := h.as("ann")
		for _, c := range []struct {
			path string
			// wrong is the field with the error.
			wrong string
			// sent are names and values, kept the ones that come back.
			sent, kept []string
		}{
			{work + "/share", "with", []string{"with", "maxx", "access", "write"}, []string{"maxx", "write"}},
			{
				work, "timezone",
				[]string{
					"name", "Work & play", "timezone", "Europe/Nowhere", "hidden", "1",
					"color", "#aa0000", "description", "Two\nlines <b>", "order", "3",
				},
				[]string{"Work &amp; play", "Europe/Nowhere", "#aa0000", "Two\nlines &lt;b&gt;", "3"},
			},
			{"calendars", "name", []string{"name", " ", "kind", "tasks"}, []string{"tasks"}},
			{
				"settings", "timezone",
				[]string{
					"display-name", "Ann A", "timezone", "Nowhere", "day", "sun",
					"opens", "08:15", "closes", "17:30", "week-start", "sun",
				},
				[]string{"Ann A", "Nowhere", "08:15", "17:30", "sun"},
			},
			{"settings/addresses", "address", []string{"address", "nobody"}, nil},
			{
				"invite", "name",
				[]string{
					"name", "bob", "display-name", "Robert", "email", "rob@example.org",
					"admin", "on",
				},
				[]string{"bob", "Robert", "rob@example.org"},
			},
			{"groups", "name", []string{"name", "bob", "title", "The Bobs"}, []string{"bob", "The Bobs"}},
			{
				"people/bob", "objects",
				[]string{"do", "bounds", "calendars", "7", "objects", "many", "bytes", "5MB"},
				[]string{"7", "many", "5MB"},
			},
			{"delegates", "with", []string{"with", "maxx", "access", "write"}, []string{"maxx", "write"}},
			{
				work + "/links", "name",
				[]string{"name", "Choir", "access", "busy", "days", "no"},
				[]string{"Choir", "busy"},
			},
			{"security/password", "password", []string{"password", "geheim", "again", "other"}, nil},
			{"delete", "name", []string{"name", "an", "tell", "1"}, []string{"an"}},
		} {
			s := b.post(c.path, c.sent...)
			h.refilled(s, c.path, c.wrong, c.kept)
		}
		signIn := h.browser().post("sign-in", "name", "ann", "password", "wrong secret")
		h.refilled(signIn, "sign-in", "password", []string{"ann"})
		signIn.hides("wrong secret")
	})
}

var (
	invalid = regexp.MustCompile(`<(?:input|select|textarea)[^>]* aria-invalid="true"[^>]*>`)
	linked  = regexp.MustCompile(`<p class="wrong" role="alert" id="wrong"><a href="#([^"]+)">[^<]+</a></p>`)
)

// refilled wants a refused form.
func (h *house) refilled(s shown, path, wrong string, kept []string) {
	h.Helper()
	if s.status < http.StatusBadRequest || s.status >= http.StatusInternalServerError {
		h.Errorf("%s: answered %d\n%s", path, s.status, s.text())
		return
	}
	fields, link := invalid.FindAllString(s.body, -1), linked.FindStringSubmatch(s.body)
	if len(fields) != 1 || link == nil || !strings.Contains(fields[0], ` name="`+wrong+`"`) ||
		!strings.Contains(fields[0], ` id="`+link[1]+`"`) ||
		!strings.Contains(fields[0], ` aria-describedby="wrong`) || !strings.Contains(fields[0], " autofocus") ||
		strings.Count(s.body, " autofocus") != 1 {
		h.Errorf("%s: the fields %q have the error, linked by %q; want %s\n%s", path, fields, link, wrong, s.text())
		return
	}
	for _, value := range kept {
		found := strings.Contains(s.body, ` value="`+value+`"`) || strings.Contains(s.body, "\n"+value+"</textarea>") ||
			regexp.MustCompile(`<option[^>]* value="`+regexp.QuoteMeta(value)+`"[^>]* selected`).MatchString(s.body)
		if !found {
			h.Errorf("%s: %q did not come back\n%s", path, value, s.body)
		}
	}
}
