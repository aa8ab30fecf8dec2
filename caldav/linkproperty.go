package caldav

import (
	"net/http"

	"caldav-mcp-server/calendar"
)

// linkProperties are the properties of a public link. Like the text of the link, they reveal its name and color, and
// they say that the link is read-only: Thunderbird asks for these before it subscribes. Strangers see no other
// property.
func linkProperties() []property {
	return []property{
		row(dav("resourcetype"), everything, allprop, nothing),
		row(dav("displayname"), everything, allprop, (*resource).feedName),
		row(dav("getetag"), everything, allprop, (*resource).feedTag),
		row(dav("getcontenttype"), everything, allprop, (*resource).feedType),
		row(dav("getlastmodified"), everything, allprop, (*resource).feedModified),
		row(dav("current-user-privilege-set"), everything, 0, (*resource).feedPrivileges),
		row(apple("calendar-color"), everything, 0, (*resource).feedColor),
	}
}

func (r *resource) feedName(m *markup) error { return m.text(r.feed.Name).ok() }

func (r *resource) feedTag(m *markup) error { return m.text("W/" + string(r.feed.Tag)).ok() }

// feedType has no charset: Thunderbird compares the whole value to recognize a calendar.
func (r *resource) feedType(m *markup) error { return m.raw("text/calendar").ok() }

func (r *resource) feedModified(m *markup) error {
	return m.date(r.feed.Modified, http.TimeFormat)
}

func (r *resource) feedPrivileges(m *markup) error {
	privilegeElement(m, "d:read")
	return nil
}

func (r *resource) feedColor(m *markup) error { return m.optional(r.feed.Color) }

// describeFeed answers PROPFIND of a public link. It has no members, so every Depth means 0.
func (x *exchange) describeFeed(id calendar.CalendarID, at linkAddress) error {
	if _, err := x.depth(); err != nil {
		return err
	}
	x.method = x.methodNamed(x.r.Method)
	p, err := x.asked()
	if err != nil {
		return err
	}
	// The body may arrive slowly, and the link may have been revoked in the meantime.
	if err := x.good(x.r.Context()); err != nil {
		return err
	}
	feed, err := x.Service.Feed(x.r.Context(), x.meter, x.caller, id, at.form)
	if err != nil {
		return err
	}
	m := x.markup()
	defer x.release(m)
	m.begin("d:multistatus")
	m.raw("<d:response>").element("d:href", x.linkHref(at))
	if err := m.propstats(&resource{x: x, feed: &feed}, &p); err != nil {
		return err
	}
	m.raw("</d:response></d:multistatus>\n")
	x.reply(http.StatusMultiStatus, xmlType, m.buf)
	return nil
}
