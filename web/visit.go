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
)

// visit is one page request and its visitor.
type visit struct {
	*Handler
	w    http.ResponseWriter
	r    *http.Request
	page page
	// session is zero for a visitor who is not signed in.
	session auth.Session
	// before is when the previous visit ended, if known.
	before time.Time
	// formTo are the other origins that the page's forms may lead to.
	formTo []string
}

// signedIn reports whether the visitor is signed in.
func (v *visit) signedIn() bool { return v.session.ID != "" }

// user returns the signed-in user.
func (v *visit) user() calendar.User { return v.session.User }

// caller returns the visitor as a caller of the service.
func (v *visit) caller() calendar.Caller { return v.session.Caller() }

// recognize loads the visitor's session. An invalid cookie counts as none.
func (v *visit) recognize() error {
	secret := v.cookie(sessionCookie)
	if secret == "" {
		return nil
	}
	session, err := v.Auth.Session(v.r.Context(), secret)
	if errors.Is(err, auth.ErrUnauthorized) {
		v.dropCookie(sessionCookie)
		return nil
	}
	if err != nil {
		return err
	}
	v.session = session
	v.named()
	v.renewCookie(secret)
	v.noteVisit()
	return nil
}

// named passes the visitor's name to the log.
func (v *visit) named() {
	if v.Named != nil {
		v.Named(v.r.Context(), v.session.User.Name)
	}
}

// enter serves the page if the visitor may see it.
func (v *visit) enter() error {
	need := needs[v.page.who]
	switch {
	case need.session && !v.signedIn():
		return v.leadTo("sign-in?" + url.Values{"next": {v.comeBack()}}.Encode())
	case need.admin && !v.user().Admin:
		return errMissing()
	case need.proof && !v.session.Fresh(v.Now()):
		return v.leadTo("confirm?" + url.Values{"next": {v.comeBack()}}.Encode())
	}
	if err := v.readForm(); err != nil {
		return err
	}
	return v.page.serve(v)
}

// readForm parses the query and the form, so that no page sees half of a malformed one. Pages with uploads parse their
// own.
func (v *visit) readForm() error {
	err := v.r.ParseForm()
	if tooLarge := (*http.MaxBytesError)(nil); err == nil || errors.As(err, &tooLarge) || v.r.Context().Err() != nil {
		return err
	}
	return calendar.Errorf(calendar.Invalid, "", "the address or the form that was sent is malformed (%v); nothing was changed", err)
}

// comeBack returns the page to show after signing in: the requested page, or the form's page for a POST.
func (v *visit) comeBack() string {
	if v.page.back != "" {
		return v.page.back
	}
	back := strings.TrimPrefix(v.r.URL.Path, root)
	if v.r.Method != http.MethodPost && v.r.URL.RawQuery != "" {
		back += "?" + v.r.URL.RawQuery
	}
	return back
}

// next returns the page that a form names as the next one. It is always one of our pages.
func (v *visit) next() string {
	return localPath(v.r.FormValue("next"))
}

// localPath accepts only paths below the root, and nothing that a browser could read as another host's address.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") || strings.ContainsAny(next, "\\\r\n\t") || strings.Contains(u.Path, "..") {
		return ""
	}
	return next
}

// field returns a form field without surrounding blanks.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }

// href returns the address of one of our pages.
func (v *visit) href(path string) string { return v.base + root + path }

// leadTo redirects the browser to one of our pages.
func (v *visit) leadTo(path string) error {
	// Relative to the host: behind a proxy only the browser knows its name.
	v.w.Header().Set("Location", v.href(path))
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// done redirects to a page and shows a notice there, by its key in the table of notices.
func (v *visit) done(path, notice string) error {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	return v.leadTo(path + sign + "done=" + url.QueryEscape(notice))
}

// after calls done, unless there was an error.
func (v *visit) after(err error, path, notice string) error {
	if err != nil {
		return err
	}
	return v.done(path, notice)
}

// show renders a page's template.
func (v *visit) show(name string, content any) error {
	return v.write(http.StatusOK, name, content, "")
}

// again shows a form again, with the error. A server error is passed on as a fault.
func (v *visit) again(name string, content any, err error) error {
	status, text := explain(err)
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		return err
	}
	if wait := (*auth.ThrottledError)(nil); errors.As(err, &wait) {
		v.w.Header().Set("Retry-After", strconv.Itoa(wait.Seconds()))
	}
	return v.write(status, name, content, text)
}

// write renders into memory first: a page that fails midway becomes an error, not half a page.
func (v *visit) write(status int, name string, content any, wrong string) error {
	t, ok := v.templates[name]
	if !ok {
		return fmt.Errorf("there is no template %q", name)
	}
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, "layout", v.frame(content, wrong)); err != nil {
		return fmt.Errorf("the page %s: %w", name, err)
	}
	header := v.w.Header()
	if len(v.formTo) > 0 {
		header.Set("Content-Security-Policy", policy(v.formTo...))
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(text.Len()))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(text.Bytes()) // the visitor may have gone
	return nil
}

// refuse shows a page with only an explanation.
func (v *visit) refuse(status int, text string) {
	if err := v.write(status, "refusal", status, text); err != nil {
		http.Error(v.w, text, status)
	}
}

// fault shows an error. Internal details go to the log only.
func (v *visit) fault(err error) {
	status, text := explain(err)
	if status == http.StatusInternalServerError {
		v.Logger.ErrorContext(v.r.Context(), "a page failed", "error", err)
	}
	v.refuse(status, text)
}
