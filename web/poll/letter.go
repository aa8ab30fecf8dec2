package poll

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/web/outside"
)

// letters returns letters to people of a poll. Their texts are written when they leave, by the poll's state then.
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

// Mail writes the mail of a letter: it asks the person, or says that the poll was cancelled. It is NotFound if the
// person needs none any more.
func (s *Service) Mail(ctx context.Context, l calendar.Letter) (m calendar.PollMail, err error) {
	none := calendar.Errorf(calendar.NotFound, "", "the person needs no mail any more")
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
	if s.Root == nil || !v.Owner.GetsIn() || p.Address != string(l.To) {
		return m, none
	}
	in := v.language(p)
	m.Name, m.Language = p.Name, in.Tag()
	words := []any{"owner", v.Owner.Title(), "title", v.Title}
	switch {
	case v.State == calendar.PollCancelled:
		m.Subject = in.Text("mail.poll.cancelled-subject", words...)
		m.Text = in.Text("mail.poll.cancelled", words...) + "\n"
		return m, nil
	case p.Changes > 0 || !v.Takes(s.Now()):
		return m, none
	}
	id := "mail.poll.asked"
	if p.Reminders > 0 {
		id = "mail.poll.reminded"
	}
	m.Subject = in.Text("mail.poll.subject", words...)
	m.Text = in.Text(id, words...) + "\n\n" +
		in.Text("mail.poll.link", "when", outside.When(in, v.Until(), v.Zone.Location(), "")) + "\n" +
		s.Root.JoinPath(p.Link).String() + "\n\n" + in.Text("mail.poll.own") + "\n"
	return m, nil
}
