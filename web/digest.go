package web

import (
	"context"
	"fmt"
	"strconv"

	"caldav-mcp-server/calendar"
)

// Digests sends daily mails to users who want them.
type Digests interface {
	// Setting returns a user's setting, Want stores it.
	Setting(ctx context.Context, u calendar.User) (calendar.Digest, error)
	Want(ctx context.Context, u calendar.User, d calendar.Digest) error
	// Open returns the recipient of a mail by its unsubscribe link, and Stop unsubscribes them; NotFound if the link is
	// invalid.
	Open(token string) (calendar.MailAddress, error)
	Stop(ctx context.Context, token string) (calendar.MailAddress, error)
}

// stopPath is the path of the unsubscribe links; StopPath is the same below the path of BASE_URL.
const (
	stopPath = "no-mail/"
	StopPath = root + stopPath
	// SettingsPath is the page with the digest's settings, JournalPath the page for undoing changes.
	SettingsPath = root + "settings"
	JournalPath  = root + "journal"
)

// digestPages are the settings and, for any reader of the mail, the unsubscribe page. Mail programs open links, so
// opening one changes nothing.
func (h *Handler) digestPages() []page {
	if h.Digests == nil {
		return nil
	}
	return []page{
		postBack("settings/digest", people, "settings", settingsPages.saveDigest),
		get(stopPath+"{token}", anybody, showing("nomail", unsubscribePages.stopForm)),
		post(stopPath+"{token}", anybody, showing("nomail", unsubscribePages.stopDigest)),
	}
}

// digestContent is the digest part of the settings page.
type digestContent struct {
	calendar.Digest
	Hours []choice
}

// usualHour is the default hour of the digest.
const usualHour = 18

// digestContent returns nil if the server sends no digests.
func (p settingsPages) digestContent(u calendar.User) (*digestContent, error) {
	if p.Digests == nil {
		return nil, nil // there is none
	}
	d, err := p.Digests.Setting(p.r.Context(), u)
	if !d.Wanted() {
		d.Hour = usualHour
	}
	content := &digestContent{Digest: d}
	for hour := range 24 {
		content.Hours = append(content.Hours, choice{strconv.Itoa(hour), fmt.Sprintf("%02d:00", hour), hour == d.Hour})
	}
	return content, err
}

func (p settingsPages) saveDigest() error {
	hour, err := strconv.Atoi(p.field("hour"))
	if err != nil {
		hour = -1
	}
	return p.settled(p.Digests.Want(p.r.Context(), p.user(), calendar.Digest{
		Hour: hour, Agenda: p.field("agenda") != "", Changes: p.field("changes") != "",
	}), "saved")
}

// stopContent is the data of the unsubscribe page.
type stopContent struct {
	Address calendar.MailAddress
	Done    bool
}

// unsubscribePages stop the daily mail, for any reader of it.
type unsubscribePages struct{ *pageRequest }

func (p unsubscribePages) stopForm() (stopContent, error) {
	address, err := p.Digests.Open(p.r.PathValue("token"))
	return stopContent{Address: address}, err
}

func (p unsubscribePages) stopDigest() (stopContent, error) {
	address, err := p.Digests.Stop(p.r.Context(), p.r.PathValue("token"))
	return stopContent{address, true}, err
}
