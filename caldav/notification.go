package caldav

import (
	"bytes"
	"encoding/xml"
	"net/http"

	"caldav-mcp-server/calendar"
)

func (r *resource) notificationURL(m *markup) error { return r.ownPlace(m, formBox) }

// notice returns the member of the notification collection for n.
func (r *resource) notice(n calendar.Notification) *resource {
	return &resource{x: r.x, at: place{form: formNotice, user: r.at.user, notice: n.Name}, notification: n}
}

// statusTags maps the status of a share to its element (caldav-sharing §6).
var statusTags = map[calendar.ShareStatus]string{
	calendar.SharePending: "<cs:invite-noresponse/>", calendar.ShareAccepted: "<cs:invite-accepted/>",
	calendar.ShareDeclined: "<cs:invite-declined/>", calendar.ShareWithdrawn: "<cs:invite-deleted/>",
}

// noticeTag is the root element of a notification's content (caldav-sharing §6.15, §6.22).
func noticeTag(n calendar.Notification) string {
	if n.Reply {
		return "cs:invite-reply"
	}
	return "cs:invite-notification"
}

// sharedSort is an attribute of that element that Apple's server writes and its clients read.
const sharedSort = ` shared-type="calendar"`

func (r *resource) noticeType(m *markup) error {
	return m.raw("<").raw(noticeTag(r.notification)).raw(sharedSort).raw("/>").ok()
}

// noticeDocument writes a notification (caldav-sharing §4, §6.24).
func noticeDocument(m *markup, n calendar.Notification) {
	m.begin("cs:notification")
	m.raw("<cs:dtstamp>")
	m.buf = n.Created.UTC().AppendFormat(m.buf, "20060102T150405Z")
	name := noticeTag(n)
	m.raw("</cs:dtstamp><").raw(name).raw(sharedSort).raw(">")
	if n.Reply {
		repliedElement(m, n)
	} else {
		invitedElement(m, n)
	}
	m.raw("</").raw(name).raw("></cs:notification>\n")
}

// invitedElement writes the invitation for a sharee.
func invitedElement(m *markup, n calendar.Notification) {
	m.element("cs:uid", string(n.Invitation))
	addressOf(m, n.Sharee)
	m.raw(statusTags[n.Status])
	accessElement(m, n.Access)
	hostURL(m, n.Owner.Name, n.Segment)
	organizerElement(m, n.Owner)
	if n.Title != "" {
		m.element("cs:summary", n.Title)
	}
	m.raw("<c:supported-calendar-component-set>")
	for _, k := range n.Kinds {
		kindElement(m, k)
	}
	m.raw("</c:supported-calendar-component-set>")
}

// repliedElement writes a sharee's reply for the owner.
func repliedElement(m *markup, n calendar.Notification) {
	addressOf(m, n.Sharee)
	m.raw(statusTags[n.Status])
	hostURL(m, n.Owner.Name, n.Segment)
	m.element("cs:in-reply-to", string(n.Invitation))
	if n.Title != "" {
		m.element("cs:summary", n.Title)
	}
	m.element("cs:common-name", n.Sharee.Title)
}

// rendered returns the XML of the notification.
func (r *resource) rendered() []byte {
	m := r.x.markup()
	defer r.x.release(m)
	noticeDocument(m, r.notification)
	return bytes.Clone(m.buf)
}

// getNotice answers GET of a notification.
func (x *exchange) getNotice(r *resource) error {
	h := x.w.Header()
	h.Set("ETag", string(r.notification.ETag))
	h.Set("Content-Type", xmlType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(x.w, x.r, "", r.notification.Created, bytes.NewReader(r.rendered()))
	return nil
}

// dismiss answers DELETE of a notification. Deleting an invitation does not decline it (caldav-sharing §4): clients
// delete it after they have shown it.
func (x *exchange) dismiss() error { return takeOut(x, x.at.notice, x.Service.Dismiss) }

// replyRequest is CS:invite-reply (caldav-sharing §6.22).
type replyRequest struct {
	XMLName   xml.Name  `xml:"http://calendarserver.org/ns/ invite-reply"`
	Accepted  *struct{} `xml:"http://calendarserver.org/ns/ invite-accepted"`
	Declined  *struct{} `xml:"http://calendarserver.org/ns/ invite-declined"`
	InReplyTo string    `xml:"http://calendarserver.org/ns/ in-reply-to"`
	Summary   string    `xml:"http://calendarserver.org/ns/ summary"`
}
