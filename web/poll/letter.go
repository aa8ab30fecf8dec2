package poll

import (
	"context"

	"caldav-mcp-server/calendar"
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
