package web

import (
	"errors"
	"net/url"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
)

func (h *Handler) journalPages() []page {
	return []page{
		get("journal", people, journalPages.journal),
		get("journal/{change}", people, journalPages.oneChange),
		postBack("undo", people, "journal", journalPages.undo),
		postBack("journal/undo", people, "journal", journalPages.undoSince),
	}
}

// journalPage is the number of changes per page.
const journalPage = 30

// change is a journal entry on a page.
type change struct {
	ID, When string
	// By is the user, With the app or assistant that they used.
	By, With, Text string
	In             swatch
	// Undone is set if it has been undone, Undoable if it can be.
	Undone, Undoable bool
	// Compared is set if it has a page with all details.
	Compared bool
}

// changes converts journal entries for a page.
func (p *pageRequest) changes(c clock, found []calendar.Change) []change {
	var list []change
	wording := c.wording(excerpt)
	for _, one := range found {
		list = append(list, change{
			ID: one.ID().String(), When: c.Ago(one.At), By: excerpt(wording.By(one)), With: excerpt(one.Agent),
			Text: sentenceCase(wording.Change(one)), In: swatchOf(one.In),
			Compared: one.Did == calendar.Modified && one.Subject() != calendar.AboutShare && !one.Forgotten(),
			Undone:   one.UndoneBy > 0, Undoable: one.UndoneBy == 0 && !one.Forgotten() && !one.Did.Answers(),
		})
	}
	return list
}

// wording describes changes. Short limits the texts that users wrote.
func (c clock) wording(short func(string) string) describe.Wording {
	return describe.For(c.lang, c.cycle, c.zone.Location(), short)
}

// atLength limits a text where there is room for details.
func atLength(text string) string { return within(text, longestDeed) }

// journalContent is the data of the journal page.
type journalContent struct {
	Changes []change
	// Calendar and App are the active filters.
	Calendar calendar.CalendarID
	App      calendar.TokenID
	// Calendars and Apps are the possible filters.
	Calendars []calendar.Calendar
	Apps      []app
	// Next is the address of the next page.
	Next string
}

// journalPages show the journal and undo changes.
type journalPages struct{ *pageRequest }

func (p journalPages) journal() error {
	query := p.r.URL.Query()
	content := journalContent{
		Calendar: calendar.CalendarID(query.Get("calendar")), App: calendar.TokenID(query.Get("app")),
	}
	found, err := p.Service.History(p.r.Context(), p.caller(), calendar.HistoryQuery{
		Calendar: content.Calendar, Token: content.App, Limit: journalPage, Cursor: query.Get("after"), Described: true,
	})
	if err != nil {
		return err
	}
	content.Changes = p.changes(p.clock(), found.Changes)
	if found.Cursor != "" {
		content.Next = "journal?" + url.Values{
			"calendar": {string(content.Calendar)}, "app": {string(content.App)}, "after": {found.Cursor},
		}.Encode()
	}
	if content.Calendars, err = p.Service.Calendars(p.r.Context(), p.caller()); err != nil {
		return err
	}
	if content.Apps, err = appPages(p).apps(); err != nil {
		return err
	}
	return p.show("journal", content)
}

const (
	// longestDeed limits each text on a change's page, mostTold the whole page.
	longestDeed, mostTold = 1000, 24 << 10
)

// changeContent is the data of the page of one change.
type changeContent struct {
	Changes []change
	// Deeds are its details; More counts the ones that did not fit.
	Deeds []string
	More  int
}

// oneChange shows the details of a change: each field before and after.
func (p journalPages) oneChange() error {
	id, err := calendar.ParseChangeID(p.r.PathValue("change"))
	if err != nil {
		return err
	}
	found, err := p.Service.Change(p.r.Context(), p.caller(), id)
	if err != nil {
		return err
	}
	c := p.clock()
	deeds := c.wording(atLength).Details(found)
	found.Before, found.After = nil, nil // the details follow the line, which need not name some of them as well
	content := changeContent{Changes: p.changes(c, []calendar.Change{found})}
	content.Changes[0].Compared = false
	for room := mostTold; len(content.Deeds) < len(deeds) && room > 0; {
		deed := within(deeds[len(content.Deeds)], 3*longestDeed)
		content.Deeds, room = append(content.Deeds, sentenceCase(deed)), room-len(deed)
	}
	content.More = len(deeds) - len(content.Deeds)
	return p.show("change", content)
}

// askUndoContent is the data of the question before several changes are undone.
type askUndoContent struct {
	ID, Text string
	// Next is the page to show afterwards, Back its address.
	Next, Back string
	Count      int
}

// undo undoes a change and everything that was done together with it. A form that names only one change asks first.
func (p journalPages) undo() error {
	id, err := calendar.ParseChangeID(p.field("change"))
	if err != nil {
		return err
	}
	if p.field("ask") != "" {
		count, err := p.Service.Together(p.r.Context(), p.caller(), id)
		if err != nil {
			return err
		}
		if count > 1 {
			found, err := p.Service.Change(p.r.Context(), p.caller(), id)
			if err != nil {
				return err
			}
			text := p.changes(p.clock(), []calendar.Change{found})[0].Text
			return p.show("askundo", askUndoContent{id.String(), text, p.next(), p.href(p.next()), count})
		}
	}
	undone, err := p.Service.Undo(p.r.Context(), p.caller(), id)
	known, ok := errors.AsType[*calendar.Error](err)
	switch {
	case ok && known.Reason == calendar.Stale && len(known.Left) == 0:
		return p.failed(calendar.Stale, "error.undo-nothing")
	case err != nil:
		return err
	}
	return p.tellUndone(undone)
}

// undoSince undoes all changes of an app from a given one on. Later changes by others stay.
func (p journalPages) undoSince() error {
	id, err := calendar.ParseChangeID(p.field("change"))
	if err != nil {
		return err
	}
	first, err := p.Service.Change(p.r.Context(), p.caller(), id)
	if err != nil {
		return err
	}
	if first.Token == "" {
		return p.wrong("error.undo-since")
	}
	undone, err := p.Service.UndoSince(p.r.Context(), p.caller(), calendar.UndoSince{
		Token: first.Token, At: first.At, LeaveChanged: true,
	})
	if calendar.ReasonOf(err) == calendar.NotFound {
		return p.failed(calendar.NotFound, "error.undo-nothing")
	}
	if err != nil {
		return err
	}
	return p.tellUndone(undone)
}

// tellUndone shows the outcome of an undo: on the page of the request if all went well, otherwise with the reasons.
func (p journalPages) tellUndone(undone calendar.Undone) error {
	if len(undone.Left) == 0 {
		return p.done(p.next(), "undone")
	}
	var content undoneContent
	content.Back, content.Steps = p.next(), len(undone.Steps)
	for _, left := range undone.Left[:min(len(undone.Left), journalPage)] {
		content.Left = append(content.Left, sentence(p.clock().wording(excerpt).Left(left)))
	}
	content.More = len(undone.Left) - len(content.Left)
	return p.show("undone", content)
}

// undoneContent lists the changes that could not be undone.
type undoneContent struct {
	Back        string
	Steps, More int
	Left        []string
}
