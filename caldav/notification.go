package caldav

import (
	"bytes"
	"encoding/xml"
	"net/http"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

func writeNotificationURL(r *resource, m *dav.Markup) error { return writeOwnPlace(r, m, formBox) }

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

func writeNoticeType(r *resource, m *dav.Markup) error {
	return m.Raw("<").Raw(noticeTag(r.notification)).Raw(sharedSort).Raw("/>").OK()
}

// noticeDocument writes a notification (caldav-sharing §4, §6.24).
func noticeDocument(m *dav.Markup, n calendar.Notification) {
	m.Begin("cs:notification")
	m.Raw("<cs:dtstamp>")
	m.Buf = n.Created.UTC().AppendFormat(m.Buf, "20060102T150405Z")
	name := noticeTag(n)
	m.Raw("</cs:dtstamp><").Raw(name).Raw(sharedSort).Raw(">")
	if n.Reply {
		repliedElement(m, n)
	} else {
		invitedElement(m, n)
	}
	m.Raw("</").Raw(name).Raw("></cs:notification>\n")
}

// invitedElement writes the invitation for a sharee.
func invitedElement(m *dav.Markup, n calendar.Notification) {
	m.Element("cs:uid", string(n.Invitation))
	addressOf(m, n.Sharee)
	m.Raw(statusTags[n.Status])
	accessElement(m, n.Access)
	hostURL(m, n.Owner.Name, n.Segment)
	organizerElement(m, n.Owner)
	if n.Title != "" {
		m.Element("cs:summary", n.Title)
	}
	m.Raw("<c:supported-calendar-component-set>")
	for _, k := range n.Kinds {
		kindElement(m, k)
	}
	m.Raw("</c:supported-calendar-component-set>")
}

// repliedElement writes a sharee's reply for the owner.
func repliedElement(m *dav.Markup, n calendar.Notification) {
	addressOf(m, n.Sharee)
	m.Raw(statusTags[n.Status])
	hostURL(m, n.Owner.Name, n.Segment)
	m.Element("cs:in-reply-to", string(n.Invitation))
	if n.Title != "" {
		m.Element("cs:summary", n.Title)
	}
	m.Element("cs:common-name", n.Sharee.Title)
}

// rendered returns the XML of the notification.
func (r *resource) rendered() []byte {
	m := r.x.Markup()
	defer r.x.Release(m)
	noticeDocument(m, r.notification)
	return bytes.Clone(m.Buf)
}

// getNotice answers GET of a notification.
func getNotice(x *request, r *resource) error {
	h := x.W.Header()
	h.Set("ETag", string(r.notification.ETag))
	h.Set("Content-Type", dav.XMLType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(x.W, x.R, "", r.notification.Created, bytes.NewReader(r.rendered()))
	return nil
}

// dismiss answers DELETE of a notification. Deleting an invitation does not decline it (caldav-sharing §4): clients
// delete it after they have shown it.
func dismiss(x *request) error { return takeOut(x, x.at.notice, x.Service.Dismiss) }

// replyRequest is CS:invite-reply (caldav-sharing §6.22).
type replyRequest struct {
	XMLName   xml.Name  `xml:"http://calendarserver.org/ns/ invite-reply"`
	Accepted  *struct{} `xml:"http://calendarserver.org/ns/ invite-accepted"`
	Declined  *struct{} `xml:"http://calendarserver.org/ns/ invite-declined"`
	InReplyTo string    `xml:"http://calendarserver.org/ns/ in-reply-to"`
	Summary   string    `xml:"http://calendarserver.org/ns/ summary"`
}
