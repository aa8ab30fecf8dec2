package web

import (
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/web/planner"
)

func (h *Handler) homePages() []page {
	return []page{
		get("{$}", people, showing("home", homePages.home)),
		post("proposals/{message}", people, proposalPages.decideProposal),
		post("unverified/{name}", people, unverifiedPages.dismissUnverified),
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
	// Zone is the visitor's time zone.
	Zone        string
	Invitations []invitation
	// Waiting are events that wait for the visitor's answer; MoreWaiting counts the ones beyond the list.
	Waiting     []planner.Invitation
	MoreWaiting int
	// Proposals are new times that guests propose for the visitor's events. UnreadProposals counts such messages that
	// are too long to show.
	Proposals       []proposal
	UnreadProposals int
	// Suggestions are the changes that assistants propose.
	Suggestions []suggestion
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

// homePages are the home page: agenda, tasks, invitations, and recent changes by assistants.
type homePages struct{ *pageRequest }

func (p homePages) home() (content homeContent, err error) {
	c := p.clock()
	content.Zone = c.zone.Name()
	if content.agenda, err = p.agenda(c); err != nil {
		return content, err
	}
	if content.Invitations, err = invitationPages(p).invitations(); err != nil {
		return content, err
	}
	pl, end, err := p.planner()
	if err != nil {
		return content, err
	}
	defer end()
	if content.Waiting, content.MoreWaiting, err = pl.Invitations(p.r.Context()); err != nil {
		return content, err
	}
	if content.Proposals, content.UnreadProposals, err = proposalPages(p).proposals(c); err != nil {
		return content, err
	}
	if content.Unverified, err = unverifiedPages(p).unverified(c); err != nil {
		return content, err
	}
	if content.Suggestions, err = suggestionPages(p).open(); err != nil {
		return content, err
	}
	since, err := p.lastVisit()
	if err != nil {
		return content, err
	}
	if since.IsZero() {
		since = c.now.Add(-recently)
	} else {
		content.Since = c.Moment(since)
	}
	if content.Deeds, content.MoreDeeds, err = p.deeds(c, since); err != nil {
		return content, err
	}
	content.WebhooksOff, err = webhookPages(p).webhooksOff()
	return content, err
}

// deeds returns the latest changes made through MCP since a time.
func (p homePages) deeds(c clock, since time.Time) (list []change, more bool, err error) {
	found, err := p.Service.History(p.r.Context(), p.caller(), calendar.HistoryQuery{
		Since: since, Assistant: true, Limit: mostDeeds, Described: true,
	})
	if err != nil {
		return nil, false, err
	}
	return p.changes(c, found.Changes), found.Cursor != "", nil
}
