package booking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/grid"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
)

// refusals are the errors for visitors as programs see them.
var refusals = []struct {
	err    error
	status int
	rules.RequestError
}{
	{ErrMissing, http.StatusNotFound, rules.RequestError{
		Code: "missing", Message: "there is no such page, hold or code",
	}},
	{ErrTaken, http.StatusConflict, rules.RequestError{
		Code: "taken", Message: "this time is not offered, or not any more: ask for the times again",
	}},
	{ErrExpired, http.StatusGone, rules.RequestError{
		Code: "expired", Message: "the hold has expired: choose a time again",
	}},
	{ErrLimit, http.StatusTooManyRequests, rules.RequestError{
		Code: "limit", Message: "too many times were chosen for this page, address or network: try again tomorrow",
	}},
	{ErrPace, http.StatusTooManyRequests, rules.RequestError{
		Code: "rate_limited", Message: "too many requests from this network: wait as long as Retry-After says",
	}},
	{ErrUnread, http.StatusServiceUnavailable, rules.RequestError{
		Code: "unchecked", Message: "a calendar cannot be checked at the moment: try again in a few minutes",
	}},
	{ErrUnwritten, http.StatusServiceUnavailable, rules.RequestError{
		Code: "unwritten", Message: "the calendar did not take this, so nothing has changed: try again later",
	}},
	{ErrUnsent, http.StatusBadGateway, rules.RequestError{
		Code: "unsent", Message: "the mail with the link could not be sent: check the address, or try again later",
	}},
	{ErrAddress, http.StatusUnprocessableEntity, rules.RequestError{
		Code: "address", Message: "address must be a mail address of the visitor",
	}},
	{ErrName, http.StatusUnprocessableEntity, rules.RequestError{
		Code: "name", Message: "name must have 1 to " + strconv.Itoa(longestName) + " characters",
	}},
	{ErrAnswer, http.StatusUnprocessableEntity, rules.RequestError{
		Code: "answers", Message: "answers must have one text for each of the page's questions, in their order, " +
			"of at most " + strconv.Itoa(rules.LongestAnswer) + " characters; only required ones must not be empty",
	}},
}

// Refused returns the error of a request as a program sees it, with its HTTP status. All others are internal: their
// text may be for the owner.
func (s *Service) Refused(ctx context.Context, err error) (status int, refused *rules.RequestError) {
	if wrong, ok := errors.AsType[*rules.RequestError](err); ok {
		return http.StatusUnprocessableEntity, wrong
	}
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return r.status, &r.RequestError
		}
	}
	if calendar.ReasonOf(err) == calendar.Unavailable {
		return http.StatusServiceUnavailable, &rules.RequestError{
			Code: "busy", Message: "the server is busy: try again in a few seconds",
		}
	}
	if ctx.Err() == nil {
		s.Logger.ErrorContext(ctx, "a request of a booking page failed", "error", err)
	}
	return http.StatusInternalServerError, &rules.RequestError{
		Code: "internal", Message: "the server failed: try again later",
	}
}

// wrongField is the error for a field of a program's request.
func wrongField(code, message string) error { return &rules.RequestError{Code: code, Message: message} }

// zoneOf returns a zone by its name, or the owner's.
func zoneOf(v View, name string) (*zone.Zone, error) {
	if name == "" {
		return v.Zone, nil
	}
	z, err := zone.Lookup(name)
	if err != nil {
		return nil, wrongField("timezone", "timezone must be an IANA name, such as Europe/Berlin")
	}
	return z, nil
}

// Listing returns a page with its free times.
func (s *Service) Listing(ctx context.Context, p rules.Visitor, r rules.Range) (list rules.Listing, err error) {
	v, err := s.Open(ctx, p.Page, p.SignedIn)
	if err != nil {
		return list, err
	}
	z, err := zoneOf(v, r.Timezone)
	if err != nil {
		return list, err
	}
	q := Query{Minutes: cmp.Or(r.Minutes, v.Minutes[0]), Zone: z.Location(), From: s.Now()}
	if !v.has(q.Minutes) {
		return list, wrongField("minutes", "minutes must be a length of the page")
	}
	if r.From != "" {
		if q.From, err = time.ParseInLocation(time.DateOnly, r.From, q.Zone); err != nil {
			return list, wrongField("from", "from must be a date, such as 2026-03-01")
		}
	}
	days := cmp.Or(r.Days, rules.DefaultDays)
	if days < 1 || days > rules.MostDays {
		return list, wrongField("days", "days must be 1 to "+strconv.Itoa(rules.MostDays))
	}
	from := grid.Midnight(latest(q.From, s.Now().In(q.Zone)), 0)
	found, next, err := s.times(ctx, v, q, from, grid.Midnight(from, days))
	if err != nil {
		return list, err
	}
	list = rules.Listing{Page: s.card(v), Minutes: q.Minutes, Timezone: z.Name(), Times: []rules.Time{}}
	for i, one := range found {
		if i >= rules.MostTimes {
			list.More = found[i].Start.In(q.Zone).Format(time.DateOnly)
			break
		}
		list.Times = append(list.Times, timeOf(one, q.Zone))
	}
	if len(next) > 0 {
		list.Next = new(timeOf(next[0], q.Zone))
	}
	return list, nil
}

func timeOf(one slot.Slot, in *time.Location) rules.Time {
	return rules.Time{Start: one.Start.In(in).Format(time.RFC3339), End: one.End.In(in).Format(time.RFC3339)}
}

// card describes a page.
func (s *Service) card(v View) rules.Card {
	var people []string
	if v.Together == rules.AllOfUs {
		people = v.names()
	}
	return rules.Card{
		People: people,
		Title:  v.Title, Text: v.Text, Owner: v.Owner.Title(), Location: v.Place(), Lengths: v.Minutes,
		Questions: v.Questions, Notice: v.NoticeHours, Ahead: v.HorizonDays, Address: s.Address(v),
		MCP: s.assistants(v),
	}
}

// assistants returns the address of a page's MCP endpoint. A page for users has none: assistants are not signed in
// there.
func (s *Service) assistants(v View) string {
	if s.MCP == nil || v.Access == rules.Users {
		return ""
	}
	at := *s.MCP
	at.RawQuery = url.Values{rules.PageParameter: {v.Name}}.Encode()
	return at.String()
}

// Reserve holds a time for a visitor, who gets the link that confirms it by mail. The program gets nothing that
// confirms it.
func (s *Service) Reserve(ctx context.Context, p rules.Visitor, r rules.Request) (rules.Receipt, error) {
	v, err := s.Open(ctx, p.Page, p.SignedIn)
	if err != nil {
		return rules.Receipt{}, err
	}
	z, err := zoneOf(v, r.Timezone)
	if err != nil {
		return rules.Receipt{}, err
	}
	start, err := time.Parse(time.RFC3339, r.Start)
	if err != nil {
		return rules.Receipt{}, wrongField("start", "start must be a free time in the form of RFC 3339")
	}
	w := Wish{
		Start: start, Minutes: cmp.Or(r.Minutes, v.Minutes[0]), Name: r.Name, Address: r.Address, Answers: r.Answers,
		Zone: z.Name(), Network: p.Network, Language: locale.Match(r.Language, p.Language, v.Language),
	}
	if len(w.Answers) == 0 {
		w.Answers = make([]string, len(v.Questions)) // valid unless one is required
	}
	h, err := s.hold(ctx, v, w)
	return receiptOf(Booking{Hold: h, View: v, Keeper: v.keeper(h)}), err
}

// Receipt returns the state of a hold of the page.
func (s *Service) Receipt(ctx context.Context, p rules.Visitor, hold string) (rules.Receipt, error) {
	v, err := s.Open(ctx, p.Page, p.SignedIn)
	if err != nil {
		return rules.Receipt{}, err
	}
	h, err := s.Store.HoldByID(ctx, calendar.HoldID(hold))
	if err == nil && h.Page != v.ID {
		err = ErrMissing
	}
	b, err := s.current(ctx, h, err)
	if errors.Is(err, ErrExpired) {
		b.State, err = calendar.Ended, nil
	}
	return receiptOf(b), err
}

// ConfirmCode books a held time with the code of the mailed link, or with the link itself.
func (s *Service) ConfirmCode(ctx context.Context, p rules.Visitor, code string) (rules.Receipt, error) {
	v, err := s.Open(ctx, p.Page, p.SignedIn)
	if err != nil {
		return rules.Receipt{}, err
	}
	code = strings.TrimSpace(code)
	code, _, _ = strings.Cut(code[strings.LastIndex(code, "/")+1:], "?")
	b, err := s.Find(ctx, code)
	if b.Page != v.ID && b.Page != "" {
		return rules.Receipt{}, ErrMissing
	}
	if err == nil {
		b, err = s.Confirm(ctx, code)
	}
	return receiptOf(b), err
}

// states are the words for the states of a hold.
var states = map[calendar.HoldState]string{
	calendar.Held: "held", calendar.Reserved: "held", calendar.Booked: "booked",
	calendar.Released: "cancelled", calendar.Ended: "expired",
}

func receiptOf(b Booking) rules.Receipt {
	in, err := time.LoadLocation(b.Zone)
	if err != nil {
		in = time.UTC
	}
	r := rules.Receipt{Hold: string(b.ID), State: states[b.State], Title: b.View.Title, With: b.With()}
	t := timeOf(slot.Slot{Start: b.Start, End: b.End}, in)
	r.Start, r.End = t.Start, t.End
	if b.State == calendar.Held {
		r.Expires = b.Expires.In(in).Format(time.RFC3339)
	}
	return r
}

// The JSON API of a page. Its addresses are below the page's own.
const (
	TimesPath = "api/times"
	HoldsPath = "api/holds"
)

// ServeTimes answers with the free times of a page.
func (s *Service) ServeTimes(w http.ResponseWriter, r *http.Request, p rules.Visitor) {
	q := r.URL.Query()
	asked := rules.Range{Timezone: q.Get("timezone"), From: q.Get("from")}
	for _, n := range []struct {
		name string
		to   *int
	}{{"minutes", &asked.Minutes}, {"days", &asked.Days}} {
		var err error
		if text := q.Get(n.name); text != "" {
			if *n.to, err = strconv.Atoi(text); err != nil || *n.to < 1 {
				s.send(w, r, nil, wrongField(n.name, n.name+" must be a positive number"))
				return
			}
		}
	}
	list, err := s.Listing(r.Context(), p, asked)
	s.send(w, r, list, err)
}

// ServeHold holds a time.
func (s *Service) ServeHold(w http.ResponseWriter, r *http.Request, p rules.Visitor) {
	var asked rules.Request
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil {
		s.send(w, r, nil, wrongField("body", "the body must be a JSON object of the documented fields"))
		return
	}
	receipt, err := s.Reserve(r.Context(), p, asked)
	s.send(w, r, receipt, err)
}

// ServeReceipt answers with the state of a hold.
func (s *Service) ServeReceipt(w http.ResponseWriter, r *http.Request, p rules.Visitor, hold string) {
	receipt, err := s.Receipt(r.Context(), p, hold)
	s.send(w, r, receipt, err)
}

// ServeError answers a program with an error.
func (s *Service) ServeError(w http.ResponseWriter, r *http.Request, err error) {
	s.send(w, r, nil, err)
}

// send writes a result or an error.
func (s *Service) send(w http.ResponseWriter, r *http.Request, result any, err error) {
	status := http.StatusOK
	if err != nil {
		var refused *rules.RequestError
		status, refused = s.Refused(r.Context(), err)
		result = map[string]*rules.RequestError{"error": refused}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(result) // the client may have gone
}

// Markup describes a page in the words of schema.org, for search engines and assistants.
func (s *Service) Markup(v View) map[string]any {
	m := map[string]any{
		"@context": "https://schema.org", "@type": "Service", "name": v.Title, "url": s.Address(v),
		"provider": map[string]any{"@type": "Person", "name": v.Owner.Title()},
		"potentialAction": map[string]any{
			"@type": "ReserveAction", "name": v.Title,
			"target": map[string]any{"@type": "EntryPoint", "urlTemplate": s.Address(v), "httpMethod": http.MethodGet},
			"result": map[string]any{"@type": "Reservation", "name": v.Title},
		},
	}
	if v.Text != "" {
		m["description"] = v.Text
	}
	if at := v.Place(); at != "" {
		m["areaServed"] = map[string]any{"@type": "Place", "name": at}
	}
	return m
}
