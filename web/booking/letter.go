package booking

import (
	"context"
	"log/slog"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/outside"
)

// tellHost mails the host of a step of a booking. A failure is no error, because the calendar shows the step.
func (s *Service) tellHost(ctx context.Context, b Booking, id string) {
	u := b.Keeper
	l := languageOf(u)
	text := b.Name + "\n" + b.Address + "\n" + outside.When(l, b.Start, b.View.Zone.Location(), u.View.Clock) + "\n"
	subject := l.Text(id, "title", b.View.Title, "name", b.Name)
	if err := s.Mailer.Send(context.WithoutCancel(ctx), u.Email, u.Title(), subject, text, l); err != nil {
		s.Logger.WarnContext(ctx, "the host of a booking got no mail", slog.Any("error", err))
	}
}

// tellVisitor mails a visitor that the time is booked, with the link for changes. The invitation for their calendar
// comes apart. It is not worth an error: the page says it, and the first mail has the link, too.
func (s *Service) tellVisitor(ctx context.Context, b Booking, token string) {
	l, in := locale.Match(b.Language), b.View.Zone.Location()
	if theirs, err := time.LoadLocation(b.Zone); err == nil {
		in = theirs
	}
	text := l.Text("mail.booking.sure", "title", b.View.Title, "owner", b.With(),
		"when", outside.When(l, b.Start, in, "")) + "\n\n" + l.Text("mail.booking.change") + "\n" +
		s.Root.JoinPath(LinkPath, token).String() + "\n"
	subject := l.Text("mail.subject.booked", "title", b.View.Title)
	if err := s.Mailer.Send(context.WithoutCancel(ctx), b.Address, "", subject, text, l); err != nil {
		s.Logger.WarnContext(ctx, "the visitor of a booking page got no mail", slog.Any("error", err))
	}
}

// languageOf returns a user's language.
func languageOf(u calendar.User) *locale.Language { return locale.Match(u.Languages()...) }

// mailLink mails a visitor the link of a hold. The visitor's own words are not in it, because anybody can enter another
// person's address.
func (s *Service) mailLink(ctx context.Context, v View, h calendar.Hold, token string, l *locale.Language) error {
	in, err := time.LoadLocation(h.Zone)
	if err != nil {
		in = v.Zone.Location()
	}
	text := l.Text("mail.booking.text", "title", v.Title, "owner", v.With(),
		"when", outside.When(l, h.Start, in, "")) + "\n\n" +
		l.Text("mail.booking.link", "minutes", int(holdLasts/time.Minute)) + "\n" +
		s.Root.JoinPath(LinkPath, token).String() + "\n\n" + l.Text("mail.booking.later") + "\n\n" +
		l.Text("mail.booking.unasked") + "\n"
	return s.Mailer.Send(ctx, h.Address, "", l.Text("mail.booking.subject", "title", v.Title), text, l)
}

// LinkPath is the path of the links in mails, below the prefix. No page has so short a name.
const LinkPath = "r"
