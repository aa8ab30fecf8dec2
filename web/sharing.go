package web

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/web/planner"
)

// invitation is an offer to share a calendar with the visitor.
type invitation struct {
	ID              calendar.InvitationID
	Owner, Calendar string
	May             string
	// More is set if the offer extends the visitor's present access.
	More bool
}

// invitationPages accept and decline calendars that others share.
type invitationPages struct{ *pageRequest }

// invitations returns the pending offers.
func (p invitationPages) invitations() ([]invitation, error) {
	offers, err := p.Service.Offers(p.r.Context(), p.caller())
	if err != nil {
		return nil, err
	}
	var list []invitation
	for _, o := range offers {
		if o.Status != calendar.SharePending {
			continue
		}
		list = append(list, p.invitation(o))
	}
	return list, nil
}

func (p *pageRequest) invitation(o calendar.Offer) invitation {
	return invitation{
		o.Invitation(), excerpt(o.From.OwnerTitle), excerpt(o.Name()), p.may(o.Access), o.Meanwhile > calendar.NoAccess,
	}
}

// sharedCalendar is a calendar that another user has begun to share with the visitor.
type sharedCalendar struct {
	invitation
	Color string
	// Waits is set for an offer. Notice is the message that the visitor can dismiss otherwise.
	Waits  bool
	Notice calendar.NoticeName
}

const (
	// sharedLately is how long the calendar tells of a new share, and mostShared how many it tells of.
	sharedLately = 30 * 24 * time.Hour
	mostShared   = 3
)

// newlyShared returns the offers that wait for an answer, then the calendars that the visitor got without being asked.
// Dismissing a notice on any device ends it.
func (p planningPages) newlyShared(others []planner.SideCalendar) ([]sharedCalendar, error) {
	offers, err := p.Service.Offers(p.r.Context(), p.caller())
	if err != nil || len(offers) == 0 {
		return nil, err
	}
	var list []sharedCalendar
	for _, o := range offers {
		if o.Status == calendar.SharePending {
			list = append(list, sharedCalendar{p.invitation(o), swatchOf(o.From).Color, true, ""})
		}
	}
	notices, err := p.Service.Notifications(p.r.Context(), p.caller())
	for _, n := range slices.Backward(notices) {
		at := slices.IndexFunc(others, func(cal planner.SideCalendar) bool { return cal.ID == n.Calendar })
		if at < 0 || n.Reply || n.Status != calendar.ShareAccepted || n.Created.Before(p.Now().Add(-sharedLately)) {
			continue
		}
		one := invitation{n.Invitation, excerpt(n.Owner.Title), excerpt(n.Title), p.may(n.Access), false}
		list = append(list, sharedCalendar{one, others[at].Color, false, n.Name})
	}
	return list[:min(len(list), mostShared)], err
}

// seen dismisses the notice of a calendar that another user shares.
func (p planningPages) seen() error {
	err := p.Service.Dismiss(p.r.Context(), p.caller(), calendar.NoticeName(p.field("notice")), calendar.Precondition{})
	if err != nil {
		return err
	}
	return p.leadTo(p.nextOr("/calendar/"))
}

// OffersPath is the path of the offers' pages below BASE_URL. Each offer's id follows it.
const OffersPath = root + "invitations"

// offerContent is the data of the page of one offer.
type offerContent struct{ Invitation invitation }

// offer returns the pending offer that the path names.
func (p invitationPages) offer() (offerContent, error) {
	all, err := p.invitations()
	if err != nil {
		return offerContent{}, err
	}
	i := slices.IndexFunc(all, func(one invitation) bool { return string(one.ID) == p.r.PathValue("invitation") })
	if i < 0 {
		return offerContent{}, p.answered()
	}
	return offerContent{all[i]}, nil
}

// answered is the error for an offer that waits no more, or never existed: a visitor cannot tell these apart.
func (p invitationPages) answered() error { return p.failed(calendar.NotFound, "error.offer-answered") }

// answers are the values of the two buttons.
var answers = map[string]struct {
	accept bool
	notice string
}{
	"accept":  {true, "invitation-accepted"},
	"decline": {false, "invitation-declined"},
}

func (p invitationPages) answer() error {
	id := calendar.InvitationID(p.r.PathValue("invitation"))
	if p.field("answer") == "block" {
		offers, err := p.Service.Offers(p.r.Context(), p.caller())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(offers, func(o calendar.Offer) bool { return o.Invitation() == id })
		if i < 0 {
			return p.answered()
		}
		_, err = p.Service.Block(p.r.Context(), p.caller(), offers[i].Calendar)
		return p.after(err, "calendars", "sharer-blocked")
	}
	said, ok := answers[p.field("answer")]
	if !ok {
		return p.wrong("error.offer-answer")
	}
	_, err := p.Service.Answer(p.r.Context(), p.caller(), id, calendar.Reply{Accept: said.accept})
	return p.after(err, p.nextOr("calendars"), said.notice)
}

// listedShare is one user's share of a calendar.
type listedShare struct {
	Name, Title, May string
	// Access is the word of the form; see shareChoices.
	Access string
	Status calendar.ShareStatus
	// By is the app that shared it; "" for the visitor.
	By string
	// Through is the access that the user also has through groups.
	Through []groupAccess
}

type groupAccess struct{ Group, May string }

func (p calendarPages) shares(cal calendar.Calendar) ([]listedShare, error) {
	shares, err := p.Service.Shares(p.r.Context(), p.caller(), cal.ID)
	if err != nil {
		return nil, err
	}
	groups, err := p.Service.GroupShares(p.r.Context(), p.caller(), cal.ID)
	var list []listedShare
	for _, s := range shares {
		one := listedShare{
			Name: s.User.Name, Title: excerpt(s.User.Title()), May: p.may(s.Access), Access: accessIDs[s.Access],
			Status: s.Status, By: excerpt(s.Maker.Agent),
		}
		for _, g := range groups {
			if g.User == s.User.ID {
				one.Through = append(one.Through, groupAccess{excerpt(g.Group), p.may(g.Access)})
			}
		}
		list = append(list, one)
	}
	return list, err
}

// shareChoices are a form's choices of access.
var shareChoices = map[string]calendar.Access{
	"busy": calendar.FreeBusyAccess, "read": calendar.ReadAccess, "write": calendar.WriteAccess,
}

func (p calendarPages) share() error {
	return p.onCalendar("shared", func(cal calendar.Calendar) error {
		access, ok := shareChoices[p.field("access")]
		if !ok {
			return p.wrong("error.share-access")
		}
		share, err := p.Service.Share(p.r.Context(), p.caller(), cal.ID, p.field("with"), access)
		if err == nil {
			p.did("share", share.User.Name)
			p.details(cal.ID, "%s", access.Word())
		}
		return err
	})
}

// unshare ends a share. Its notice says if the user still has access through a group.
func (p calendarPages) unshare() error {
	cal, err := p.wanted()
	if err != nil {
		return err
	}
	shares, err := p.shares(cal)
	if err != nil {
		return err
	}
	notice := "unshared"
	if slices.ContainsFunc(shares, func(s listedShare) bool {
		return strings.EqualFold(s.Name, p.field("with")) && len(s.Through) > 0
	}) {
		notice = "unshared-but-group"
	}
	return p.onCalendar(notice, func(cal calendar.Calendar) error {
		err := p.Service.Unshare(p.r.Context(), p.caller(), cal.ID, p.field("with"))
		if err == nil {
			p.did("unshare", p.field("with"))
			p.details(cal.ID, "")
		}
		return err
	})
}

// listedLink is a public link to a calendar.
type listedLink struct {
	ID               auth.LinkID
	Name, May        string
	Created, Used    string
	Expires          string
	Expired, Revoked bool
	Embed            bool
}

func (p calendarPages) links(cal calendar.Calendar) ([]listedLink, error) {
	all, err := p.Auth.Links(p.r.Context(), p.user().Name)
	if err != nil {
		return nil, err
	}
	c := p.clock()
	var list []listedLink
	for _, l := range all {
		if l.Calendar != cal.ID || !l.Revoked.IsZero() {
			continue
		}
		list = append(list, listedLink{
			ID: l.ID, Name: excerpt(l.Name), May: p.may(l.Access), Created: c.date(l.Created),
			Used:    c.Ago(l.LastUsed),
			Expires: c.unlessNever(l.Expires), Expired: !l.Valid(p.Now()),
			Embed: l.Embed,
		})
	}
	return list, nil
}

// linkLives are the choices for a link's expiry, in days; 0 means never.
var linkLives = map[string]int{"7": 7, "30": 30, "365": 365, "0": 0}

// linkContent is the data of the page for a new link.
type linkContent struct {
	swatch
	ID calendar.CalendarID
	// URL is the address of the link just created, for people, File the one of the file. They cannot be shown again.
	URL, File string
	// Frame is the markup that shows the page in another page; "" if that is not allowed.
	Frame string
}

// linkPages create and revoke the public links of a calendar.
type linkPages struct{ *pageRequest }

func (p linkPages) linkForm() (linkContent, error) {
	cal, err := p.sharable()
	return linkContent{swatch: swatchOf(cal), ID: cal.ID}, err
}

// sharable returns the calendar that the path names, if the visitor may share it.
func (p linkPages) sharable() (calendar.Calendar, error) {
	cal, err := p.wanted()
	if err == nil {
		err = p.caller().May(calendar.ShareCalendar, cal)
	}
	return cal, err
}

func (p linkPages) createLink() error {
	cal, err := p.sharable()
	if err != nil {
		return err
	}
	content := linkContent{swatch: swatchOf(cal), ID: cal.ID}
	link, secret, err := p.makeLink(cal)
	if err != nil {
		return p.again("link", content, err)
	}
	content.File = p.address().String() + p.LinkPath(link, secret)
	content.URL = strings.TrimSuffix(content.File, path.Ext(content.File))
	if link.Embed {
		content.Frame = fmt.Sprintf(`<iframe src="%s" title="%s" width="100%%" height="700" loading="lazy"></iframe>`,
			html(content.URL), html(excerpt(link.CalendarName)))
	}
	return p.show("link", content)
}

func (p linkPages) makeLink(cal calendar.Calendar) (auth.Link, auth.Secret, error) {
	days, ok := linkLives[p.field("days")]
	access := shareChoices[p.field("access")]
	if !ok || access == calendar.NoAccess {
		return auth.Link{}, "", p.wrong("error.link")
	}
	spec := auth.LinkSpec{Name: p.field("name"), Access: access, Embed: p.field("embed") != ""}
	if days > 0 {
		spec.Expires = p.Now().Add(time.Duration(days) * 24 * time.Hour)
	}
	p.details(cal.ID, "%s", access.Word())
	return p.Auth.CreateLink(p.r.Context(), p.caller(), cal, spec)
}

func (p linkPages) revokeLink() error { return p.onLink("link-ended", p.Auth.RevokeLink) }

// embedLink changes whether other sites may show the page of a link.
func (p linkPages) embedLink() error {
	return p.onLink("saved", func(ctx context.Context, id auth.LinkID) error {
		return p.Auth.EmbedLink(ctx, id, p.field("embed") != "")
	})
}

// onLink changes a link of this calendar. A link of another calendar is not found.
func (p linkPages) onLink(notice string, do func(context.Context, auth.LinkID) error) error {
	return calendarPages(p).onCalendar(notice, func(cal calendar.Calendar) error {
		if err := p.caller().May(calendar.ShareCalendar, cal); err != nil {
			return err
		}
		id := auth.LinkID(p.r.PathValue("link"))
		links, err := calendarPages(p).links(cal)
		if err != nil {
			return err
		}
		for _, l := range links {
			if l.ID == id {
				return do(p.r.Context(), id)
			}
		}
		return errMissing()
	})
}

// delegatePages show who may use all of the visitor's calendars, and whose calendars the visitor may use.
type delegatePages struct{ *pageRequest }

func (h *Handler) delegatePages() []page {
	return []page{
		get("delegates", people, showing("delegates", delegatePages.list)),
		postBack("delegates", proven, "delegates", delegatePages.add),
		post("delegates/remove", people, delegatePages.remove),
		post("delegates/resign", people, delegatePages.resign),
	}
}

// delegatesContent is the data of the page.
type delegatesContent struct {
	// Own are the visitor's delegates, For the users who made the visitor their delegate.
	Own, For []listedDelegate
	// With is the name entered so far.
	With string
}

// listedDelegate is the other user of a delegation.
type listedDelegate struct{ Name, Title, May string }

func (p delegatePages) list() (content delegatesContent, err error) {
	content.With = p.field("with")
	all, err := p.Service.Delegates(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	for _, d := range all {
		content.Own = append(content.Own, listedDelegate{d.Delegate.Name, d.Delegate.Title(), p.may(d.Access)})
	}
	all, err = p.Service.DelegatedTo(p.r.Context(), p.caller())
	for _, d := range all {
		content.For = append(content.For, listedDelegate{d.Owner.Name, d.Owner.Title(), p.may(d.Access)})
	}
	return content, err
}

func (p delegatePages) add() error {
	access := shareChoices[p.field("access")]
	if access < calendar.ReadAccess {
		return p.listAgain(p.wrong("error.delegate-access"))
	}
	added, err := p.Service.AddDelegate(p.r.Context(), p.caller(), p.field("with"), access)
	if err != nil {
		return p.listAgain(err)
	}
	p.did("delegates/add", added.Delegate.Name)
	return p.done("delegates", "delegate-added")
}

// listAgain shows the page with an error of its form.
func (p delegatePages) listAgain(err error) error {
	content, failed := p.list()
	if failed != nil {
		return failed
	}
	return p.again("delegates", content, err)
}

func (p delegatePages) remove() error {
	err := p.Service.RemoveDelegate(p.r.Context(), p.caller(), p.field("with"))
	if err == nil {
		p.did("delegates/remove", p.field("with"))
	}
	return p.after(err, "delegates", "delegate-removed")
}

func (p delegatePages) resign() error {
	err := p.Service.Resign(p.r.Context(), p.caller(), p.field("with"))
	if err == nil {
		p.did("delegates/resign", p.field("with"))
	}
	return p.after(err, "delegates", "delegate-resigned")
}
