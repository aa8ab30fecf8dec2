package web

import (
	"net/url"

	"caldav-mcp-server/calendar"
)

func (h *Handler) journalPages() []page {
	return []page{
		get("journal", people, (*visit).journal),
		get("journal/{change}", people, (*visit).oneChange),
		postBack("undo", people, "journal", (*visit).undo),
		postBack("journal/undo", people, "journal", (*visit).undoSince),
	}
}

// journalPage is how many changes a page shows.
const journalPage = 30

// change is a change as a page shows it.
type change struct {
	ID, When string
	// By is the user who did it, With the app or the assistant that they did it with.
	By, With, Text string
	In             swatch
	// Undone tells that it was taken back since, Undoable that it may be.
	Undone, Undoable bool
	// Compared tells that it has a page with all that it did.
	Compared bool
}

// changes shows changes of the journal.
func (v *visit) changes(c clock, found []calendar.Change) []change {
	var list []change
	for _, one := range found {
		list = append(list, change{
			ID: one.ID().String(), When: c.Ago(one.At), By: excerpt(one.UserName), With: excerpt(one.Agent),
			Text: sentenceCase(one.Describe(c.zone.Location(), quoted)), In: swatchOf(one.In),
			Compared: one.Did == calendar.Modified && one.Subject() != calendar.AboutShare && !one.Forgotten(),
			Undone:   one.UndoneBy > 0, Undoable: one.UndoneBy == 0 && !one.Forgotten() && !one.Did.Answers(),
		})
	}
	return list
}

// quoted sets apart people's own words.
func quoted(text string) string { return "“" + excerpt(text) + "”" }

// journalContent is the content of the page of changes.
type journalContent struct {
	Changes []change
	// Calendar and App are its restrictions.
	Calendar calendar.CalendarID
	App      calendar.TokenID
	// Calendars and Apps are the restrictions to choose from.
	Calendars []calendar.Calendar
	Apps      []app
	// Next is the address of the page after this one.
	Next string
}

func (v *visit) journal() error {
	query := v.r.URL.Query()
	content := journalContent{Calendar: calendar.CalendarID(query.Get("calendar")), App: calendar.TokenID(query.Get("app"))}
	found, err := v.Service.History(v.r.Context(), v.caller(), calendar.HistoryQuery{
		Calendar: content.Calendar, Token: content.App, Limit: journalPage, Cursor: query.Get("after"), Described: true,
	})
	if err != nil {
		return err
	}
	content.Changes = v.changes(v.clock(), found.Changes)
	if found.Cursor != "" {
		content.Next = "journal?" + url.Values{
			"calendar": {string(content.Calendar)}, "app": {string(content.App)}, "after": {found.Cursor},
		}.Encode()
	}
	if content.Calendars, err = v.Service.Calendars(v.r.Context(), v.caller()); err != nil {
		return err
	}
	if content.Apps, err = v.apps(); err != nil {
		return err
	}
	return v.show("journal", content)
}

const (
	// longestDeed bounds each text that a change's page shows, mostTold the page.
	longestDeed, mostTold = 1000, 24 << 10
)

// changeContent is the content of the page of one change.
type changeContent struct {
	Changes []change
	// Deeds are what it did, one by one; More counts those that there is no room for.
	Deeds []string
	More  int
}

// oneChange shows what one change did: each field as it was and as it became.
func (v *visit) oneChange() error {
	id, err := calendar.ParseChangeID(v.r.PathValue("change"))
	if err != nil {
		return err
	}
	found, err := v.Service.Change(v.r.Context(), v.caller(), id)
	if err != nil {
		return err
	}
	c := v.clock()
	deeds := found.Deeds(c.zone.Location(), func(text string) string { return "“" + within(text, longestDeed) + "”" })
	found.Before, found.After = nil, nil // the deeds follow its line, which need not name some of them as well
	content := changeContent{Changes: v.changes(c, []calendar.Change{found})}
	content.Changes[0].Compared = false
	for room := mostTold; len(content.Deeds) < len(deeds) && room > 0; {
		deed := within(deeds[len(content.Deeds)], 3*longestDeed)
		content.Deeds, room = append(content.Deeds, sentenceCase(deed)), room-len(deed)
	}
	content.More = len(deeds) - len(content.Deeds)
	return v.show("change", content)
}

// undo takes one change back, with all that was done together with it.
func (v *visit) undo() error {
	id, err := calendar.ParseChangeID(v.field("change"))
	if err != nil {
		return err
	}
	undone, err := v.Service.Undo(v.r.Context(), v.caller(), id)
	if err != nil {
		return err
	}
	return v.tellUndone(undone)
}

// undoSince takes back all that an app did from a change of its own on. Later changes by others stay.
func (v *visit) undoSince() error {
	id, err := calendar.ParseChangeID(v.field("change"))
	if err != nil {
		return err
	}
	first, err := v.Service.Change(v.r.Context(), v.caller(), id)
	if err != nil {
		return err
	}
	if first.Token == "" {
		return calendar.Errorf(calendar.Invalid, "", "only what an app or an assistant did with a token of its own can be taken back from there on")
	}
	undone, err := v.Service.UndoSince(v.r.Context(), v.caller(), calendar.UndoSince{Token: first.Token, At: first.At, LeaveChanged: true})
	if err != nil {
		return err
	}
	return v.tellUndone(undone)
}

// tellUndone shows the outcome of an undo: on the page it was asked from when all went well, and else with the reasons.
func (v *visit) tellUndone(undone calendar.Undone) error {
	if len(undone.Left) == 0 {
		return v.done(v.next(), "undone")
	}
	var content undoneContent
	content.Back, content.Steps = v.next(), len(undone.Steps)
	for _, left := range undone.Left[:min(len(undone.Left), journalPage)] {
		content.Left = append(content.Left, sentence(left.Why()))
	}
	content.More = len(undone.Left) - len(content.Left)
	return v.show("undone", content)
}

// undoneContent lists the changes that could not be taken back.
type undoneContent struct {
	Back        string
	Steps, More int
	Left        []string
}
