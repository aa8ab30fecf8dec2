package web

import (
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// invitation is an offer to share a calendar with the visitor.
type invitation struct {
	ID              calendar.InvitationID
	Owner, Calendar string
	May             string
	// More is set if the offer extends the visitor's present access.
	More bool
}

// invitations returns the pending offers.
func (v *visit) invitations() ([]invitation, error) {
	offers, err := v.Service.Offers(v.r.Context(), v.caller())
	if err != nil {
		return nil, err
	}
	var list []invitation
	for _, o := range offers {
		if o.Status != calendar.SharePending {
			continue
		}
		list = append(list, invitation{o.Invitation(), excerpt(o.From.OwnerTitle), excerpt(o.Name()), accessWords[o.Access], o.Meanwhile > calendar.NoAccess})
	}
	return list, nil
}

// OffersPath is the path of the offers' pages below BASE_URL. Each offer's id follows it.
const OffersPath = root + "invitations"

// offerContent is the data of the page of one offer.
type offerContent struct{ Invitation invitation }

// offer returns the pending offer that the path names.
func (v *visit) offer() (offerContent, error) {
	all, err := v.invitations()
	if err != nil {
		return offerContent{}, err
	}
	i := slices.IndexFunc(all, func(one invitation) bool { return string(one.ID) == v.r.PathValue("invitation") })
	if i < 0 {
		return offerContent{}, errMissing()
	}
	return offerContent{all[i]}, nil
}

// answers are the values of the two buttons.
var answers = map[string]struct {
	accept bool
	notice string
}{
	"accept":  {true, "invitation-accepted"},
	"decline": {false, "invitation-declined"},
}

func (v *visit) answer() error {
	id := calendar.InvitationID(v.r.PathValue("invitation"))
	if v.field("answer") == "block" {
		offers, err := v.Service.Offers(v.r.Context(), v.caller())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(offers, func(o calendar.Offer) bool { return o.Invitation() == id })
		if i < 0 {
			return errMissing()
		}
		_, err = v.Service.Block(v.r.Context(), v.caller(), offers[i].Calendar)
		return v.after(err, "calendars", "sharer-blocked")
	}
	said, ok := answers[v.field("answer")]
	if !ok {
		return calendar.Errorf(calendar.Invalid, "", "an invitation is accepted or declined")
	}
	_, err := v.Service.Answer(v.r.Context(), v.caller(), id, calendar.Reply{Accept: said.accept})
	return v.after(err, "calendars", said.notice)
}

// listedShare is one user's share of a calendar.
type listedShare struct {
	Name, Title, May string
	Status           calendar.ShareStatus
	// By is the app that shared it; "" for the visitor.
	By string
}

func (v *visit) shares(cal calendar.Calendar) ([]listedShare, error) {
	shares, err := v.Service.Shares(v.r.Context(), v.caller(), cal.ID)
	if err != nil {
		return nil, err
	}
	var list []listedShare
	for _, s := range shares {
		list = append(list, listedShare{s.User.Name, excerpt(s.User.Title()), accessWords[s.Access], s.Status, excerpt(s.Maker.Agent)})
	}
	return list, nil
}

// shareChoices are a form's choices of access.
var shareChoices = map[string]calendar.Access{
	"busy": calendar.FreeBusyAccess, "read": calendar.ReadAccess, "write": calendar.WriteAccess,
}

func (v *visit) share() error {
	return v.onCalendar("shared", func(cal calendar.Calendar) error {
		access, ok := shareChoices[v.field("access")]
		if !ok {
			return calendar.Errorf(calendar.Invalid, "", "choose their access to the calendar")
		}
		_, err := v.Service.Share(v.r.Context(), v.caller(), cal.ID, v.field("with"), access)
		return err
	})
}

func (v *visit) unshare() error {
	return v.onCalendar("unshared", func(cal calendar.Calendar) error {
		return v.Service.Unshare(v.r.Context(), v.caller(), cal.ID, v.field("with"))
	})
}

// listedLink is a public link to a calendar.
type listedLink struct {
	ID               auth.LinkID
	Name, May        string
	Created, Used    string
	Expires          string
	Expired, Revoked bool
}

func (v *visit) links(cal calendar.Calendar) ([]listedLink, error) {
	all, err := v.Auth.Links(v.r.Context(), v.user().Name)
	if err != nil {
		return nil, err
	}
	c := v.clock()
	var list []listedLink
	for _, l := range all {
		if l.Calendar != cal.ID || !l.Revoked.IsZero() {
			continue
		}
		list = append(list, listedLink{
			ID: l.ID, Name: excerpt(l.Name), May: accessWords[l.Access], Created: c.date(l.Created), Used: c.Ago(l.LastUsed),
			Expires: c.Moment(l.Expires), Expired: !l.Valid(v.Now()),
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
	// URL is the address of the link just created. It cannot be shown again.
	URL string
}

func (v *visit) linkForm() (linkContent, error) {
	cal, err := v.sharable()
	return linkContent{swatch: swatchOf(cal), ID: cal.ID}, err
}

// sharable returns the calendar that the path names, if the visitor may share it.
func (v *visit) sharable() (calendar.Calendar, error) {
	cal, err := v.wanted()
	if err == nil {
		err = v.caller().May(calendar.ShareCalendar, cal)
	}
	return cal, err
}

func (v *visit) createLink() error {
	cal, err := v.sharable()
	if err != nil {
		return err
	}
	content := linkContent{swatch: swatchOf(cal), ID: cal.ID}
	link, secret, err := v.makeLink(cal)
	if err != nil {
		return v.again("link", content, err)
	}
	content.URL = v.address().String() + v.LinkPath(link, secret)
	return v.show("link", content)
}

func (v *visit) makeLink(cal calendar.Calendar) (auth.Link, auth.Secret, error) {
	days, ok := linkLives[v.field("days")]
	access := shareChoices[v.field("access")]
	if !ok || access == calendar.NoAccess {
		return auth.Link{}, "", calendar.Errorf(calendar.Invalid, "", "choose the access of the link and how long it lasts")
	}
	spec := auth.LinkSpec{Name: v.field("name"), Access: access}
	if days > 0 {
		spec.Expires = v.Now().Add(time.Duration(days) * 24 * time.Hour)
	}
	return v.Auth.CreateLink(v.r.Context(), v.caller(), cal, spec)
}

// revokeLink revokes a link of this calendar. A link of another calendar is not found.
func (v *visit) revokeLink() error {
	return v.onCalendar("link-ended", func(cal calendar.Calendar) error {
		if err := v.caller().May(calendar.ShareCalendar, cal); err != nil {
			return err
		}
		id := auth.LinkID(v.r.PathValue("link"))
		links, err := v.links(cal)
		if err != nil {
			return err
		}
		for _, l := range links {
			if l.ID == id {
				return v.Auth.RevokeLink(v.r.Context(), id)
			}
		}
		return errMissing()
	})
}
