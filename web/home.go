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
	// recently is how far back the home page looks for what assistants did where nobody has visited before, mostDeeds
	// how many it shows.
	recently  = 7 * 24 * time.Hour
	mostDeeds = 10
)

// homeContent is the content of the home page.
type homeContent struct {
	agenda
	Invitations []invitation
	// Proposals are other times that guests would rather have for events of the visitor's, UnreadProposals how many
	// messages about such are too long to be shown.
	Proposals       []proposal
	UnreadProposals int
	// Unverified are invitations by mail that were not followed.
	Unverified []unverified
	// Deeds are the latest changes by assistants; MoreDeeds tells that there are others in the journal.
	Deeds     []change
	MoreDeeds bool
	// Since is when the visit before this one ended, "" where there was none.
	Since string
	// WebhooksOff are those that were turned off since nothing arrived.
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

// deeds are the latest changes by assistants since a time: every change by a token.
func (v *visit) deeds(c clock, since time.Time) (list []change, more bool, err error) {
	found, err := v.Service.History(v.r.Context(), v.caller(), calendar.HistoryQuery{Since: since, Limit: journalPage, Described: true})
	if err != nil {
		return nil, false, err
	}
	by := slices.DeleteFunc(found.Changes, func(one calendar.Change) bool { return one.Token == "" })
	more = len(by) > mostDeeds || found.Cursor != ""
	return v.changes(c, by[:min(len(by), mostDeeds)]), more, nil
}
