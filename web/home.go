package web

import (
	"slices"
	"time"

	"caldav-mcp-server/calendar"
)

func (h *Handler) homePages() []page {
	return []page{
		get("{$}", people, showing("home", (*visit).home)),
		post("proposals/{message}", people, (*visit).decideProposal),
		post("unverified/{name}", people, (*visit).dismissUnverified),
	}
}

const (
	// recently is how far back the home page shows assistants' changes on a first visit; mostDeeds limits their number.
	recently  = 7 * 24 * time.Hour
	mostDeeds = 10
)

// homeContent is the data of the home page.
type homeContent struct {
	agenda
	Invitations []invitation
	// Proposals are new times that guests propose for the visitor's events. UnreadProposals counts such messages that
	// are too long to show.
	Proposals       []proposal
	UnreadProposals int
	// Unverified are invitations by mail that were not accepted into the calendar.
	Unverified []unverified
	// Deeds are the latest changes by assistants; MoreDeeds is set if the journal has more.
	Deeds     []change
	MoreDeeds bool
	// Since is when the previous visit ended; "" if there was none.
	Since string
	// WebhooksOff counts the webhooks that were turned off because deliveries failed.
	WebhooksOff int
}

func (v *visit) home() (content homeContent, err error) {
	c := v.clock()
	if content.agenda, err = v.agenda(c); err != nil {
		return content, err
	}
	if content.Invitations, err = v.invitations(); err != nil {
		return content, err
	}
	if content.Proposals, content.UnreadProposals, err = v.proposals(c); err != nil {
		return content, err
	}
	if content.Unverified, err = v.unverified(c); err != nil {
		return content, err
	}
	since, err := v.lastVisit()
	if err != nil {
		return content, err
	}
	if since.IsZero() {
		since = c.now.Add(-recently)
	} else {
		content.Since = c.Moment(since)
	}
	if content.Deeds, content.MoreDeeds, err = v.deeds(c, since); err != nil {
		return content, err
	}
	content.WebhooksOff, err = v.webhooksOff()
	return content, err
}

// deeds returns the latest changes made with a token since a time.
func (v *visit) deeds(c clock, since time.Time) (list []change, more bool, err error) {
	found, err := v.Service.History(v.r.Context(), v.caller(), calendar.HistoryQuery{Since: since, Limit: journalPage, Described: true})
	if err != nil {
		return nil, false, err
	}
	by := slices.DeleteFunc(found.Changes, func(one calendar.Change) bool { return one.Token == "" })
	more = len(by) > mostDeeds || found.Cursor != ""
	return v.changes(c, by[:min(len(by), mostDeeds)]), more, nil
}
