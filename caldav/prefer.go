package caldav

import (
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// preference is a supported preference of RFC 7240 or RFC 8144, as Preference-Applied writes it.
type preference string

const (
	minimal        preference = "return=minimal"
	representation preference = "return=representation"
	noRoot         preference = "depth-noroot"
)

// formerly maps the preferences of RFC 7240's drafts, which some clients still send.
var formerly = map[string]preference{
	"return-minimal": minimal, "return-representation": representation,
}

// prefers reports whether the client has this preference, and if so sets Preference-Applied. Of conflicting
// preferences the first one counts (RFC 7240 §2).
func (x *exchange) prefers(p preference) bool {
	// Microsoft's clients sent this before the standard existed.
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

// readPreference normalizes a preference for comparison. It drops the parameters after a semicolon: none is known.
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

// grant adds a preference to Preference-Applied, once.
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

// saved answers a write of an object. It sends the tag only if GET would return exactly the bytes that the client
// sent (RFC 4791 §5.3.4); without a tag, the client fetches the object. It sends the object if the client prefers
// that.
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

// unlessStale returns err. But if the client's copy was out of date and it prefers a representation, it answers with
// the current object (RFC 8144 §3).
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

// represent answers a request other than GET with an object.
func (x *exchange) represent(status int, at place, o calendar.Object) error {
	h := x.w.Header()
	h.Set("ETag", string(o.ETag))
	h.Set("Last-Modified", o.Modified.UTC().Format(http.TimeFormat))
	// RFC 9110 §8.7: the body represents the object, not the result of the request.
	h.Set("Content-Location", x.href(at))
	x.reply(status, mediaTypeOf(o), o.Data)
	return nil
}
