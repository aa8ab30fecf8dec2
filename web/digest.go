package web

import (
	"context"
	"fmt"
	"strconv"

	"caldav-mcp-server/calendar"
)

// Digests are mails of their day to users who want them.
type Digests interface {
	// Wish is what a user wants, Want notes it.
	Wish(ctx context.Context, u calendar.User) (calendar.Digest, error)
	Want(ctx context.Context, u calendar.User, d calendar.Digest) error
	// Open tells to which address a link in such a mail ends it, and Stop does so; NotFound where the link is not good.
	Open(token string) (calendar.MailAddress, error)
	Stop(ctx context.Context, token string) (calendar.MailAddress, error)
}

// stopPath is where the links lead that end such mail, StopPath the same below the path of BASE_URL.
const (
	stopPath = "no-mail/"
	StopPath = root + stopPath
	// SettingsPath and JournalPath are where it is chosen, and where changes are taken back.
	SettingsPath = root + "settings"
	JournalPath  = root + "journal"
)

// digestPages are the settings and, for anyone who reads the mail, the way out of it. To open the link changes nothing: mail
// programs look at links.
func (h *Handler) digestPages() []page {
	if h.Digests == nil {
		return nil
	}
	return []page{
		postBack("settings/digest", people, "settings", (*visit).saveDigest),
		get(stopPath+"{token}", anybody, showing("nomail", (*visit).stopForm)),
		post(stopPath+"{token}", anybody, showing("nomail", (*visit).stopDigest)),
	}
}

// digestContent is the part of the settings about such mail.
type digestContent struct {
	calendar.Digest
	Hours []choice
}

// usualHour is when it comes unless somebody says otherwise.
const usualHour = 18

// digestContent returns nil where no such mail is sent.
func (v *visit) digestContent(u calendar.User) (*digestContent, error) {
	if v.Digests == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	d, err := v.Digests.Wish(v.r.Context(), u)
	if !d.Wanted() {
		d.Hour = usualHour
	}
	content := &digestContent{Digest: d}
	for hour := range 24 {
		content.Hours = append(content.Hours, choice{strconv.Itoa(hour), fmt.Sprintf("%02d:00", hour), hour == d.Hour})
	}
	return content, err
}

func (v *visit) saveDigest() error {
	hour, err := strconv.Atoi(v.field("hour"))
	if err != nil {
		hour = -1
	}
	return v.settled(v.Digests.Want(v.r.Context(), v.user(), calendar.Digest{
		Hour: hour, Agenda: v.field("agenda") != "", Changes: v.field("changes") != "",
	}), "saved")
}

// stopContent is the content of the page that ends such mail.
type stopContent struct {
	Address calendar.MailAddress
	Done    bool
}

func (v *visit) stopForm() (stopContent, error) {
	address, err := v.Digests.Open(v.r.PathValue("token"))
	return stopContent{Address: address}, err
}

func (v *visit) stopDigest() (stopContent, error) {
	address, err := v.Digests.Stop(v.r.Context(), v.r.PathValue("token"))
	return stopContent{address, true}, err
}
