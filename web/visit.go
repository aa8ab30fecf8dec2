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

// visit is one request for a page, and the visitor who makes it.
type visit struct {
	*Handler
	w    http.ResponseWriter
	r    *http.Request
	page page
	// session is zero for a visitor who is not signed in.
	session auth.Session
	// before is when the visit before this one ended, as far as it is known.
	before time.Time
	// formTo are other origins to which a form of the page may lead.
	formTo []string
}

// signedIn tells whether anybody is.
func (v *visit) signedIn() bool { return v.session.ID != "" }

// user is the one who is signed in.
func (v *visit) user() calendar.User { return v.session.User }

// caller is the visitor as the rooms of the middle know them.
func (v *visit) caller() calendar.Caller { return v.session.Caller() }

// recognize finds the visitor's session. A cookie that is no longer good is that of a stranger.
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

// named tells the log whose visit it is.
func (v *visit) named() {
	if v.Named != nil {
		v.Named(v.r.Context(), v.session.User.Name)
	}
}

// enter serves the page to a visitor that may see it.
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

// readForm parses the query and the form, so that no page sees half of a malformed one. Uploads are left to their pages.
func (v *visit) readForm() error {
	err := v.r.ParseForm()
	if tooLarge := (*http.MaxBytesError)(nil); err == nil || errors.As(err, &tooLarge) || v.r.Context().Err() != nil {
		return err
	}
	return calendar.Errorf(calendar.Invalid, "", "the address or the form that was sent is malformed (%v); nothing was changed", err)
}

// comeBack is what a visitor sees once they have signed in: what they asked for, or the form of what they sent.
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

// next is where a form said to go on to: a page of ours, whatever was written there.
func (v *visit) next() string {
	return localPath(v.r.FormValue("next"))
}

// localPath takes a path below the root, and nothing that a browser could take for an address elsewhere.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/") || strings.ContainsAny(next, "\\\r\n\t") || strings.Contains(u.Path, "..") {
		return ""
	}
	return next
}

// field is a field of a form, without blanks around it.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostFormValue(name)) }

// href is the address of a page of ours.
func (v *visit) href(path string) string { return v.base + root + path }

// leadTo sends the browser on to a page of ours.
func (v *visit) leadTo(path string) error {
	// Relative to the host: behind a proxy only the browser knows its name.
	v.w.Header().Set("Location", v.href(path))
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// done leads on to a page that says what was done, by a key of the table of notices.
func (v *visit) done(path, notice string) error {
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	return v.leadTo(path + sign + "done=" + url.QueryEscape(notice))
}

// after is done, unless that went wrong.
func (v *visit) after(err error, path, notice string) error {
	if err != nil {
		return err
	}
	return v.done(path, notice)
}

// show writes a page by its template.
func (v *visit) show(name string, content any) error {
	return v.write(http.StatusOK, name, content, "")
}

// again shows a form again, with the error. An error that a person cannot help is passed on as a fault.
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

// write renders into memory first: a page that fails in the middle is an error, not half a page.
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
	_, _ = v.w.Write(text.Bytes()) // a visitor who has gone does not read it
	return nil
}

// refuse shows a page that says why there is nothing else.
func (v *visit) refuse(status int, text string) {
	if err := v.write(status, "refusal", status, text); err != nil {
		http.Error(v.w, text, status)
	}
}

// fault shows an error. The part that is not for the visitor goes to the log.
func (v *visit) fault(err error) {
	status, text := explain(err)
	if status == http.StatusInternalServerError {
		v.Logger.ErrorContext(v.r.Context(), "a page failed", "error", err)
	}
	v.refuse(status, text)
}
