package edit

import (
	"math"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// changeFollowing ends the series before an instance and begins another one with it.
func (e *session) changeFollowing(at *aimed, c Change) (Result, error) {
	right, err := e.split(at)
	if err != nil {
		return Result{}, err
	}
	second := e.Editor.session(e.ctx, right)
	before := second.zonesNamed()
	var books []revision
	for _, component := range right.Components() {
		books = append(books, revision{component: component, anew: true})
	}
	first := at.in(right)
	if err := second.alter(first, c); err != nil {
		return Result{}, err
	}
	for _, r := range books {
		r.stamp(e.Now)
	}
	return Result{
		Document: e.object.Document, Split: right.Document, SplitUID: right.UID, Instance: first.id,
	}, second.define(before)
}

// in returns the same instance in the right part of its series.
func (a *aimed) in(right *content.Object) *aimed {
	first := &aimed{series: a.series, instance: a.instance}
	first.component = right.Master
	for _, c := range right.Overrides {
		if first.own && a.series.describes(c, a.unix) {
			first.component = c
		}
	}
	return first
}

// cancelFollowing ends the series before an instance.
func (e *session) cancelFollowing(at *aimed) (Result, error) {
	if e.object.Master != nil {
		cuts, err := at.cuts(false)
		if err != nil {
			return Result{}, err
		}
		book := remember(e.object.Master)
		if err := e.cutLeft(at, cuts); err != nil {
			return Result{}, err
		}
		book.stamp(e.Now)
		return e.rest()
	}
	if err := e.keepOverrides(at, func(unix int64) bool { return unix < at.unix }); err != nil {
		return Result{}, err
	}
	return Result{Document: e.object.Document}, nil
}

// split cuts the object in two. The session keeps the left part.
func (e *session) split(at *aimed) (*content.Object, error) {
	if e.object.Master == nil {
		return nil, fault(Unsupported, "the object holds single instances of a series only").
			hint("change each of them alone")
	}
	cuts, err := at.cuts(true)
	if err != nil {
		return nil, err
	}
	right, err := content.Of(e.object.Document.Clone())
	if err != nil {
		return nil, err
	}
	if err := e.Editor.session(e.ctx, right).cutRight(at, cuts); err != nil {
		return nil, err
	}
	e.rename(right)
	book := remember(e.object.Master)
	if err := e.cutLeft(at, cuts); err != nil {
		return nil, err
	}
	book.stamp(e.Now)
	return right, nil
}

// rename gives the right part a new UID. RFC 5545 §3.8.4.5: the two objects become siblings.
func (e *session) rename(right *content.Object) {
	left := e.object.UID
	right.UID = e.NewUID()
	for _, c := range right.Components() {
		c.SetText("UID", right.UID)
	}
	right.Master.Add(ical.NewText("RELATED-TO", left, ical.NewParam("RELTYPE", "SIBLING")))
}

// cut is the position of an instance in a recurrence rule.
type cut struct {
	// before counts the instances of a rule with COUNT that precede the instance.
	before int
	// over is set if the rule has no instance from this one on.
	over bool
}

// cuts divides the rules of the master. If the right part continues them, the instance must belong to each rule: as the
// new DTSTART it sets the rule's phase and its implied parts.
func (a *aimed) cuts(goesOn bool) ([]cut, error) {
	if goesOn && a.object.Master.Property("EXRULE") != nil {
		return nil, fault(Unsupported, "the series has an EXRULE, which cannot be divided").
			hint(`change "this" instance or "all"`)
	}
	var cuts []cut
	for _, p := range a.object.Master.All("RRULE") {
		c, err := a.cut(p, goesOn)
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, c)
	}
	return cuts, nil
}

func (a *aimed) cut(p *ical.Property, goesOn bool) (cut, error) {
	rule, err := p.Recur()
	if err != nil {
		return cut{}, fault(BadField, "%v", err)
	}
	alone := a.object.Master.Clone()
	for _, name := range [...]string{"RRULE", "EXRULE", "RDATE", "EXDATE"} {
		alone.Remove(name)
	}
	alone.Add(p.Clone())
	set, err := a.setOf(alone, nil)
	if err != nil {
		return cut{}, err
	}
	next, err := a.next(set)
	switch {
	case err != nil:
		return cut{}, err
	case next == math.MaxInt64:
		return cut{over: true}, nil
	case next != a.unix && goesOn:
		return cut{},
			fault(RuleBound,
				"the instance at %s is an extra one beside the rule %s, so a series by that rule cannot begin with it",
				a.id, p.Value()).
				hint("use the previous or the next instance, or give a new recurrence rule")
	case rule.Count == 0:
		return cut{}, nil
	}
	before, err := a.count(set)
	return cut{before: before}, err
}

// next returns the first original time in a set at or after the targeted instance.
func (a *aimed) next(set *recur.Set) (int64, error) {
	for i, err := range set.Between(a.ctx, time.Unix(a.unix, 0), time.Time{}, a.budget) {
		if err != nil {
			return 0, recurFault(err)
		}
		if at := i.RecurrenceID.Time.Unix(); at >= a.unix {
			return at, nil
		}
	}
	return math.MaxInt64, nil
}

// count counts the instances of a set before the targeted one.
func (a *aimed) count(set *recur.Set) (int, error) {
	n := 0
	budget := recur.Budget{Steps: a.budget.Steps, Instances: math.MaxInt}
	for i, err := range set.Between(a.ctx, time.Time{}, time.Unix(a.unix, 0), budget) {
		if err != nil {
			return 0, recurFault(err)
		}
		if i.RecurrenceID.Time.Unix() < a.unix {
			n++
		}
	}
	return n, nil
}

// cutLeft ends the master before the instance.
func (e *session) cutLeft(at *aimed, cuts []cut) error {
	begin, err := at.at(at.start)
	if err != nil {
		return err
	}
	for i, p := range e.object.Master.All("RRULE") {
		rule, err := p.Recur()
		switch {
		case begin >= at.unix:
			e.object.Master.RemoveProperty(p)
			continue
		case err != nil || cuts[i].over:
			continue
		}
		ended := rule
		if rule.Count > 0 {
			ended.Count = cuts[i].before
		} else {
			ended.Until = at.last()
		}
		rewriteRule(p, rule, ended)
	}
	earlier := func(unix int64) bool { return unix < at.unix }
	if err := at.keepDates(e.object.Master, earlier); err != nil {
		return err
	}
	if begin >= at.unix { // only RDATEs are left, and DTSTART is an instance unless it is excluded
		e.object.Master.Add(ical.NewTime("EXDATE", at.start))
	}
	return e.keepOverrides(at, earlier)
}

// last returns the UNTIL of a series that ends just before the instance.
func (a *aimed) last() ical.Time {
	switch a.on.form {
	case ical.FormDate:
		return ical.Date(a.id.Civil.AddDays(-1))
	case ical.FormFloating:
		return ical.Floating(a.id.Civil.AddSeconds(-1))
	default:
		return ical.UTC(ical.CivilFromSeconds(a.unix - 1))
	}
}

// cutRight begins the master with the instance.
func (e *session) cutRight(at *aimed, cuts []cut) error {
	master := e.object.Master
	start, err := timeOf(master, "DTSTART")
	if err != nil {
		return err
	}
	for i, p := range master.All("RRULE") {
		rule, err := p.Recur()
		if err != nil {
			return fault(BadField, "%v", err)
		}
		rest := pinned(rule, start.Civil)
		left := rule.Count - cuts[i].before
		switch {
		// An override needs a series, even one with a single instance.
		case cuts[i].over || rule.Count > 0 && left <= 1 && !at.own:
			master.RemoveProperty(p) // only DTSTART is left
			continue
		case rule.Count > 0:
			rest.Count = left
		}
		rewriteRule(p, rule, rest)
	}
	later := func(unix int64) bool { return unix >= at.unix }
	if err := at.keepDates(master, later); err != nil {
		return err
	}
	if err := e.keepOverrides(at, later); err != nil {
		return err
	}
	if err := e.put(master, placement{start: at.begin()}); err != nil {
		return err
	}
	return e.follow(master, at.start)
}

// begin returns the DTSTART of the right part. An instance in a skipped hour is shown an hour later than the series
// defines; the later instances must keep the defined time.
func (a *aimed) begin() ical.Time {
	if a.on.form == ical.FormDate || a.on.form == ical.FormUTC {
		return a.id
	}
	meant := a.id.Civil.Date().AddSeconds(int64(a.start.Civil.SecondOfDay()))
	if unix, fit := a.on.zone.Unix(meant.Seconds()); fit == zone.Gap && unix == a.unix {
		return a.on.write(meant)
	}
	return a.id
}

// keepDates keeps the RDATEs and EXDATEs of one side. Lines that stay complete keep their bytes.
func (a *aimed) keepDates(c *ical.Component, keep func(unix int64) bool) error {
	for _, name := range [...]string{"RDATE", "EXDATE"} {
		for _, p := range c.All(name) {
			var err error
			if p.IsPeriods() {
				err = a.keepPeriods(c, p, keep)
			} else {
				err = a.keepTimes(c, p, keep)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *aimed) keepTimes(c *ical.Component, p *ical.Property, keep func(unix int64) bool) error {
	times, err := p.Times()
	if err != nil {
		return fault(BadTime, "%v", err)
	}
	return content.KeepOf(c, p, times, p.SetTimes, func(t ical.Time) (bool, error) {
		unix, err := a.at(t)
		return keep(unix), err
	})
}

func (a *aimed) keepPeriods(c *ical.Component, p *ical.Property, keep func(unix int64) bool) error {
	periods, err := p.Periods()
	if err != nil {
		return fault(BadTime, "%v", err)
	}
	return content.KeepOf(c, p, periods, p.SetPeriods, func(period ical.Period) (bool, error) {
		unix, err := a.at(period.Start)
		return keep(unix), err
	})
}

// keepOverrides keeps the overrides of one side.
func (e *session) keepOverrides(at *aimed, keep func(unix int64) bool) error {
	return at.dropOverrides(e.object, func(unix int64) (bool, error) { return !keep(unix), nil })
}

// dropOverrides removes the overrides that drop selects; clients would still show them.
func (s *series) dropOverrides(o *content.Object, drop func(unix int64) (bool, error)) error {
	var kept []*ical.Component
	for _, c := range o.Overrides {
		unix, err := s.named(c)
		if err != nil {
			return err
		}
		gone, err := drop(unix)
		if err != nil {
			return err
		}
		if gone {
			o.Calendar.RemoveComponent(c)
		} else {
			kept = append(kept, c)
		}
	}
	o.Overrides = kept
	return nil
}

// pinned writes out the days that a rule with SKIP (RFC 7529) takes from its start. The right part may begin on a
// substitute day, which must not become the rule's day.
func pinned(rule ical.Recur, start ical.Civil) ical.Recur {
	open := len(rule.ByDay)+len(rule.ByMonthDay)+len(rule.ByYearDay)+len(rule.ByWeekNo) == 0
	if rule.Skip == "" || rule.Freq < ical.Monthly || !open {
		return rule
	}
	rule.ByMonthDay = []int{start.Day}
	if rule.Freq == ical.Yearly && len(rule.ByMonth) == 0 {
		rule.ByMonth = []int{int(start.Month)}
	}
	return rule
}
