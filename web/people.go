package web

import (
	"context"
	"net/http"
	"slices"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) peoplePages() []page {
	return []page{
		get("people", admins, showing("people", (*visit).peopleContent)),
		// Not below people/: a user may have that name.
		get("invite", provenAdmins, (*visit).inviteForm),
		post("invite", provenAdmins, (*visit).invite),
		get("people/{name}", admins, showing("person", (*visit).wantedPerson)),
		post("people/{name}", provenAdmins, (*visit).changePerson),
	}
}

// Passlinks mails invite and reset links.
type Passlinks interface {
	// Send mails a link to the user's main address; reset is set if they have had a password before.
	Send(ctx context.Context, u calendar.User, reset bool, link string, until time.Time) error
}

// Health is the server's state, for administrators: each fact with its name.
type Health []struct{ Name, Value string }

// peopleContent is the data of the page of all users, for administrators.
type peopleContent struct {
	People []personRow
	Groups []auth.Group
	// Group is the form for a new group with the values entered so far.
	Group  newGroupForm
	Health Health
}

// personRow is a user in the list.
type personRow struct {
	calendar.User
	// Waits is when a pending invitation or reset expires.
	Waits string
}

func (v *visit) peopleContent() (content peopleContent, err error) {
	users, err := v.Auth.Users(v.r.Context())
	if err != nil {
		return content, err
	}
	vouchers, err := v.Auth.Vouchers(v.r.Context())
	if err != nil {
		return content, err
	}
	c := v.clock()
	content.Health = v.health()
	for _, u := range users {
		row := personRow{User: u}
		if i := slices.IndexFunc(vouchers, func(w auth.Voucher) bool { return w.User.ID == u.ID }); i >= 0 {
			row.Waits = string(vouchers[i].Kind) + " until " + c.Moment(vouchers[i].Expires)
		}
		content.People = append(content.People, row)
	}
	content.Groups, err = v.Auth.Groups(v.r.Context())
	return content, err
}

func (v *visit) health() Health {
	facts := Health{{"Version", v.Version}}
	if v.Facts == nil {
		return facts
	}
	return append(facts, v.Facts(v.r.Context())...)
}

// inviteContent is the data of the invitation page; the link is shown once.
type inviteContent struct {
	Name, DisplayName, Email string
	Admin                    bool
	issued
}

func (v *visit) inviteForm() error { return v.show("invite", inviteContent{}) }

func (v *visit) invite() error {
	content := inviteContent{Name: v.field("name"), DisplayName: v.field("display-name"), Email: v.field("email"), Admin: v.field("admin") != ""}
	u, err := v.NewUser(v.r.Context(), auth.NewUser{
		Name: content.Name, DisplayName: content.DisplayName, Email: content.Email, Admin: content.Admin, Invited: true,
	})
	if err != nil {
		return v.again("invite", content, err)
	}
	content.Name = u.Name
	if content.issued, err = v.vouch(u, auth.Invitation); err != nil {
		return err
	}
	return v.showIssued("invite", content, content.issued)
}

// issued is an invite or reset link, which is shown once.
type issued struct {
	Link, Until string
	// Mailed is the address that it was mailed to, Unsent the reason why it was not mailed.
	Mailed, Unsent string
}

// vouch makes an invite or reset link, and mails it if possible.
func (v *visit) vouch(u calendar.User, kind auth.VoucherKind) (issued, error) {
	voucher, secret, err := v.Auth.Vouch(v.r.Context(), u.Name, kind)
	if err != nil {
		return issued{}, err
	}
	one := issued{Link: v.address().JoinPath(root, "key", string(secret)).String(), Until: v.clock().Moment(voucher.Expires)}
	if v.Passlinks == nil || u.Email == "" {
		return one, nil
	}
	if err := v.Passlinks.Send(v.r.Context(), u, kind == auth.Reset, one.Link, voucher.Expires); err != nil {
		v.Logger.WarnContext(v.r.Context(), "a link could not be mailed", "to", u.Name, "error", err)
		_, one.Unsent = explain(err)
		return one, nil
	}
	one.Mailed = u.Email
	return one, nil
}

// showIssued shows a page with a link. A link that was not mailed can be handed over by other means.
func (v *visit) showIssued(name string, content any, one issued) error {
	return v.write(http.StatusOK, name, content, one.Unsent)
}

// personContent is the data of the page of one user, for administrators.
type personContent struct {
	User      calendar.User
	Factors   auth.Factors
	Addresses []auth.Address
	// Self is set for the visitor, who cannot lock themselves out.
	Self   bool
	Bounds []boundRow
	issued
}

// wantedPerson returns the user that the path names.
func (v *visit) wantedPerson() (c personContent, err error) {
	if c.User, err = v.Auth.User(v.r.Context(), v.r.PathValue("name")); err != nil {
		return c, errMissing()
	}
	c.Self = c.User.ID == v.user().ID
	if c.Factors, err = v.Auth.Factors(v.r.Context(), c.User); err != nil {
		return c, err
	}
	if c.Bounds, err = v.bounds(c.User); err != nil {
		return c, err
	}
	c.Addresses, err = v.Auth.Addresses(v.r.Context(), c.User)
	return c, err
}

// personDeeds are the actions on a user, by the name of their button.
var personDeeds = map[string]func(v *visit, u calendar.User) error{
	"disable": func(v *visit, u calendar.User) error { return v.edit(u, auth.UserEdit{Disabled: new(true)}) },
	"enable":  func(v *visit, u calendar.User) error { return v.edit(u, auth.UserEdit{Disabled: new(false)}) },
	"admin":   func(v *visit, u calendar.User) error { return v.edit(u, auth.UserEdit{Admin: new(true)}) },
	"plain":   func(v *visit, u calendar.User) error { return v.edit(u, auth.UserEdit{Admin: new(false)}) },
	"sign-out": func(v *visit, u calendar.User) error {
		return v.Auth.EndSessions(v.r.Context(), u, "")
	},
	"end-access": func(v *visit, u calendar.User) error { return v.Auth.EndAccess(v.r.Context(), u) },
	"factors":    func(v *visit, u calendar.User) error { return v.Auth.DropFactors(v.r.Context(), u.Name) },
	"verify": func(v *visit, u calendar.User) error {
		return v.Auth.VerifyAddress(v.r.Context(), u, v.field("address"))
	},
	"bounds":    (*visit).setBounds,
	"take-back": func(v *visit, u calendar.User) error { return v.Auth.DropVouchers(v.r.Context(), u) },
}

// edit changes a user. It refuses changes that would lock out the visitor or all administrators.
func (v *visit) edit(u calendar.User, e auth.UserEdit) error {
	if u.ID == v.user().ID {
		return calendar.Errorf(calendar.Invalid, "", "that would be you; let another administrator do it")
	}
	_, err := v.ChangeUser(v.r.Context(), u.Name, e)
	return err
}

func (v *visit) changePerson() error {
	c, err := v.wantedPerson()
	if err != nil {
		return err
	}
	deed := v.field("do")
	if _, ok := personDeeds[deed]; ok || deed == "reset" {
		v.did("people/"+deed, c.User.Name)
	}
	if deed == "reset" {
		if c.issued, err = v.vouch(c.User, auth.Reset); err != nil {
			return err
		}
		return v.showIssued("person", c, c.issued)
	}
	do, ok := personDeeds[deed]
	if !ok {
		return errMissing()
	}
	if err := do(v, c.User); err != nil {
		return v.again("person", c, err)
	}
	return v.done("people/"+c.User.Name, "saved")
}
