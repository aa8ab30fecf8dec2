package microsoft

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
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
}

// Changes implements mirror.Source. Graph reports instances; if one has changed, its whole series is fetched.
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
	if err := a.told(ctx, remote, items, &out); err != nil {
		return mirror.Changes{}, err
	}
	if at != "" && len(out.Gone) != 0 {
		// A deleted item may be an instance, and its id does not reveal the series.
		if err := a.modified(ctx, remote, c.Seen, &out); err != nil {
			return mirror.Changes{}, err
		}
	}
	data, err := json.Marshal(cursor{Link: link, From: c.From, Seen: latest(c.Seen, items)})
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
	for range mostPages {
		var one struct {
			Value []T    `json:"value"`
			Next  string `json:"@odata.nextLink"`
			Delta string `json:"@odata.deltaLink"`
		}
		if err := a.client.Do(ctx, rest.Request{Method: http.MethodGet, Path: link}, &one); err != nil {
			return nil, "", err
		}
		items = append(items, one.Value...)
		if len(items) > mostEvents {
			return nil, "",
				mirror.Refusef("The calendar at Microsoft has more than %d events in three years, which is more than "+
					"is kept here.", mostEvents)
		}
		if one.Delta != "" || one.Next == "" {
			return items, one.Delta, nil
		}
		link = one.Next
	}
	return nil, "", &mirror.Later{Why: "Microsoft's list has no end"}
}

// told fetches the reported objects. For a repeated event, the last report counts.
func (a *Account) told(ctx context.Context, remote string, items []*Event, out *mirror.Changes) error {
	done := map[string]bool{}
	var kept map[string][]json.RawMessage
	for _, e := range slices.Backward(items) {
		ref := e.ID
		if e.SeriesID != "" {
			ref = e.SeriesID
		}
		if done[ref] {
			continue
		}
		done[ref] = true
		switch {
		case e.Removed != nil:
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
		}
		if err := a.tell(ctx, ref, e, out); err != nil {
			return err
		}
	}
	return nil
}

// tell fetches an object. For events outside the window, Graph reports only ids.
func (a *Account) tell(ctx context.Context, ref string, e *Event, out *mirror.Changes) error {
	s, err := a.series(ctx, ref)
	if errors.Is(err, mirror.ErrGone) && e.Type == exceptional && e.Start != nil {
		// An account that is invited to a single instance cannot see the series.
		out.Objects = append(out.Objects, a.object(e.ID, &Series{Exceptions: []*Event{e}}))
		return nil
	}
	if errors.Is(err, mirror.ErrGone) {
		out.Gone = append(out.Gone, ref)
		return nil
	}
	if err != nil {
		return err
	}
	out.Objects = append(out.Objects, a.object(ref, s))
	return nil
}

// modified adds the series that changed since a moment.
func (a *Account) modified(ctx context.Context, remote string, since time.Time, out *mirror.Changes) error {
	query := url.Values{"$select": {"id,type"}}
	if !since.IsZero() {
		// Start a little earlier: reports may arrive out of order.
		query.Set("$filter", "lastModifiedDateTime ge "+since.Add(-5*time.Minute).UTC().Format(time.RFC3339))
	}
	items, _, err := list[*Event](ctx, a, of(remote)+"/events?"+rest.Query(query))
	if err != nil {
		return rest.Gone(err)
	}
	for _, e := range items {
		if e.Type != master || slices.ContainsFunc(out.Objects, func(o mirror.Object) bool { return o.Ref == e.ID }) {
			continue
		}
		if err := a.tell(ctx, e.ID, e, out); err != nil {
			return err
		}
	}
	return nil
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
		o.Fault = "Microsoft's event cannot be said in iCalendar: " + err.Error()
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
