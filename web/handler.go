// Package web serves the HTML pages for people, below /account/ on the CalDAV door's port.
//
// A page is a row in a table ([Handler.pages]): its path, its audience, and a method that serves it. Everything works
// without scripts, except passkeys, which need them. No page loads anything from another host.
package web

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oidc"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/intake"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/web/booking"
	"caldav-mcp-server/web/live"
	"caldav-mcp-server/web/poll"
)

// root is the path of the pages for settings, below the path of BASE_URL. The calendar and the tasks have their own.
const (
	root         = "/account/"
	calendarRoot = "/calendar/"
	tasksRoot    = "/tasks/"
)

// isPage reports whether a path belongs to a page.
func isPage(path string) bool {
	return slices.ContainsFunc([]string{root, calendarRoot, tasksRoot, bookRoot, pollRoot}, func(prefix string) bool {
		return strings.HasPrefix(path, prefix)
	})
}

// Config holds the dependencies and settings of a Handler.
type Config struct {
	Auth    *auth.Service
	Service *service.Service
	// Intake imports uploaded files; nil turns that off.
	Intake *intake.Intake
	// Answers lets people answer invitations that they got by mail; nil if none are mailed.
	Answers calendar.Answers
	// Bookings runs the booking pages; nil if the server sends no mail.
	Bookings *booking.Service
	// Polls runs the polls; nil turns them off.
	Polls *poll.Service
	// Proofs verifies mail addresses; nil if the server sends no mail.
	Proofs Proofs
	// Passlinks mails invite and reset links; nil if the server sends no mail.
	Passlinks Passlinks
	// Digests sends users their daily mail; nil if the server sends no mail.
	Digests Digests
	// Notifications notify users without an app; nil turns that off.
	Notifications Notifications
	// WebhookSecret returns the signing secret of a webhook; nil if webhooks are off.
	WebhookSecret func(context.Context, calendar.Webhook) (string, error)
	// BaseURL is the server's public address; nil if it is unknown.
	BaseURL *url.URL
	// MCPURL is the address for assistants. LinkPath returns the path of a public link, below BaseURL.
	MCPURL   string
	LinkPath func(auth.Link, auth.Secret) string
	// ClientAddr returns the client's address behind trusted proxies.
	ClientAddr func(*http.Request) netip.Addr
	// Named passes the visitor's name to the log.
	Named func(ctx context.Context, user string)
	// Refused reports a wrong password, code or passkey to the log.
	Refused func(ctx context.Context)
	// Did passes an action and the users and groups that it concerns to the audit log, Details the calendar and the
	// right or numbers. Unchanged says that a request changed nothing. They are nil if there is no audit log.
	Did       func(ctx context.Context, what, whom string)
	Details   func(ctx context.Context, calendar, detail string)
	Unchanged func(ctx context.Context)
	// Audit reads the audit log; nil if it is no file.
	Audit AuditReader
	// NewUser creates a user with their initial calendars; ChangeUser changes one, with all consequences.
	NewUser    func(context.Context, auth.NewUser) (calendar.User, error)
	ChangeUser func(ctx context.Context, name string, e auth.UserEdit) (calendar.User, error)
	// Defaults returns the defaults of new users, and the names of settings that cannot be changed here. SetDefaults
	// changes the defaults.
	Defaults    func(context.Context) (d auth.Defaults, fixed []string, err error)
	SetDefaults func(context.Context, auth.Defaults) error
	// NewRoom creates a room with its calendar.
	NewRoom func(context.Context, auth.NewUser) (calendar.User, error)
	// DeleteUser cancels a user's coming meetings and deletes the user. While mails to guests wait, it disables the
	// user and reports that the server deletes them later; IsDeletedLater reports the same of a user.
	DeleteUser     func(context.Context, calendar.User, calendar.UserDeletion) (later bool, err error)
	IsDeletedLater func(context.Context, calendar.User) (bool, error)
	// Provider is the OpenID provider; nil if there is none. CreateUsers reports whether people without an account here
	// get one when they sign in through it.
	Provider    *oidc.Provider
	CreateUsers func() bool
	// OnlyProvider lets users sign in only through the provider, or by a link of an administrator.
	OnlyProvider bool
	// ProviderGroups are the provider's groups that make users members of groups here: by the name of ours, the
	// provider's.
	ProviderGroups map[string][]string
	// Consents are the kinds of accounts that are linked by OAuth consent, by provider name.
	Consents map[string]Consent
	// Facts returns the server's state, for administrators.
	Facts func(context.Context) Health
	// Checks checks the server at its public addresses, for administrators; nil if they are unknown.
	Checks func(context.Context) ([]Check, error)
	Now    func() time.Time
	// OAuth lets assistants request access; nil turns that off.
	OAuth *OAuth
	// Version is the program's version.
	Version string
	Logger  *slog.Logger
}

// Handler serves the pages. It holds tables and the open streams, and no other state of a request.
type Handler struct {
	Config
	// base is the path of BaseURL: "" or "/cal". secure is set if browsers connect by https.
	base      string
	secure    bool
	mux       *http.ServeMux
	languages *locale.Catalogs
	// visits limits the requests of a visitor of booking pages.
	visits    *auth.Limiter
	templates map[*locale.Language]templates
	assets    assets
	guard     *http.CrossOriginProtection
	streams   live.Streams
}

// New makes a Handler.
func New(c Config) (*Handler, error) {
	h := &Handler{
		Config: c, mux: http.NewServeMux(), guard: http.NewCrossOriginProtection(),
		visits: auth.NewLimiter(c.Now, visitRate, visitorsMost),
	}
	if c.BaseURL != nil {
		h.base, h.secure = c.BaseURL.EscapedPath(), c.BaseURL.Scheme == "https"
		if err := h.guard.AddTrustedOrigin(c.BaseURL.Scheme + "://" + c.BaseURL.Host); err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
	}
	var err error
	if h.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if h.languages, err = locale.Load(); err != nil {
		return nil, err
	}
	if h.templates, err = newTemplates(h.languages); err != nil {
		return nil, err
	}
	// One-click unsubscribe requests from mail programs (RFC 8058) have any origin.
	h.guard.AddInsecureBypassPattern(http.MethodPost + " " + StopPath + "{token}")
	h.guard.SetDenyHandler(http.HandlerFunc(h.refuseForeign))
	for _, p := range h.pages() {
		h.mux.Handle(p.method+" "+p.fullPath(), h.open(p))
	}
	h.mux.HandleFunc("GET "+root+"static/{name}", h.asset)
	h.mux.HandleFunc("/", h.missing)
	return h, nil
}

// Routes are the patterns for logs and metrics.
func (h *Handler) Routes() []string {
	routes := append(DiscoveryRoutes(), root+"static/{name}", authorizePath, exchangePath, registerPath, revokePath,
		introspectPath, appLoginPath, appLoginPollPath)
	for _, p := range h.pages() {
		routes = append(routes, strings.TrimSuffix(p.fullPath(), "{$}"))
	}
	return routes
}

// Before serves the requests for pages and passes the rest to the door on the same port. A browser that opens the root
// is redirected to the pages.
func (h *Handler) Before(next http.Handler) http.Handler {
	pages := h.guard.Handler(h.mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := h.within(r.URL.Path)
		switch {
		case isPage(path):
			own := r.Clone(r.Context())
			own.URL.Path, own.URL.RawPath = path, ""
			protect(w.Header())
			if h.OAuth != nil && asksForConsent(path) {
				w.Header().Del("Cross-Origin-Opener-Policy")
			}
			pages.ServeHTTP(w, own)
		case isDiscovery(path):
			h.discover(w, r, path)
		case isMachine(path):
			h.machine(w, r, path)
		case isAppLogin(path):
			h.appLogin(w, r, path)
		case path == strings.TrimSuffix(root, "/"):
			http.Redirect(w, r, h.base+root, http.StatusSeeOther)
		case path == calendarRoot[:len(calendarRoot)-1], path == "/" && browses(r):
			http.Redirect(w, r, h.base+calendarRoot, http.StatusSeeOther)
		case path == tasksRoot[:len(tasksRoot)-1]:
			http.Redirect(w, r, h.base+tasksRoot, http.StatusSeeOther)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// HasPage reports whether a request is for a page below /account/. Each page limits the body of its requests.
func (h *Handler) HasPage(r *http.Request) bool { return strings.HasPrefix(h.within(r.URL.Path), root) }

// within removes the base from a path; some proxies strip it and some do not.
func (h *Handler) within(path string) string {
	if h.base != "" && h.BaseURL != nil {
		if rest := strings.TrimPrefix(path, h.BaseURL.Path); rest != path && (rest == "" || rest[0] == '/') {
			return "/" + strings.TrimPrefix(rest, "/")
		}
	}
	return path
}

// browses reports whether a request is a browser's rather than a calendar app's: browsers ask for HTML and send no
// password.
func browses(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Authorization") == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// policy is the Content-Security-Policy of our pages: only our styles and scripts, and forms that go to us. formTo adds
// further targets for forms.
func policy(formTo ...string) string {
	return "default-src 'none'; style-src 'self'; script-src 'self'; worker-src 'self'; manifest-src 'self'; " +
		"img-src 'self'; connect-src 'self'; form-action " +
		strings.Join(append([]string{"'self'"}, formTo...), " ") + "; frame-ancestors 'none'; base-uri 'none'"
}

// protect sets the headers of every response.
func protect(header http.Header) {
	header.Set("Content-Security-Policy", policy())
	// Not no-referrer: with that, browsers hide the origin of our own forms from us as well.
	header.Set("Referrer-Policy", "same-origin")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	header.Set("Cache-Control", "no-store")
}

// refuseForeign answers a form that another site's page sent.
func (h *Handler) refuseForeign(w http.ResponseWriter, r *http.Request) {
	p := h.outside(w, r)
	p.refuse(http.StatusForbidden, p.lang.Text("error.foreign-form"))
}

// missing answers for paths that do not exist, or whose existence must stay hidden.
func (h *Handler) missing(w http.ResponseWriter, r *http.Request) {
	p := h.outside(w, r)
	if err := p.recognize(); err != nil {
		p.fault(err)
		return
	}
	p.refuse(http.StatusNotFound, p.lang.Text("error.no-page"))
}

// outside returns a pageRequest for a path that has no page. It drops the body, since no page limits its size.
func (h *Handler) outside(w http.ResponseWriter, r *http.Request) *pageRequest {
	r.Body = http.NoBody
	return h.request(w, r)
}

// request returns a pageRequest in the visitor's language.
func (h *Handler) request(w http.ResponseWriter, r *http.Request) *pageRequest {
	p := &pageRequest{Handler: h, w: w, r: r}
	p.lang = p.browserLanguage()
	return p
}

// drainMost limits the part of a too large body that is read before the answer.
const drainMost = 1 << 30

// tooLarge refuses a body. Browsers show no answer before they have sent the whole body, but an error of the connection
// if it is closed meanwhile. So the body of a signed-in visitor is read and dropped.
func (p *pageRequest) tooLarge(body io.Reader, limit int64) error {
	if limit <= maxForm {
		return &http.MaxBytesError{Limit: limit}
	}
	if p.signedIn() {
		_, _ = io.CopyN(io.Discard, body, min(p.r.ContentLength, drainMost)) // the answer is the same
	}
	return p.failed(calendar.TooLarge, "error.file-size",
		"size", calendar.SizeText(p.r.ContentLength), "most", calendar.SizeText(limit-maxForm))
}

// open serves a page to the visitors who may see it.
func (h *Handler) open(to page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit := to.body
		if limit == 0 {
			limit = maxForm
		}
		whole := r.Body
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		p := h.request(w, r)
		err := p.recognize()
		switch {
		case err != nil:
		case r.ContentLength > limit:
			err = p.tooLarge(whole, limit)
		default:
			err = p.enter(to)
		}
		if err != nil {
			p.fault(err)
		}
	})
}
