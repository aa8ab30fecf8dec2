package caldav

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// posts lists the kinds of POST by address and media type. A body without a media type is calendar data.
var posts = []struct {
	on    kind
	media []string
	take  func(*request) error
}{
	{atCalendar, []string{"", "text/calendar"}, serveAddObject},
	{atCalendar, []string{"application/xml", "text/xml"}, serveShare},
	{atHome, []string{"application/xml", "text/xml"}, serveInvitationReply},
	{atOutbox, []string{"", "text/calendar"}, serveFreeBusy},
}

// servePost dispatches a POST by its media type.
func servePost(x *request) error {
	sent := x.R.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(sent)
	if sent != "" && err != nil {
		media = sent
	}
	var taken []string
	for _, p := range posts {
		if p.on != x.at.kind() {
			continue
		}
		if slices.Contains(p.media, media) {
			return p.take(x)
		}
		taken = append(taken, p.media[len(p.media)-1])
	}
	return dav.Refuse(http.StatusUnsupportedMediaType, "this address accepts %s, not %q", strings.Join(taken, " or "),
		sent)
}

// serveAddObject answers RFC 5995: it adds an object to the calendar under a name that the server chooses. Clients POST
// to the calendar's own address.
func serveAddObject(x *request) error {
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	if err := x.caller.May(calendar.WriteObjects, cal); err != nil {
		return err
	}
	if err := unlessProposed(cal); err != nil {
		return err
	}
	data, err := x.meteredBody()
	if err != nil {
		return err
	}
	if uid := proposedIn(data); uid != "" {
		return acceptProposed(x, uid, data, cal, "")
	}
	saved, err := x.Service.Add(x.R.Context(), x.caller, cal, data)
	if err != nil {
		return err
	}
	at := x.at
	at.form, at.object = formObject, saved.Object.Name
	x.W.Header().Set("Location", x.href(at))
	return serveSaved(x, at, saved)
}
