package microsoft

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/vevent"
)

// patch sends the changed fields of an event, and reports whether that reset its instances.
func (w *write) patch(ctx context.Context, now, want *Event) (reset bool, err error) {
	if now.Organizer != nil && want.Organizer != nil && len(want.Attendees) != 0 && len(now.Attendees) != 0 &&
		!strings.EqualFold(now.Organizer.Address.Address, want.Organizer.Address.Address) {
		return false, vevent.OtherOrganizer("Microsoft", now.Organizer.Address.Address)
	}
	if err := w.reply(ctx, now, want); err != nil {
		return false, err
	}
	had, changes := w.plain(now), map[string]any{}
	for name, value := range w.plain(want) {
		if !reflect.DeepEqual(had[name], value) {
			changes[name] = fieldsOf(want)[name]
		}
	}
	if !sameBody(now.Body, want.Body) {
		if now.Meeting != nil || now.MeetingURL != "" {
			return false, mirror.Refusef("Microsoft keeps the link of this online meeting in its description. Change " +
				"the description in Outlook or Teams.")
		}
		changes["body"] = fieldsOf(want)["body"]
	}
	if len(changes) == 0 {
		return false, nil
	}
	_, ruled := changes["recurrence"]
	_, moved := changes["start"]
	if moved && want.Recurrence != nil {
		changes["recurrence"] = want.Recurrence // its range begins on the day of the start
	}
	return ruled || moved, w.send(ctx, http.MethodPatch, eventPath(now.ID), now.ETag, changes, nil)
}

var replies = map[string]string{"accepted": "accept", "declined": "decline", "tentativelyAccepted": "tentativelyAccept"}

// reply answers an invitation if the account's own answer has changed.
func (w *write) reply(ctx context.Context, now, want *Event) error {
	if now.IsOrganizer || now.Answer == nil {
		return nil
	}
	before := map[string]string{}
	for _, a := range now.Attendees {
		if a.Status != nil {
			before[strings.ToLower(a.Address.Address)] = responses.Out(a.Status.Response)
		}
	}
	for _, a := range want.Attendees {
		had, known := before[strings.ToLower(a.Address.Address)]
		if !known || had == responses.Out(a.Status.Response) || replies[a.Status.Response] == "" {
			continue
		}
		c, err := w.account.calendar(ctx, w.remote)
		if err != nil {
			return err
		}
		if strings.EqualFold(c.Owner.Address, a.Address.Address) {
			body := map[string]any{"sendResponse": true}
			if want.Comment != "" {
				body["comment"] = want.Comment
			}
			return w.send(ctx, http.MethodPost, eventPath(now.ID)+"/"+replies[a.Status.Response], "", body, nil)
		}
	}
	return nil
}

// fieldsOf returns the fields that we write.
func fieldsOf(e *Event) map[string]any {
	body, place := e.Body, e.Place
	if body == nil {
		body = &Body{Type: textBody}
	}
	if place == nil {
		place = json.RawMessage(`{"displayName":""}`)
	}
	guests := make([]Attendee, 0, len(e.Attendees))
	for _, a := range e.Attendees {
		guests = append(guests, Attendee{Type: a.Type, Address: a.Address})
	}
	fields := map[string]any{
		"subject": e.Subject, "body": body, "start": e.Start, "end": e.End, "isAllDay": e.AllDay,
		"sensitivity": e.Sensitivity, "showAs": e.ShowAs,
		"importance": e.Importance, "categories": append([]string{}, e.Categories...), "location": place,
		"attendees":    guests,
		"isReminderOn": e.ReminderOn, "reminderMinutesBeforeStart": e.Minutes,
	}
	if e.Recurrence != nil {
		fields["recurrence"] = e.Recurrence
	} else if e.Original == "" {
		fields["recurrence"] = json.RawMessage("null")
	}
	for name, value := range e.Rest {
		fields[name] = value
	}
	if e.ShowAs == "unknown" {
		delete(fields, "showAs")
	}
	return fields
}
