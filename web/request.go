package web

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// pageRequest is one request for a page: its visitor, and the response.
type pageRequest struct {
	*Handler
	w http.ResponseWriter
	r *http.Request
	// lang is the language of the page.
	lang *locale.Language
	// session is zero for a visitor who is not signed in.
	session auth.Session
	// before is when the previous visit ended, if known.
	before time.Time
	// returning is set while a user signs in who has been here before.
	returning bool
	// formTo are the other origins that the page's forms may lead to.
	formTo []string
}

// signedIn reports whether the visitor is signed in.
func (p *pageRequest) signedIn() bool { return p.session.ID != "" }

// user returns the signed-in user.
func (p *pageRequest) user() calendar.User { return p.session.User }

// caller returns the visitor as a caller of the service.
func (p *pageRequest) caller() calendar.Caller { return p.session.Caller() }

// recognize loads the visitor's session. An invalid cookie counts as none.
func (p *pageRequest) recognize() error {
	secret := p.cookie(sessionCookie)
	if secret == "" {
		return nil
	}
	session, err := p.Auth.Session(p.r.Context(), secret)
	if errors.Is(err, auth.ErrUnauthorized) {
		p.dropCookie(sessionCookie)
		return nil
	}
	if err != nil {
		return err
	}
	p.session = session
	p.w.Header().Set(sessionTag, string(session.ID))
	p.named()
	p.speak()
	p.renewCookie(secret)
	p.noteVisit()
	return nil
}

// browserLanguage returns the language that the browser asks for.
func (p *pageRequest) browserLanguage() *locale.Language {
	return p.languages.Match(p.r.Header.Get("Accept-Language"))
}

// speak sets the language that the signed-in user has chosen.
func (p *pageRequest) speak() {
	if l := p.languages.Find(p.user().Language); l != nil {
		p.lang = l
	}
}

// adoptLanguage stores the language that the browser asks for, for mails. Errors do not matter to the visitor.
func (p *pageRequest) adoptLanguage() {
	tag := p.browserLanguage().Tag()
	if p.r.Header.Get("Accept-Language") == "" || tag == p.user().BrowserLanguage {
		return
	}
	if _, err := p.Auth.ChangeUser(p.r.Context(), p.user().Name, auth.UserEdit{BrowserLanguage: &tag}); err != nil {
		p.Logger.WarnContext(p.r.Context(), "the browser's language was not stored", "error", err)
	}
}

// named passes the visitor's name to the log.
func (p *pageRequest) named() {
	if p.Named != nil {
		p.Named(p.r.Context(), p.session.User.Name)
	}
}

// enter serves a page if the visitor may see it.
func (p *pageRequest) enter(to page) error {
	need := needs[to.who]
	switch {
	case need.session && !p.signedIn():
		return p.leadTo("sign-in?" + url.Values{"next": {p.comeBack(to)}}.Encode())
	case need.admin && !p.user().Admin:
		return errMissing()
	case need.proof && !p.session.Fresh(p.Now()):
		return p.leadTo("confirm?" + url.Values{"next": {p.comeBack(to)}}.Encode())
	}
	if err := p.readForm(); err != nil {
		return err
	}
	return to.serve(p)
}

// readForm parses the query and the form, so that no page sees half of a malformed one. Pages with uploads parse their
// own.
func (p *pageRequest) readForm() error {
	err := p.r.ParseForm()
	if tooLarge := (*http.MaxBytesError)(nil); err == nil || errors.As(err, &tooLarge) || p.r.Context().Err() != nil {
		return err
	}
	return p.wrong("error.malformed")
}

// comeBack returns the page to show after signing in: the requested page, or the form's page for a POST.
func (p *pageRequest) comeBack(to page) string {
	if to.back != "" {
		return to.back
	}
	back := strings.TrimPrefix(p.r.URL.EscapedPath(), root)
	if p.r.Method != http.MethodPost && p.r.URL.RawQuery != "" {
		back += "?" + p.r.URL.RawQuery
	}
	return back
}

// next returns the page that a form names as the next one. It is always one of our pages.
func (p *pageRequest) next() string {
	return localPath(p.r.FormValue("next"))
}

// localPath accepts only paths of pages, below the root or whole, and nothing that a browser could read as another
// host's address.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") && !isPage(u.Path) ||
		strings.ContainsAny(next, "\\\r\n\t") || strings.Contains(u.Path, "..") {
		return ""
	}
	return next
}

// field returns a form field without surrounding blanks.
func (p *pageRequest) field(name string) string { return strings.TrimSpace(p.r.PostFormValue(name)) }

// href returns the address of one of our pages. A path that begins with a slash is whole.
func (p *pageRequest) href(path string) string {
	if strings.HasPrefix(path, "/") {
		return p.base + path
	}
	return p.base + root + path
}

// leadTo redirects the browser to one of our pages.
func (p *pageRequest) leadTo(path string) error {
	// Relative to the host: behind a proxy only the browser knows its name.
	p.w.Header().Set("Location", p.href(path))
	p.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// done redirects to a page and shows a notice there, by the rest of its id in the catalog: "saved" is the
// text "notice.saved".
func (p *pageRequest) done(path, notice string) error {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	return p.leadTo(path + sign + "done=" + url.QueryEscape(notice))
}

// after calls done, unless there was an error.
func (p *pageRequest) after(err error, path, notice string) error {
	if err != nil {
		return err
	}
	return p.done(path, notice)
}

// show renders a page's template.
func (p *pageRequest) show(name string, content any) error {
	return p.write(http.StatusOK, name, content, "")
}

// again shows a form again, with the error. A server error is passed on as a fault.
func (p *pageRequest) again(name string, content any, err error) error {
	status, text := p.explain(err)
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		return err
	}
	if wait := (*auth.ThrottledError)(nil); errors.As(err, &wait) {
		p.w.Header().Set("Retry-After", strconv.Itoa(wait.Seconds()))
	}
	return p.write(status, name, content, text)
}

// write renders into memory first: a page that fails midway becomes an error, not half a page.
func (p *pageRequest) write(status int, name string, content any, wrong string) error {
	parsed, ok := p.templates[p.lang][name]
	if !ok {
		return fmt.Errorf("there is no template %q", name)
	}
	t, err := parsed()
	if err != nil {
		return fmt.Errorf("the page %s: %w", name, err)
	}
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, "layout", p.frame(content, wrong)); err != nil {
		return fmt.Errorf("the page %s: %w", name, err)
	}
	body := text.Bytes()
	if wrong != "" && status >= http.StatusBadRequest && p.r.Method == http.MethodPost {
		if body, err = refilled(body, p.href(strings.TrimPrefix(p.r.URL.Path, root)), p.r.PostForm, wrong); err != nil {
			return fmt.Errorf("the form on the page %s: %w", name, err)
		}
	}
	header := p.w.Header()
	if len(p.formTo) > 0 {
		header.Set("Content-Security-Policy", policy(p.formTo...))
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	writePage(p.w, p.r, status, body)
	return nil
}

// refuse shows a page with only an explanation.
func (p *pageRequest) refuse(status int, text string) {
	if err := p.write(status, "refusal", status, text); err != nil {
		http.Error(p.w, text, status)
	}
}

// fault shows an error. Internal details go to the log only.
func (p *pageRequest) fault(err error) {
	status, text := p.explain(err)
	if status == http.StatusInternalServerError {
		p.Logger.ErrorContext(p.r.Context(), "a page failed", "error", err)
	}
	p.refuse(status, text)
}

// boundRow is one quota of a user, as administrators see it.
type boundRow struct {
	// Field is the form field, Value the quota as typed, Has the present usage.
	Field, Title, Value, Has string
}

// bounds returns a user's quotas and usage.
func (p userPages) bounds(u calendar.User) ([]boundRow, error) {
	// Count as the user: administrators have no access to others' calendars.
	has, _, err := p.Service.Usage(p.r.Context(), calendar.Caller{User: u, Scopes: calendar.ScopeRead})
	if err != nil {
		return nil, err
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	text := p.lang.Text
	return []boundRow{
		{"calendars", text("person.bounds-calendars"), calendar.BoundText(u.Quota.Calendars), number(has.Calendars)},
		{"objects", text("person.bounds-objects"), calendar.BoundText(u.Quota.Objects), number(has.Objects)},
		{"bytes", text("person.bounds-bytes"), calendar.BoundText(u.Quota.Bytes), calendar.SizeText(has.Bytes)},
	}, nil
}

// setBounds sets a user's quotas: all values of the form, or none if one is invalid.
func (p userPages) setBounds(u calendar.User) error {
	var e auth.UserEdit
	for field, to := range map[string]**int64{
		"calendars": &e.QuotaCalendars, "objects": &e.QuotaObjects, "bytes": &e.QuotaBytes,
	} {
		text := p.field(field)
		n, err := calendar.ParseBound(text)
		if err != nil {
			return calendar.Errorf(calendar.Invalid, "", "%.100q %v", text, err)
		}
		*to = &n
	}
	p.details("", "calendars=%s objects=%s bytes=%s", p.field("calendars"), p.field("objects"), p.field("bytes"))
	_, err := p.ChangeUser(p.r.Context(), u.Name, e)
	return err
}
