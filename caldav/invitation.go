package caldav

import (
	"encoding/xml"
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// shareRequest is CS:share (caldav-sharing §6.26): edits in document order.
type shareRequest struct {
	XMLName xml.Name    `xml:"http://calendarserver.org/ns/ share"`
	Edits   []shareEdit `xml:",any"`
}

// shareEdit is CS:set or CS:remove.
type shareEdit struct {
	XMLName    xml.Name
	Href       string    `xml:"DAV: href"`
	CommonName string    `xml:"http://calendarserver.org/ns/ common-name"`
	Summary    string    `xml:"http://calendarserver.org/ns/ summary"`
	Read       *struct{} `xml:"http://calendarserver.org/ns/ read"`
	ReadWrite  *struct{} `xml:"http://calendarserver.org/ns/ read-write"`
}

// maxShareEdits limits the edits of one request, which share one transaction.
const maxShareEdits = 100

// edit reads an edit, except for its sharee.
func (e *shareEdit) edit() (calendar.ShareEdit, error) {
	edit := calendar.ShareEdit{Title: strings.TrimSpace(e.Summary), CommonName: strings.TrimSpace(e.CommonName)}
	switch {
	case e.XMLName == server("remove"):
	case e.XMLName != server("set"):
		return edit, dav.Refuse(http.StatusBadRequest, "CS:share may only hold CS:set and CS:remove")
	case e.ReadWrite != nil:
		edit.Access = calendar.WriteAccess
	case e.Read != nil:
		edit.Access = calendar.ReadAccess
	default:
		return edit, dav.Refuse(http.StatusBadRequest, "CS:set must hold CS:read or CS:read-write")
	}
	return edit, nil
}

// serveShare answers caldav-sharing §5.3.2. It applies all edits or none; if none, the response gives the reason for
// each user.
func serveShare(x *request) error {
	x.did("share")
	return about(x.at, "d:write-acl", share(x))
}

func share(x *request) error {
	var q shareRequest
	if answered, err := readOrRegister(x, &q); answered || err != nil {
		return err
	}
	if n := len(q.Edits); n == 0 || n > maxShareEdits {
		return dav.Refuse(http.StatusBadRequest, "CS:share must hold between 1 and %d elements CS:set and CS:remove",
			maxShareEdits)
	}
	cal, err := x.calendarAt(x.at)
	if err == nil {
		err = x.caller.May(calendar.ShareCalendar, cal)
	}
	if err != nil {
		return err
	}
	edits := make([]calendar.ShareEdit, len(q.Edits))
	unfit := make([]error, len(q.Edits))
	bad := false
	for i := range q.Edits {
		if edits[i], err = q.Edits[i].edit(); err != nil {
			return err
		}
		edits[i].With, err = shareeOf(x, cal, q.Edits[i].Href)
		switch calendar.ReasonOf(err) {
		case calendar.NotFound, calendar.Invalid:
			unfit[i], bad = err, bad || err != nil
		default:
			if err != nil {
				return err
			}
		}
	}
	if bad {
		return refuseShares(x, q.Edits, unfit)
	}
	if _, err := x.Service.Reshare(x.R.Context(), x.caller, cal.ID, edits); err != nil {
		return err
	}
	whom := make([]string, len(edits))
	for i, e := range edits {
		if whom[i] = e.With.Name; e.Access == calendar.NoAccess {
			whom[i] = "-" + whom[i]
		}
	}
	x.audit("share", whom...)
	return x.Blank(http.StatusOK)
}

// shareeOf resolves a calendar user address, which is a mail address or a principal of this server.
func shareeOf(x *request, cal calendar.Calendar, href string) (calendar.User, error) {
	name := strings.TrimSpace(href)
	if scheme, address, ok := strings.Cut(name, ":"); ok && strings.EqualFold(scheme, "mailto") {
		name = address
	} else if at, err := x.parseHref(name); err == nil && at.kind() == atPrincipal {
		name = string(at.user)
	}
	return x.Service.Sharee(x.R.Context(), x.caller, cal.ID, name)
}

// refuseShares writes for each user whether they prevented the change.
func refuseShares(x *request, edits []shareEdit, unfit []error) error {
	ms := x.multistatus(plan{})
	for i, e := range edits {
		status := http.StatusFailedDependency
		if unfit[i] != nil {
			status = http.StatusForbidden
		}
		ms.Raw("<d:response>").Element("d:href", strings.TrimSpace(e.Href)).Status(status)
		if unfit[i] != nil {
			ms.Element("d:responsedescription", unfit[i].Error())
		}
		ms.Raw("</d:response>")
	}
	return ms.End()
}

// serveInvitationReply answers caldav-sharing §5.4.1.
func serveInvitationReply(x *request) error {
	x.did("answer-share")
	return about(x.at, "d:bind", replyInvitation(x))
}

func replyInvitation(x *request) error {
	var q replyRequest
	if answered, err := readOrRegister(x, &q); answered || err != nil {
		return err
	}
	if (q.Accepted == nil) == (q.Declined == nil) {
		return dav.Refuse(http.StatusBadRequest,
			"CS:invite-reply must hold either CS:invite-accepted or CS:invite-declined")
	}
	cal, err := x.Service.Answer(x.R.Context(), x.caller, calendar.InvitationID(strings.TrimSpace(q.InReplyTo)),
		calendar.Reply{Accept: q.Accepted != nil, Name: strings.TrimSpace(q.Summary)})
	if err != nil {
		return err
	}
	if q.Accepted == nil {
		return x.Done(false)
	}
	m := x.Markup()
	defer x.Release(m)
	m.Begin("cs:shared-as")
	at := place{form: formCalendar, user: x.at.user, calendar: cal.Address()}
	m.Element("d:href", bare(x.href(at))).Raw("</cs:shared-as>")
	x.Reply(http.StatusOK, dav.XMLType, m.Buf)
	return nil
}
