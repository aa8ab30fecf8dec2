package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/slot"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/web/booking"
	"caldav-mcp-server/web/outside"
)

const (
	// BookPath is the path of the pages for visitors, below the path of BASE_URL.
	BookPath = "/book/"
	bookRoot = BookPath
	// linkRoot is the path of the links in mails.
	linkRoot = bookRoot + booking.LinkPath + "/"
)

func (h *Handler) bookingPages() []page {
	pages := []page{get("booking", people, showing("bookings", bookingPages.list))}
	if h.Bookings == nil {
		return pages
	}
	return append(pages,
		get("booking/{page}", people, showing("bookingpage", bookingPages.one)),
		post("booking/{page}", people, bookingPages.change),
		post("booking", people, bookingPages.answer),
		get(bookRoot+"{name}", anybody, paced(visitorPages.page)),
		post(bookRoot+"{name}", anybody, paced(visitorPages.hold)),
		get(bookRoot+"{name}/"+booking.TimesPath, anybody, paced(visitorPages.apiTimes)),
		post(bookRoot+"{name}/"+booking.HoldsPath, anybody, paced(visitorPages.apiHold)),
		get(bookRoot+"{name}/"+booking.HoldsPath+"/{hold}", anybody, paced(visitorPages.apiState)),
		get(linkRoot+"{token}", anybody, paced(visitorPages.link)),
		post(linkRoot+"{token}", anybody, paced(visitorPages.act)),
	)
}

// visitRate limits the requests of a network for booking pages: each may read a month of a calendar. visitorsMost
// limits the networks that are counted.
var visitRate = auth.Rate{Burst: 300, Every: time.Minute / 300}

const visitorsMost = 10_000

// paced serves a page unless the visitor's network makes too many requests.
func paced(serve func(visitorPages) error) func(visitorPages) error {
	return func(p visitorPages) error {
		wait := p.visits.Take(p.ClientAddr(p.r))
		if wait <= 0 {
			return serve(p)
		}
		throttled := &auth.ThrottledError{RetryAfter: wait}
		p.w.Header().Set("Retry-After", strconv.Itoa(throttled.Seconds()))
		if strings.Contains(p.r.URL.Path, "/api/") {
			p.Bookings.ServeError(p.w, p.r, booking.ErrPace)
			return nil
		}
		p.refuse(http.StatusTooManyRequests, p.lang.Text("booking.pace", "seconds", throttled.Seconds()))
		return nil
	}
}

// visitorPages are for people who choose a time with a user.
type visitorPages struct{ *pageRequest }

// visitTexts are the ids of the texts of errors.
var visitTexts = map[error]string{
	booking.ErrTaken: "booking.taken", booking.ErrExpired: "booking.expired", booking.ErrLimit: "booking.limit",
	booking.ErrUnread: "booking.unread", booking.ErrUnwritten: "booking.unwritten",
	booking.ErrUnsent: "booking.unsent", booking.ErrAddress: "booking.bad-address",
	booking.ErrName: "booking.bad-name", booking.ErrAnswer: "booking.bad-answer",
}

// problem returns an error with a text for the visitor.
func (p visitorPages) problem(err error) error {
	if errors.Is(err, booking.ErrMissing) {
		return errMissing()
	}
	for one, id := range visitTexts {
		if errors.Is(err, one) {
			return p.wrong(id)
		}
	}
	if calendar.ReasonOf(err) == calendar.Unavailable || p.r.Context().Err() != nil {
		return err
	}
	// Messages for the owner must not reach strangers.
	return fmt.Errorf("a booking page: %v", err) //nolint:errorlint // see above
}

// bookContent is the data of the page with free times.
type bookContent struct {
	booking.View
	booking.Week
	Lengths []choice
	Places  []string
	// Zone is the name of the visitor's zone, Minutes the chosen length.
	Zone    string
	Minutes int
	// With names the people whom the visitor meets.
	With string
	// Path is the page's own address, Token the visitor's link while a booking is moved.
	Path, Token string
	// Chosen is the chosen time in words, Start in UTC. With it, the page shows the form.
	Chosen, Start string
	// Name and Address fill the form.
	Name, Address string
	// Sent is the address that the link was sent to.
	Sent string
	// Markup describes the page for programs.
	Markup map[string]any
}

// To returns the address of the page with a parameter changed.
func (c bookContent) To(name, value string) string {
	q := url.Values{"minutes": {strconv.Itoa(c.Minutes)}, "zone": {c.Zone}, name: {value}}
	if c.Token != "" {
		q.Set("move", "1")
	}
	return c.Path + "?" + q.Encode()
}

// open returns the page that the address names. Its language is the browser's, else the page's.
func (p visitorPages) open() (c bookContent, err error) {
	c.View, err = p.Bookings.Open(p.r.Context(), p.r.PathValue("name"), p.signedIn())
	if err != nil {
		return c, p.problem(err)
	}
	p.adapt(c.View)
	c.Path, c.Markup, c.With = p.href(bookRoot+c.View.Name), p.Bookings.Markup(c.View), c.View.With()
	if p.signedIn() {
		c.Name, c.Address = p.user().Title(), p.user().Email
	}
	return c, nil
}

// adapt sets the language of a page, and keeps pages with a secret address out of search engines.
func (p visitorPages) adapt(v booking.View) {
	if !p.signedIn() || p.user().Language == "" {
		p.lang = p.languages.Match(p.r.Header.Get("Accept-Language"), v.Language)
	}
	if v.Access != rules.Public {
		p.w.Header().Set("X-Robots-Tag", "noindex")
	}
	p.w.Header().Add("Vary", "Accept-Language")
}

// choose reads the visitor's choice of length, zone and day.
func (p visitorPages) choose(c *bookContent, fixed int) (q booking.Query, err error) {
	q.Minutes, _ = strconv.Atoi(p.r.FormValue("minutes")) // without a number it is the first
	if fixed > 0 {
		q.Minutes = fixed
	} else if !slices.Contains(c.View.Minutes, q.Minutes) {
		q.Minutes = c.View.Minutes[0]
	}
	z := c.View.Zone
	name := strings.TrimSpace(p.r.FormValue("zone"))
	if name == "" && p.signedIn() {
		name = p.user().Timezone
	}
	if name != "" {
		if z, err = zone.Lookup(name); err != nil {
			z, err = c.View.Zone, p.wrong("planner.bad-zone", "zone", excerpt(name))
		}
	}
	q.Zone = z.Location()
	q.From = p.Now()
	if day, bad := time.ParseInLocation(time.DateOnly, p.r.FormValue("from"), q.Zone); bad == nil {
		q.From = day.Add(12 * time.Hour)
	}
	c.Minutes, c.Zone, c.Places = q.Minutes, z.Name(), zone.Places()
	for _, m := range c.View.Minutes {
		c.Lengths = append(c.Lengths, choice{
			strconv.Itoa(m), p.lang.Duration(time.Duration(m) * time.Minute), m == q.Minutes,
		})
	}
	return q, err
}

// program returns the visitor as their program.
func (p visitorPages) program() rules.Visitor {
	return rules.Visitor{
		Page: p.r.PathValue("name"), SignedIn: p.signedIn(), Network: outside.Network(p.ClientAddr(p.r)),
		Language: p.lang.Tag(),
	}
}

// apiTimes, apiHold and apiState are the JSON API of a page.
func (p visitorPages) apiTimes() error {
	p.Bookings.ServeTimes(p.w, p.r, p.program())
	return nil
}

func (p visitorPages) apiHold() error {
	p.Bookings.ServeHold(p.w, p.r, p.program())
	return nil
}

func (p visitorPages) apiState() error {
	p.Bookings.ServeReceipt(p.w, p.r, p.program(), p.r.PathValue("hold"))
	return nil
}

// page shows the free times, or the form for a chosen time.
func (p visitorPages) page() error {
	c, err := p.open()
	if err != nil {
		return err
	}
	q, err := p.choose(&c, 0)
	if err != nil {
		return p.times(c, q, err)
	}
	if start, err := time.Parse(time.RFC3339, p.r.FormValue("start")); err == nil {
		c.Start, c.Chosen = start.UTC().Format(time.RFC3339), outside.When(p.lang, start, q.Zone, "")
		return p.show("bookform", c)
	}
	return p.times(c, q, nil)
}

// times shows the free times, with an error if there is one.
func (p visitorPages) times(c bookContent, q booking.Query, wrong error) (err error) {
	if c.Week, err = p.Bookings.Week(p.r.Context(), c.View, q, p.lang); err != nil {
		return p.problem(err)
	}
	if wrong == nil {
		return p.show("book", c)
	}
	status, text := p.explain(wrong)
	return p.write(status, "book", c, text)
}

// hold holds the chosen time and mails the link.
func (p visitorPages) hold() error {
	c, err := p.open()
	if err != nil {
		return err
	}
	q, err := p.choose(&c, 0)
	start, bad := time.Parse(time.RFC3339, p.field("start"))
	// The page may have lost the length since the visitor chose it.
	if err != nil || bad != nil || p.field("minutes") != strconv.Itoa(q.Minutes) {
		return p.times(c, q, cmp.Or(err, p.wrong("booking.taken")))
	}
	w := booking.Wish{
		Start: start, Minutes: q.Minutes, Name: p.field("name"), Address: p.field("address"), Zone: c.Zone,
		Network: outside.Network(p.ClientAddr(p.r)), Language: p.lang,
	}
	for i := range c.Questions {
		w.Answers = append(w.Answers, p.field("answer-"+strconv.Itoa(i)))
	}
	err = p.Bookings.Hold(p.r.Context(), c.View, w)
	c.Start, c.Chosen = start.UTC().Format(time.RFC3339), outside.When(p.lang, start, q.Zone, "")
	switch {
	case errors.Is(err, booking.ErrTaken):
		q.From = start
		return p.times(c, q, p.problem(err))
	case err != nil:
		return p.again("bookform", c, p.problem(err))
	}
	c.Sent = w.Address
	return p.write(http.StatusOK, "booksent", c, "")
}

// bookedContent is the data of the page of a link.
type bookedContent struct {
	booking.Booking
	When, Path, Place string
}

// Upcoming reports whether the booking can be moved or cancelled.
func (c bookedContent) Upcoming() bool { return c.State == calendar.Booked }

// Open reports whether the booking waits for its confirmation.
func (c bookedContent) Open() bool { return c.State == calendar.Held || c.State == calendar.Reserved }

func (p visitorPages) bookedContent(b booking.Booking) bookedContent {
	in, err := time.LoadLocation(b.Zone)
	if err != nil {
		in = b.View.Zone.Location()
	}
	return bookedContent{
		b, outside.When(p.lang, b.Start, in, ""), p.href(linkRoot + p.r.PathValue("token")), b.View.Place(),
	}
}

// link shows a hold or a booking. It changes nothing, because virus scanners open links.
func (p visitorPages) link() error {
	p.w.Header().Set("X-Robots-Tag", "noindex")
	b, err := p.Bookings.Find(p.r.Context(), p.r.PathValue("token"))
	if errors.Is(err, booking.ErrExpired) {
		return p.offerAgain(b, err)
	}
	if err != nil {
		return p.problem(err)
	}
	p.adapt(b.View)
	if p.r.FormValue("move") != "" && b.State == calendar.Booked {
		return p.moveTimes(b, nil)
	}
	return p.show("booked", p.bookedContent(b))
}

// moveTimes shows the free times for a booking that is moved.
func (p visitorPages) moveTimes(b booking.Booking, wrong error) error {
	c := bookContent{
		View: b.View, With: b.With(), Token: p.r.PathValue("token"), Path: p.href(linkRoot + p.r.PathValue("token")),
	}
	q, err := p.choose(&c, b.Minutes())
	q.Moved, c.Lengths = &b, nil
	return p.times(c, q, cmp.Or(wrong, err))
}

// offerAgain shows the next free times of a page after a hold was lost.
func (p visitorPages) offerAgain(b booking.Booking, lost error) error {
	v, err := p.Bookings.Open(p.r.Context(), b.View.Name, p.signedIn())
	if err != nil {
		return p.problem(lost)
	}
	p.adapt(v)
	c := bookContent{View: v, With: v.With(), Path: p.href(bookRoot + v.Name)}
	q, err := p.choose(&c, 0)
	if err != nil {
		return err
	}
	if slices.Contains(v.Minutes, b.Minutes()) {
		q.Minutes, c.Minutes = b.Minutes(), b.Minutes()
	}
	q.From = b.Start
	return p.times(c, q, p.problem(lost))
}

// act confirms, moves or cancels.
func (p visitorPages) act() error {
	p.w.Header().Set("X-Robots-Tag", "noindex")
	ctx, token := p.r.Context(), p.r.PathValue("token")
	var b booking.Booking
	var err error
	switch p.field("do") {
	case "confirm":
		b, err = p.Bookings.Confirm(ctx, token)
	case "cancel":
		b, err = p.Bookings.Cancel(ctx, token)
	case "move":
		start, bad := time.Parse(time.RFC3339, p.field("start"))
		if bad != nil {
			return errMissing()
		}
		b, err = p.Bookings.Move(ctx, token, start)
	default:
		return errMissing()
	}
	lost := errors.Is(err, booking.ErrTaken) || errors.Is(err, booking.ErrExpired)
	switch {
	case lost && p.field("do") == "move" && b.State == calendar.Booked:
		return p.moveTimes(b, p.problem(err))
	case lost && b.ID != "":
		return p.offerAgain(b, err)
	case err != nil && b.ID != "" && !errors.Is(err, booking.ErrMissing):
		return p.again("booked", p.bookedContent(b), p.problem(err))
	case err != nil:
		return p.problem(err)
	}
	return p.leadTo(linkRoot + token)
}

// bookingPages manage a user's booking pages.
type bookingPages struct{ *pageRequest }

// ownPage is a page in its owner's list.
type ownPage struct {
	booking.View
	Address string
}

// ownBooking is a booking in its owner's list.
type ownBooking struct{ When, Title, Name, Address string }

// bookingsContent is the data of the list.
type bookingsContent struct {
	// Ready is set if the server can mail links.
	Ready bool
	// NoAddress is set if no page can be switched on, because the visitor has no mail address.
	NoAddress bool
	Pages     []ownPage
	Bookings  []ownBooking
	// Included are pages of others that name the user.
	Included []inclusion
}

// inclusion is another user's page in the list.
type inclusion struct {
	booking.Inclusion
	// Meaning has the terms in words, Who says who can open the page. Agreed is set if the user has agreed.
	Meaning, Who string
	Agreed       bool
}

func (p bookingPages) list() (c bookingsContent, err error) {
	if c.Ready = p.Bookings != nil; !c.Ready {
		return c, nil
	}
	c.NoAddress = p.user().Email == ""
	views, err := p.Bookings.Pages(p.r.Context(), p.user())
	if err != nil {
		return c, err
	}
	titles := map[calendar.BookingPageID]string{}
	for _, v := range views {
		titles[v.ID] = v.Title
		c.Pages = append(c.Pages, ownPage{v, p.Bookings.Address(v)})
	}
	held, err := p.Bookings.Bookings(p.r.Context(), p.user())
	for _, h := range held {
		c.Bookings = append(c.Bookings, ownBooking{p.clock().Moment(h.Start), titles[h.Page], h.Name, h.Address})
	}
	if err != nil {
		return c, err
	}
	others, err := p.Bookings.Included(p.r.Context(), p.user())
	for _, one := range others {
		c.Included = append(c.Included, inclusion{
			one, p.lang.Text(booking.TermsText(one.View)), p.lang.Text(accessTexts[one.Access]),
			one.Answer == calendar.Agreed,
		})
	}
	return c, err
}

// answer stores the user's answer to a page that names them.
func (p bookingPages) answer() error {
	agrees := p.field("do") == "agree"
	if !agrees && p.field("do") != "refuse" {
		return errMissing()
	}
	id := calendar.BookingPageID(p.field("page"))
	err := p.Bookings.Answer(p.r.Context(), p.user(), id, p.field("terms"), agrees)
	switch {
	case errors.Is(err, booking.ErrMissing):
		return errMissing()
	case errors.Is(err, booking.ErrTerms):
		err = p.wrong("booking.terms-changed")
	case err == nil:
		return p.done("booking", "saved")
	default:
		err = p.refused(err)
	}
	c, failed := p.list()
	if failed != nil {
		return failed
	}
	return p.again("bookings", c, err)
}

// newPage is the id of the form for a new page.
const newPage = "new"

// dayHours are the hours of a weekday in the form.
type dayHours struct{ Word, Label, Text string }

// bookingContent is the data of the form of a page.
type bookingContent struct {
	booking.View
	New               bool
	Address, Lengths  string
	OwnHours, OwnBusy bool
	Days              []dayHours
	Accesses, Targets []choice
	Counting, Tongues []choice
	// Rooms are the rooms to choose from.
	Rooms []choice
	Asked []rules.Question
	// Ways are the ways to meet, Names the names of the people, Answers says whether they take part.
	Ways    []choice
	Names   string
	Answers []string
	// Numbers has the number of each question.
	Numbers []int
	// OpenDate and ClosedDate are examples.
	OpenDate, ClosedDate string
}

// wanted returns the page that the path names, or a new one.
func (p bookingPages) wanted() (v booking.View, err error) {
	id := p.r.PathValue("page")
	if id != newPage {
		v, err = p.Bookings.Page(p.r.Context(), p.user(), calendar.BookingPageID(id))
		if errors.Is(err, booking.ErrMissing) {
			err = errMissing()
		}
		return v, err
	}
	v.On = p.user().Email != ""
	v.Settings = rules.Settings{
		Access: rules.Public, Minutes: []int{30}, NoticeHours: rules.DefaultNotice,
		HorizonDays: rules.DefaultHorizon, Language: p.lang.Tag(),
	}
	return v, nil
}

func (p bookingPages) one() (bookingContent, error) {
	v, err := p.wanted()
	if err != nil {
		return bookingContent{}, err
	}
	return p.content(p.r.Context(), v)
}

// content returns the form of a page.
func (p bookingPages) content(ctx context.Context, v booking.View) (c bookingContent, err error) {
	c.View, c.New = v, v.ID == ""
	c.OwnHours, c.OwnBusy = v.Hours != nil, v.Busy != nil
	c.OpenDate, c.ClosedDate = openDate, closedDate
	if !c.New {
		c.Address = p.Bookings.Address(v)
	}
	var lengths []string
	for _, m := range v.Minutes {
		lengths = append(lengths, strconv.Itoa(m))
	}
	c.Lengths = strings.Join(lengths, ", ")
	c.Ways = []choice{
		{string(rules.AnyOfUs), p.lang.Text("booking.together-any"), v.Together == rules.AnyOfUs},
		{string(rules.AllOfUs), p.lang.Text("booking.together-all"), v.Together == rules.AllOfUs},
	}
	for _, one := range v.People {
		c.Names += one.Name + "\n"
		c.Answers = append(c.Answers, p.lang.Text(answerTexts[one.Answer], "name", one.Title()))
	}
	for n := range slot.Weekdays {
		day := (p.user().FirstDay() + time.Weekday(n)) % time.Weekday(len(slot.Weekdays))
		c.Days = append(c.Days, dayHours{slot.Weekdays[day], p.lang.Weekday(day), v.Hours[slot.Weekdays[day]]})
	}
	for _, one := range rules.Accesses {
		c.Accesses = append(c.Accesses, choice{string(one), p.lang.Text(accessTexts[one]), one == v.Access})
	}
	for _, l := range p.languages.Languages() {
		c.Tongues = append(c.Tongues, choice{l.Tag(), l.Name(), l.Tag() == v.Language})
	}
	c.Asked = append(c.Asked, v.Questions...)
	for n := range mostAsked {
		c.Numbers = append(c.Numbers, n+1)
	}
	for len(c.Asked) < mostAsked {
		c.Asked = append(c.Asked, rules.Question{})
	}
	rooms, err := p.Bookings.Rooms(ctx, p.user())
	if err != nil {
		return c, err
	}
	c.Rooms = append(c.Rooms, choice{Label: p.lang.Text("booking.no-room"), Chosen: v.Room == ""})
	for _, room := range rooms {
		c.Rooms = append(c.Rooms, choice{string(room.ID), room.Title(), string(room.ID) == v.Room})
	}
	all, err := p.Service.Calendars(ctx, p.caller())
	if err != nil {
		return c, err
	}
	said, err := p.Service.Scheduling(ctx, p.caller())
	target := cmp.Or(v.Calendar, string(said.Default))
	for _, cal := range all {
		one := choice{string(cal.ID), calendarName(cal), string(cal.ID) == target}
		if booking.Bookable(cal) {
			c.Targets = append(c.Targets, one)
		}
		one.Chosen = slices.Contains(v.Busy, one.Value)
		c.Counting = append(c.Counting, one)
	}
	return c, err
}

// accessTexts are the ids of the words for the kinds of access.
var accessTexts = map[rules.Access]string{
	rules.Public: "booking.access-public", rules.Secret: "booking.access-secret", rules.Users: "booking.access-users",
}

// answerTexts are the ids of the words for the answers of people.
var answerTexts = map[calendar.BookingAnswer]string{
	calendar.NotAnswered: "booking.answer-none", calendar.Agreed: "booking.answer-yes",
	calendar.Refused: "booking.answer-no",
}

// mostAsked is the number of questions in the form.
const mostAsked = 5

// read reads the form into a page. The page is complete even if a setting cannot be read.
func (p bookingPages) read(v booking.View) (booking.View, error) {
	number := func(name string) int {
		n, err := strconv.Atoi(cmp.Or(p.field(name), "0"))
		if err != nil {
			return -1 // which no setting allows
		}
		return n
	}
	v.On, v.Name = p.field("on") != "", strings.ToLower(p.field("name"))
	v.Settings = rules.Settings{
		Title: p.field("title"), Text: p.field("text"), Access: rules.Access(p.field("access")),
		Location: p.field("location"), Language: p.field("language"), Before: number("before"), After: number("after"),
		NoticeHours: number("notice"), HorizonDays: number("horizon"), PerDay: number("per-day"),
		Calendar: p.field("calendar"), Together: rules.Together(p.field("together")),
		Room: p.field("room"),
	}
	commas := func(r rune) bool { return strings.ContainsRune(" ,;", r) }
	for text := range strings.FieldsFuncSeq(p.field("minutes"), commas) {
		n, _ := strconv.Atoi(text) // zero is refused
		v.Minutes = append(v.Minutes, n)
	}
	if p.field("own-hours") != "" {
		v.Hours = map[string]string{}
		for _, day := range slot.Weekdays {
			v.Hours[day] = p.field("hours-" + day)
		}
	}
	if p.field("own-busy") != "" {
		v.Busy = append([]string{}, p.r.PostForm["busy"]...)
	}
	for i := range mostAsked {
		if text := p.field("question-" + strconv.Itoa(i)); text != "" {
			v.Questions = append(v.Questions, rules.Question{
				Text: text, Required: p.field("required-"+strconv.Itoa(i)) != "",
			})
		}
	}
	before := v.People
	people, unknown := p.Bookings.Named(p.r.Context(), p.user(), p.field("people"))
	v.People = people
	for i := range people {
		for _, was := range before {
			if was.ID == people[i].ID {
				people[i].Answer = was.Answer
			}
		}
	}
	var err error
	v.Dates, err = rules.ReadDates(p.field("dates"))
	return v, cmp.Or(err, unknown)
}

// openDate and closedDate are examples of dates with hours.
const openDate, closedDate = "2027-05-02 10:00-12:00", "2026-12-24 -"

// wrongFields are the ids of texts about settings that need more than the bounds.
var wrongFields = map[string]string{
	"hours": "booking.wrong-hours", "taken": "booking.wrong-taken", "email": "booking.wrong-email",
	"calendar": "booking.wrong-calendar", "room": "booking.wrong-room",
	"access": "booking.access", "name": "booking.name-hint",
}

// refused returns the error of a setting in the visitor's language.
func (p bookingPages) refused(err error) error {
	wrong, ok := errors.AsType[*rules.Error](err)
	if !ok {
		return err
	}
	if wrong.Field == "people" && wrong.Text != "" {
		return p.wrong("booking.wrong-people", "name", excerpt(wrong.Text))
	}
	if wrong.Field == "dates" && wrong.Text != "" {
		return p.wrong("booking.wrong-dates", "line", excerpt(wrong.Text), "open", openDate, "closed", closedDate)
	}
	if id := wrongFields[wrong.Field]; id != "" {
		return p.wrong(id)
	}
	return p.wrong("booking.wrong", "field", p.lang.Text("booking."+wrong.Field), "least", wrong.Least, "most",
		wrong.Most)
}

// change saves or deletes a page.
func (p bookingPages) change() error {
	v, err := p.wanted()
	if err != nil {
		return err
	}
	ctx := p.r.Context()
	switch p.field("do") {
	case "delete":
		return p.after(p.Bookings.Delete(ctx, p.user(), v.ID), "booking", "removed")
	case "save":
	default:
		return errMissing()
	}
	v, err = p.read(v)
	if err == nil {
		_, err = p.Bookings.Save(ctx, p.user(), v)
	}
	if err != nil {
		c, failed := p.content(ctx, v)
		if failed != nil {
			return failed
		}
		return p.again("bookingpage", c, p.refused(err))
	}
	return p.done("booking", "saved")
}
