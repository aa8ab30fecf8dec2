package caldav

import (
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// linkProperties are the properties of a public link. Like the text of the link, they reveal its name and color, and
// they say that the link is read-only: Thunderbird asks for these before it subscribes. Strangers see no other
// property.
func linkProperties() []property {
	return []property{
		row(dav.Name("resourcetype"), everything, allprop, nothing),
		row(dav.Name("displayname"), everything, allprop, writeFeedName),
		row(dav.Name("getetag"), everything, allprop, writeFeedTag),
		row(dav.Name("getcontenttype"), everything, allprop, writeFeedType),
		row(dav.Name("getlastmodified"), everything, allprop, writeFeedModified),
		row(dav.Name("current-user-privilege-set"), everything, 0, writeFeedPrivileges),
		row(apple("calendar-color"), everything, 0, writeFeedColor),
	}
}

func writeFeedName(r *resource, m *dav.Markup) error { return m.Text(r.feed.Name).OK() }

func writeFeedTag(r *resource, m *dav.Markup) error { return m.Text("W/" + string(r.feed.Tag)).OK() }

// writeFeedType writes no charset: Thunderbird compares the whole value to recognize a calendar.
func writeFeedType(r *resource, m *dav.Markup) error { return m.Raw("text/calendar").OK() }

func writeFeedModified(r *resource, m *dav.Markup) error {
	return m.Date(r.feed.Modified, http.TimeFormat)
}

func writeFeedPrivileges(r *resource, m *dav.Markup) error {
	privilegeElement(m, "d:read")
	return nil
}

func writeFeedColor(r *resource, m *dav.Markup) error { return m.Optional(r.feed.Color) }

// describeFeed answers PROPFIND of a public link. It has no members, so every Depth means 0.
func describeFeed(x *request, id calendar.CalendarID, at linkAddress) error {
	if _, err := x.Depth(); err != nil {
		return err
	}
	p, err := x.asked()
	if err != nil {
		return err
	}
	// The body may arrive slowly, and the link may have been revoked in the meantime.
	if err := x.good(x.R.Context()); err != nil {
		return err
	}
	feed, err := x.Service.Feed(x.R.Context(), x.Meter, x.caller, id, at.form)
	if err != nil {
		return err
	}
	m := x.Markup()
	defer x.Release(m)
	m.Begin("d:multistatus")
	m.Raw("<d:response>").Element("d:href", x.linkHref(at))
	if err := p.Propstats(m, &resource{x: x, feed: &feed}); err != nil {
		return err
	}
	m.Raw("</d:response></d:multistatus>\n")
	x.Reply(http.StatusMultiStatus, dav.XMLType, m.Buf)
	return nil
}
