package microsoft

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

const (
	// The mirrored window. Graph reports changes only within a window, whose limits do not move.
	yearsBack, yearsOn = 1, 2
	// rebased is the maximum age of a window.
	rebased    = 30 * 24 * time.Hour
	mostEvents = 100_000
	mostPages  = 2_000
)

// cursor is the state of a synchronization.
type cursor struct {
	Link string    `json:"link"`
	From time.Time `json:"from"`
	// Seen is the latest reported change, by Microsoft's clock, which may differ from ours.
	Seen time.Time `json:"seen"`
	// Alone lists the instances whose series the account cannot see, because it is invited to them only.
	Alone []string `json:"alone,omitempty"`
}

// Changes implements mirror.Source. Graph reports instances; if one has changed, its whole series is fetched. It may
// report the series as well, but the reference does not promise that.
func (a *Account) Changes(ctx context.Context, remote, at string) (mirror.Changes, error) {
	now := a.now().UTC().Truncate(time.Second)
	c := cursor{From: now}
	if at != "" {
		if json.Unmarshal([]byte(at), &c) != nil || now.Sub(c.From) > rebased {
			return mirror.Changes{}, mirror.ErrExpired
		}
	} else {
		c.Link = of(remote) + "/calendarView/delta" + window(now.AddDate(-yearsBack, 0, 0), now.AddDate(yearsOn, 0, 0))
	}
	items, link, err := list[*Event](ctx, a, c.Link)
	switch {
	case at != "" && (rest.Is(err, http.StatusGone) || expired(err)):
		return mirror.Changes{}, mirror.ErrExpired
	case err != nil:
		return mirror.Changes{}, rest.Gone(err)
	}
	out := mirror.Changes{Whole: at == ""}
	next := cursor{Link: link, From: c.From, Seen: latest(c.Seen, items), Alone: c.Alone}
	if err := a.told(ctx, remote, items, &out, &next); err != nil {
		return mirror.Changes{}, err
	}
	next.Alone = slices.DeleteFunc(next.Alone, func(ref string) bool { return slices.Contains(out.Gone, ref) })
	if at != "" && len(out.Gone) != 0 {
		if err := a.listed(ctx, remote, c.Seen, &out, &next); err != nil {
			return mirror.Changes{}, err
		}
	}
	data, err := json.Marshal(next)
	out.Cursor = string(data)
	return out, err
}

// latest returns the time of the latest change.
func latest(since time.Time, items []*Event) time.Time {
	for _, e := range items {
		if at, err := time.Parse(time.RFC3339, e.Modified); err == nil && at.After(since) {
			since = at
		}
	}
	return since
}

func window(from, to time.Time) string {
	return "?" + url.Values{
		"startDateTime": {from.UTC().Format(time.RFC3339)}, "endDateTime": {to.UTC().Format(time.RFC3339)},
	}.Encode()
}

func expired(err error) bool {
	problem, is := errors.AsType[*rest.AnswerError](err)
	return is && strings.EqualFold(problem.Reason, "SyncStateNotFound")
}

// list reads all pages from a link on, and returns the link for the next run.
func list[T any](ctx context.Context, a *Account, link string) (items []T, next string, err error) {
	items, next, _, err = paged[T](ctx, a, link)
	return items, next, err
}

// paged is list with the number of pages.
func paged[T any](ctx context.Context, a *Account, link string) (items []T, next string, pages int, err error) {
	for pages = 1; pages <= mostPages; pages++ {
		var one struct {
			Value []T    `json:"value"`
			Next  string `json:"@odata.nextLink"`
			Delta string `json:"@odata.deltaLink"`
		}
		if err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: link}, &one); err != nil {
			return nil, "", pages, err
		}
		items = append(items, one.Value...)
		if len(items) > mostEvents {
			return nil, "", pages,
				vevent.TooMany("Microsoft", mostEvents)
		}
		if one.Delta != "" || one.Next == "" {
			return items, one.Delta, pages, nil
		}
		link = one.Next
	}
	return nil, "", pages, vevent.Endless()
}

// told fetches the reported objects. For a repeated event, the last report counts.
func (a *Account) told(
	ctx context.Context, remote string, items []*Event, out *mirror.Changes, next *cursor,
) error {
	// instances are the series with reported instances; hidden are series that the account cannot see.
	done, instances, hidden := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range items {
		instances[e.SeriesID] = true
	}
	var kept map[string][]json.RawMessage
	for _, e := range slices.Backward(items) {
		ref := e.ID
		if e.SeriesID != "" && !hidden[e.SeriesID] {
			ref = e.SeriesID
		}
		if done[ref] {
			continue
		}
		done[ref], done[e.ID] = true, true
		switch {
		case e.Removed != nil && !instances[ref]:
			// It was deleted, or it is outside the window now. The first day of a series may be outside while other
			// instances are inside.
			out.Gone = append(out.Gone, ref)
			continue
		case e.Type == "singleInstance" && e.Start != nil:
			if kept == nil {
				found, err := a.extended(ctx, remote)
				if err != nil {
					return rest.Gone(err)
				}
				kept = found
			}
			e.Extensions = kept[e.ID]
			out.Objects = append(out.Objects, a.object(ref, &Series{Master: e}))
			continue
		case !hidden[e.SeriesID]:
			err := a.tell(ctx, ref, out)
			if err == nil {
				continue
			}
			if !errors.Is(err, mirror.ErrGone) {
				return err
			}
			hidden[ref] = true
			out.Gone = append(out.Gone, ref)
		}
		if e.Type == exceptional && e.Start != nil {
			// An account that is invited to single instances cannot see the series. Each is an object of its own.
			out.Objects = append(out.Objects, a.object(e.ID, &Series{Exceptions: []*Event{e}}))
			next.Alone = append(next.Alone, e.ID)
		}
	}
	slices.Sort(next.Alone)
	next.Alone = slices.Compact(next.Alone)
	return nil
}

// tell fetches an object. For events outside the window, Graph reports only ids.
func (a *Account) tell(ctx context.Context, ref string, out *mirror.Changes) error {
	s, err := a.series(ctx, ref)
	if err != nil {
		return err
	}
	out.Objects = append(out.Objects, a.object(ref, s))
	return nil
}

// listed makes changes complete if Graph reported deletions. A deleted item may be an instance, whose id does not
// reveal the series, and of a deleted series Graph may report nothing else. So listed reads the ids of all events: a
// series on none of the pages is gone, and one that changed since a moment is fetched.
func (a *Account) listed(
	ctx context.Context, remote string, since time.Time, out *mirror.Changes, next *cursor,
) error {
	items, err := a.ids(ctx, remote)
	if err != nil {
		return rest.Gone(err)
	}
	next.Seen = latest(next.Seen, items)
	known := map[string]bool{}
	for _, o := range out.Objects {
		known[o.Ref] = true
	}
	for _, ref := range out.Gone {
		known[ref] = true
	}
	for _, ref := range next.Alone {
		known[ref] = true
		out.Kept = append(out.Kept, ref)
	}
	for _, e := range items {
		if known[e.ID] {
			continue
		}
		known[e.ID] = true
		at, err := time.Parse(time.RFC3339, e.Modified)
		// Start a little earlier: reports may arrive out of order.
		if e.Type == master && (err != nil || !at.Before(since.Add(-5*time.Minute))) {
			switch err := a.tell(ctx, e.ID, out); {
			case errors.Is(err, mirror.ErrGone): // deleted since
			case err != nil:
				return err
			}
			continue
		}
		out.Kept = append(out.Kept, e.ID)
	}
	out.Whole = true
	return nil
}

// ids lists all events of a calendar, with their types and the times of their last changes. Graph numbers the events of
// a list: a deletion meanwhile moves later events to an earlier page, which was read already. So a list of several
// pages is read twice, and may contain an event twice.
func (a *Account) ids(ctx context.Context, remote string) ([]*Event, error) {
	const page = 1000
	link := of(remote) + "/events?" + rest.Query(url.Values{
		"$select": {"id,type,lastModifiedDateTime"}, "$top": {strconv.Itoa(page)},
	})
	items, _, pages, err := paged[*Event](ctx, a, link)
	if err != nil || pages == 1 {
		return items, err
	}
	again, _, err := list[*Event](ctx, a, link)
	return append(items, again...), err
}

// whole lists all fields of an event, because Graph returns some of them only on request, and then only the listed
// ones.
const whole = "id,iCalUId,createdDateTime,lastModifiedDateTime,type,seriesMasterId,originalStart," +
	"originalStartTimeZone,originalEndTimeZone," +
	"cancelledOccurrences,isCancelled,isOrganizer,organizer,responseStatus,onlineMeetingUrl,onlineMeeting," +
	"transactionId,subject,body,start,end," +
	"isAllDay,sensitivity,showAs,importance,categories,location,locations,attendees,isReminderOn," +
	"reminderMinutesBeforeStart,recurrence," +
	"allowNewTimeProposals,hideAttendees,isOnlineMeeting,onlineMeetingProvider,responseRequested"

// series fetches all events of an object.
func (a *Account) series(ctx context.Context, ref string) (*Series, error) {
	var got struct {
		Exceptions []*Event `json:"exceptionOccurrences"`
	}
	var raw json.RawMessage
	query := url.Values{"$select": {whole}, "$expand": {"exceptionOccurrences," + expandExtension}}
	if err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: eventPath(ref), Query: query}, &raw); err !=
		nil {
		return nil, rest.Gone(err)
	}
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, &mirror.Later{Cause: err}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, &mirror.Later{Cause: err}
	}
	if e.Type == exceptional {
		return &Series{Exceptions: []*Event{&e}}, nil
	}
	return &Series{Master: &e, Exceptions: got.Exceptions, Cancelled: daysGone(&e)}, nil
}

// object converts a series for the mirror. If it cannot be converted, the object has a fault.
func (a *Account) object(ref string, s *Series) mirror.Object {
	o := mirror.Object{Ref: ref, Version: s.version(), UID: s.first().uid()}
	var err error
	if o.Data, err = Text(s, a.zones); err != nil {
		o.Fault = vevent.Unsaid(err)
	}
	return o
}

// version identifies the state of the whole object.
func (s *Series) version() string {
	tags := slices.Clone(s.Cancelled)
	if s.Master != nil {
		tags = append(tags, s.Master.ID+" "+s.Master.ETag)
	}
	for _, e := range s.Exceptions {
		tags = append(tags, e.ID+" "+e.ETag)
	}
	return vevent.StateOf(tags)
}
