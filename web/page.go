package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
)

// who is the audience of a page. Other visitors get a 404 or the sign-in page.
type who int

const (
	// anybody needs no session.
	anybody who = iota
	// people are signed in.
	people
	// proven visitors have proved their identity within minutes; pages that grant access require it.
	proven
	// admins are administrators. For all other visitors their pages do not exist.
	admins
	// provenAdmins are both.
	provenAdmins
)

// needs lists the requirements of each audience.
var needs = map[who]struct{ session, proof, admin bool }{
	anybody:      {},
	people:       {session: true},
	proven:       {session: true, proof: true},
	admins:       {session: true, admin: true},
	provenAdmins: {session: true, proof: true, admin: true},
}

// page is one row of the table of pages.
type page struct {
	// method is GET, which includes HEAD, or POST.
	method string
	// path is the rest after /account/, as an [http.ServeMux] pattern. One that begins with a slash is the whole path.
	path  string
	who   who
	serve func(*pageRequest) error
	// body limits the size of the request body; 0 means maxForm.
	body int64
	// back is the path of the page with the form. A visitor returns there after proving their identity, since a POST
	// cannot be resumed. Empty means the page's own path.
	back string
}

// fullPath returns the whole pattern of the path, below the path of BASE_URL.
func (p page) fullPath() string {
	if strings.HasPrefix(p.path, "/") {
		return p.path
	}
	return root + p.path
}

// maxForm is more than any of our forms needs.
const maxForm = 64 << 10

// pages returns all pages, by family. Each family has its own file.
func (h *Handler) pages() []page {
	return slices.Concat(
		h.signInPages(),
		h.homePages(),
		h.suggestionPages(),
		h.planningPages(),
		h.answerPages(),
		h.bookingPages(),
		h.pollPages(),
		h.proofPages(),
		h.calendarPages(),
		h.transferPages(),
		h.delegatePages(),
		h.trashPages(),
		h.linkedPages(),
		h.connectPages(),
		h.appPages(),
		h.appLoginPages(),
		h.webhookPages(),
		h.journalPages(),
		h.consentPages(),
		h.accountPages(),
		h.digestPages(),
		h.notificationPages(),
		h.offlinePages(),
		h.securityPages(),
		h.peoplePages(),
		h.groupPages(),
		h.roomPages(),
	)
}

// family is a type with the pages of one family. Its methods serve them; it holds nothing but the request.
type family interface {
	~struct{ *pageRequest }
	show(template string, content any) error
}

// showing returns a page that only renders a template.
func showing[F family, T any](template string, content func(F) (T, error)) func(F) error {
	return func(p F) error {
		c, err := content(p)
		if err != nil {
			return err
		}
		return p.show(template, c)
	}
}

// showAgain shows such a page again, with a form's error.
func showAgain[T any](p *pageRequest, template string, content func() (T, error), wrong error) error {
	c, err := content()
	if err != nil {
		return err
	}
	return p.again(template, c, wrong)
}

// get and post make rows.
func get[F family](path string, who who, serve func(F) error) page {
	return page{method: http.MethodGet, path: path, who: who, serve: serving(serve)}
}

func post[F family](path string, who who, serve func(F) error) page {
	return page{method: http.MethodPost, path: path, who: who, serve: serving(serve)}
}

// postBack makes a POST row with a page to return to after proving one's identity.
func postBack[F family](path string, who who, back string, serve func(F) error) page {
	return page{method: http.MethodPost, path: path, who: who, serve: serving(serve), back: back}
}

// serving returns a method as a function over a request.
func serving[F family](serve func(F) error) func(*pageRequest) error {
	return func(p *pageRequest) error { return serve(F{p}) }
}

// statuses maps reasons to HTTP statuses. For visitors, a forbidden page does not exist.
var statuses = map[calendar.Reason]int{
	calendar.NotFound:    http.StatusNotFound,
	calendar.Forbidden:   http.StatusNotFound,
	calendar.Exists:      http.StatusConflict,
	calendar.Invalid:     http.StatusUnprocessableEntity,
	calendar.Internal:    http.StatusInternalServerError,
	calendar.Stale:       http.StatusConflict,
	calendar.TooLarge:    http.StatusRequestEntityTooLarge,
	calendar.Unsupported: http.StatusUnprocessableEntity,
	calendar.Unavailable: http.StatusServiceUnavailable,
}

// failed returns an error with a text of the visitor's language.
func (p *pageRequest) failed(reason calendar.Reason, id string, pairs ...any) error {
	return calendar.Errorf(reason, "", "%s", p.lang.Text(id, pairs...))
}

// explain returns an error's status and text for a person.
func (p *pageRequest) explain(err error) (status int, text string) {
	var tooLarge *http.MaxBytesError
	var throttled *auth.ThrottledError
	switch {
	case errors.As(err, &throttled):
		return http.StatusTooManyRequests, p.lang.Text("error.throttled")
	case errors.Is(err, auth.ErrUnauthorized):
		return http.StatusUnprocessableEntity, p.lang.Text("error.no-match")
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge, p.lang.Text("error.too-large")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, p.lang.Text("error.busy")
	}
	known, ok := errors.AsType[*calendar.Error](err)
	reason := calendar.ReasonOf(err)
	switch {
	case !ok || reason == calendar.Internal:
		return http.StatusInternalServerError, p.lang.Text("error.internal")
	case errors.Is(err, errNoPage), reason == calendar.Forbidden && !describe.Known(known):
		return http.StatusNotFound, p.lang.Text("error.no-page")
	case reason == calendar.Forbidden:
		return http.StatusUnprocessableEntity, sentence(describe.Fault(p.lang, known))
	}
	if len(known.Left) > 0 {
		return statuses[reason], sentence(p.clock().wording(excerpt).AllLeft(known.Left))
	}
	if id := describe.Instead(known); id != "" {
		return statuses[reason], p.lang.Text(id)
	}
	return statuses[reason], sentence(describe.Fault(p.lang, known))
}

// errMissing is the error for a page that does not exist for this visitor.
func errMissing() error { return errNoPage }

var errNoPage = calendar.Errorf(calendar.NotFound, "", "missing") // explain has the text

// sentence turns an error's text into a sentence.
func sentence(text string) string {
	text = sentenceCase(text)
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// sentenceCase capitalizes the first letter.
func sentenceCase(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
