package poll

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
)

// letters returns the letters that ask people. Their texts are written when they leave.
func (s *Service) letters(p calendar.Poll, people []calendar.PollPerson) (list []calendar.Letter) {
	if s.Root == nil {
		return nil
	}
	for _, one := range people {
		to := calendar.MailAddress(one.Address)
		list = append(list, calendar.Letter{
			ID: calendar.LetterID(s.NewID()), User: p.Owner, From: to, To: to, Method: calendar.MethodPoll,
			UID: calendar.UID("poll-" + string(one.ID)), Posted: s.now(), Due: s.now(), Data: []byte(one.ID),
		})
	}
	return list
}

// Mail writes the mail of a letter. It is NotFound if the person needs none any more.
func (s *Service) Mail(ctx context.Context, l calendar.Letter) (m calendar.PollMail, err error) {
	none := calendar.Errorf(calendar.NotFound, "", "the person need not be asked any more")
	p, err := s.Store.PollPerson(ctx, calendar.PollPersonID(l.Data))
	if err != nil {
		return m, err
	}
	row, err := s.Store.Poll(ctx, p.Poll)
	if err != nil {
		return m, err
	}
	v, err := s.view(ctx, row)
	if err != nil {
		return m, err
	}
	if s.Root == nil || p.Changes > 0 || !v.Takes(s.Now()) || !v.Owner.GetsIn() || p.Address != string(l.To) {
		return m, none
	}
	in, id := v.language(), "mail.poll.asked"
	if p.Reminders > 0 {
		id = "mail.poll.reminded"
	}
	return calendar.PollMail{
		Name: p.Name, Language: in.Tag(), Subject: in.Text("mail.poll.subject", "title", v.Title),
		Text: in.Text(id, "owner", v.Owner.Title(), "title", v.Title) + "\n\n" +
			in.Text("mail.poll.link", "when", outside.When(in, v.Until(), v.Zone.Location(), "")) + "\n" +
			s.Root.JoinPath(p.Link).String() + "\n\n" + in.Text("mail.poll.own") + "\n",
	}, nil
}

// Words formats a time of a poll: the day with its times, or its days.
func Words(l *locale.Language, t rules.Time, in *time.Location, cycle string) string {
	start, end := t.Within(in)
	if t.AllDay {
		last := end.AddDate(0, 0, -1)
		if !last.After(start) {
			return l.Date(start)
		}
		return l.Text("planner.range", "first", l.Date(start), "last", l.Date(last))
	}
	until := l.Time(end, cycle)
	if end.YearDay() != start.YearDay() || end.Year() != start.Year() {
		until = l.Text("mail.day-time", "day", l.Date(end), "time", until)
	}
	from := l.Text("mail.day-time", "day", l.Date(start), "time", l.Time(start, cycle))
	return l.Text("planner.range", "first", from, "last", until)
}
