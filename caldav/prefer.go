package caldav

import (
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// preference is one of those of RFC 7240 and RFC 8144 that are honoured here, as
// Preference-Applied has it.
type preference string

const (
	minimal        preference = "return=minimal"
	representation preference = "return=representation"
	noRoot         preference = "depth-noroot"
)

// formerly is how drafts of RFC 7240 wrote preferences, which clients in use still do.
var formerly = map[string]preference{
	"return-minimal": minimal, "return-representation": representation,
}

// prefers tells whether the client prefers something, and says in the answer that it is
// granted. Of preferences that exclude each other the first one counts (RFC 7240 §2).
func (x *exchange) prefers(p preference) bool {
	// What Microsoft's clients sent before there was a standard.
	if p == minimal && strings.EqualFold(strings.TrimSpace(x.r.Header.Get("Brief")), "t") {
		return true
	}
	name, _, _ := strings.Cut(string(p), "=")
	for _, line := range x.r.Header.Values("Prefer") {
		for word := range strings.SplitSeq(line, ",") {
			asked := readPreference(word)
			if head, _, _ := strings.Cut(string(asked), "="); head != name {
				continue
			}
			if asked == p {
				x.grant(p)
			}
			return asked == p
		}
	}
	return false
}

// readPreference brings a preference into the form in which it is compared; parameters
// behind a semicolon are none that we know.
func readPreference(word string) preference {
	word, _, _ = strings.Cut(word, ";")
	name, value, valued := strings.Cut(word, "=")
	p := strings.ToLower(strings.TrimSpace(name))
	if valued {
		p += "=" + strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
	}
	if now, ok := formerly[p]; ok {
		return now
	}
	return preference(p)
}

// grant says in the answer that a preference is honoured, once.
func (x *exchange) grant(p preference) {
	h := x.w.Header()
	if slices.Contains(h.Values("Preference-Applied"), string(p)) {
		return
	}
	h.Add("Preference-Applied", string(p))
	if !slices.Contains(h.Values("Vary"), "Prefer") {
		h.Add("Vary", "Prefer")
	}
}

// saved answers a write of an object: with its tag, which may be told since what GET
// returns are these very bytes (RFC 4791 §5.3.4), and with the object if that is preferred. Where they are others,
// a client that is told no tag fetches them.
func (x *exchange) saved(at place, s calendar.Saved) error {
	if s.Object.ScheduleTag != "" {
		x.w.Header().Set("Schedule-Tag", string(s.Object.ScheduleTag))
	}
	if !s.Cleaned && !s.Scheduled {
		x.w.Header().Set("ETag", string(s.Object.ETag))
	}
	if x.prefers(representation) {
		status := http.StatusOK
		if s.Created {
			status = http.StatusCreated
		}
		return x.represent(status, at, s.Object)
	}
	x.prefers(minimal)
	return x.done(s.Created)
}

// unlessStale passes an error on. But to a client whose picture of the object was wrong the
// right one is given along, if it prefers that (RFC 8144 §3).
func (x *exchange) unlessStale(err error, cal calendar.Calendar) error {
	if err == nil || calendar.ReasonOf(err) != calendar.Stale || !x.prefers(representation) {
		return err
	}
	o, lost := x.Service.Object(x.r.Context(), x.meter, x.caller, cal, x.at.object)
	if lost != nil {
		x.w.Header().Del("Preference-Applied")
		return err
	}
	return x.represent(http.StatusPreconditionFailed, x.at, o)
}

// represent answers with an object that the client did not GET.
func (x *exchange) represent(status int, at place, o calendar.Object) error {
	h := x.w.Header()
	h.Set("ETag", string(o.ETag))
	h.Set("Last-Modified", o.Modified.UTC().Format(http.TimeFormat))
	// RFC 9110 §8.7: so that it is not taken for a representation of the answer.
	h.Set("Content-Location", x.href(at))
	x.reply(status, mediaTypeOf(o), o.Data)
	return nil
}
