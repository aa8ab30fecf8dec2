package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

// eventTools are the tools for events.
type eventTools struct{ toolbox }

// fullView is an event as get_event returns it.
type fullView struct {
	readView
	detailsView
	rawView
}

// rawView is the stored iCalendar text or a part of it.
type rawView struct {
	Data string `json:"ical_data"`
	Next int    `json:"ical_next_offset,omitempty" doc:"Where to go on; if missing, ical_data is complete."`
}

func (v rawView) stored() string { return v.Data }

// eventQuestion holds the arguments of get_event.
type eventQuestion struct {
	reference
	offset int
}

func (in *eventQuestion) takes() []field {
	return append(in.takesEvent(),
		wordTo(&in.RecurrenceID, "recurrence_id", "Of a series; none: the whole."),
		in.takesZone(),
		numberTo(&in.offset, "ical_offset", "ical_next_offset, to go on.").between(0, longestObject),
	)
}

func (b eventTools) getEvent(ctx context.Context, c *call, s subject, in *eventQuestion) (answer, error) {
	raw, err := cutICal(rawText(s.found.Object.Data), in.offset)
	if err != nil {
		return answer{}, err
	}
	return same(fullView{readViewOf(s.found), s.zone.details(c.caller, s.cal, s.found), raw})
}

// longestRaw limits the iCalendar text in one result, in characters. It appears in both the text and the structured
// content.
const longestRaw = 20_000

// cutICal cuts a long text after a line, and says where it continues.
func cutICal(text string, from int) (rawView, error) {
	runes := []rune(text)
	if from > len(runes) {
		return rawView{}, errArgument(`"ical_offset" is %d, but the text has %d characters`, from, len(runes))
	}
	runes = runes[from:]
	if len(runes) <= longestRaw {
		return rawView{Data: string(runes)}, nil
	}
	n := longestRaw
	for n > longestRaw/2 && runes[n-1] != '\n' {
		n--
	}
	if runes[n-1] != '\n' {
		n = longestRaw // a single line is longer than that
	}
	return rawView{
		Data: string(runes[:n]) + fmt.Sprintf("… [%d more characters: get_event with ical_offset %d]", len(runes)-n,
			from+n), Next: from + n,
	}, nil
}

// rawText is the stored iCalendar text with invisible control characters made visible.
func rawText(data []byte) string {
	lines := strings.Split(string(data), "\r\n")
	for i, line := range lines {
		lines[i] = wire.Visible(line)
	}
	return strings.Join(lines, "\r\n")
}

// eventsQuestion holds the arguments of query_events.
type eventsQuestion struct {
	inCalendar
	start, end string
	paged
	inZone
}

func (in *eventsQuestion) takes() []field {
	return slices.Concat(in.inCalendar.takes(), []field{
		wordTo(&in.start, "start", timeForm),
		wordTo(&in.end, "end", "A date counts whole."),
	}, in.paged.takes(), []field{in.takesZone()})
}

// queriedEvent is an event in a list of one calendar.
type queriedEvent struct {
	UID          shown         `json:"uid"`
	Summary      shown         `json:"summary"`
	Start        string        `json:"dtstart" doc:"As iCalendar: in UTC, a date, or floating."`
	End          string        `json:"dtend" doc:"As iCalendar: of whole days, the day after the last."`
	ETag         calendar.ETag `json:"etag"`
	RecurrenceID string        `json:"recurrence_id,omitempty" doc:"The instance of a series."`
	StartLocal   string        `json:"start_local"`
	StartWeekday string        `json:"start_weekday"`
	EndLocal     string        `json:"end_local" doc:"Of whole days, the last."`
	Unclear      bool          `json:"unclear,omitempty" doc:"Recurrence can't be followed; times are approximate."`
	standingView
}

// queriedEvents are the text of query_events.
type queriedEvents []queriedEvent

func (v queriedEvents) foreign() bool { return anyForeign(v) }

// queryView is the structured content of query_events. The text is only the list, as in the first version.
type queryView struct {
	Events []queriedEvent `json:"events"`
	Window spanView       `json:"window"`
	pageView
	zoneView
}

// note holds the notes that the list has no field for. Clients of the first version learn only that there is more.
func (v queryView) note(c *call) prose {
	if c.plain {
		return v.pageView.note()
	}
	return prose(strings.TrimSpace(fmt.Sprintf("Local times are in %s.\n%s", v.Timezone, v.pageView.note())))
}

func (b eventTools) queryEvents(
	ctx context.Context, c *call, cal calendar.Calendar, in *eventsQuestion,
) (answer, error) {
	z, err := b.zoneFor(c, in.inZone, cal)
	if err != nil {
		return answer{}, err
	}
	during, err := z.readWindow(in.start, in.end)
	if err != nil {
		return answer{}, err
	}
	p, err := in.read(c)
	if err != nil {
		return answer{}, err
	}
	list, err := b.instances(ctx, c, cal, query.InstanceQuery{
		Kind: calendar.Event, During: during, Timezone: z.Zone,
		Most: p.end(),
	})
	if err != nil {
		return answer{}, err
	}
	view := queryView{Events: []queriedEvent{}, Window: z.span(during.Start, during.End), zoneView: z.view()}
	list, view.pageView = cutPage(c, list, p, c.askedRoom(p), sizeOf)
	for _, i := range list {
		r, at := readViewOf(i), z.timesOf(i)
		row := queriedEvent{
			r.UID, r.Summary, r.Start, r.End, r.ETag, r.RecurrenceID, at.StartLocal, at.StartWeekday,
			at.EndLocal, i.Unclear, standing(c.caller, cal, i.Component),
		}
		view.Events = append(view.Events, row)
	}
	c.show(z, func(m views.Maker) any {
		var clear []query.Occurrence
		for _, i := range list {
			if !i.Unclear {
				clear = append(clear, query.Occurrence{Calendar: cal, Instance: i})
			}
		}
		return m.Week(viewEvents(m, clear), during.Start, view.Truncated || len(clear) < len(list))
	})
	return answer{noted{queriedEvents(view.Events), view.note(c)}, view}, nil
}

// instances lists the events of a calendar in order: every instance within a time range, or each object once if no
// range is given.
func (b eventTools) instances(
	ctx context.Context, c *call, cal calendar.Calendar, q query.InstanceQuery,
) ([]query.Instance, error) {
	var list []query.Instance
	briefs := query.Briefs{Meter: c.meter}
	q.Meter = c.meter
	open := q.During == filter.TimeRange{}
	if open {
		q.Most = 1
	}
	for i, err := range b.service.Instances(ctx, c.caller, cal, q) {
		if err != nil {
			return nil, err
		}
		if open && !i.Unclear {
			whole, err := b.service.InstanceOf(ctx, nil, cal, i.Object, ical.Time{})
			if err == nil {
				i = whole
			}
		}
		if i, err = briefs.Of(i); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, byStart)
	return list, nil
}

// byStart orders instances by start, then by UID, so that the order is stable.
func byStart(a, b query.Instance) int {
	return cmp.Or(a.Start.Time.Compare(b.Start.Time), cmp.Compare(a.Object.UID, b.Object.UID))
}

// timesOf is times for an instance whose times may be unclear.
func (z zoned) timesOf(i query.Instance) timesView {
	if i.Unclear {
		return timesView{}
	}
	return z.times(i)
}
