package web

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oidc"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// root is where the pages are, below the path of BASE_URL.
const root = "/account/"

// Config has the parts and settings of a Handler.
type Config struct {
	Auth    *auth.Service
	Service *service.Service
	// Answers lets people answer invitations that they got by mail; nil where none are mailed.
	Answers calendar.Answers
	// Proofs lets people show that a mail address is theirs; nil where no mail is sent.
	Proofs Proofs
	// Passlinks mails the links by which people choose a password; nil where no mail is sent.
	Passlinks Passlinks
	// Digests are mails of users' days; nil where no mail is sent.
	Digests Digests
	// WebhookSecret is what messages to a webhook are signed with; nil where nobody is told of changes.
	WebhookSecret func(context.Context, calendar.Webhook) (string, error)
	// BaseURL is where the service is found from outside; nil where that is not known.
	BaseURL *url.URL
	// MCPURL is where assistants find it. LinkPath returns where a public link is, below BaseURL.
	MCPURL   string
	LinkPath func(auth.Link, auth.Secret) string
	// ClientAddr returns where a request comes from, with the proxies that are trusted seen through.
	ClientAddr func(*http.Request) netip.Addr
	// Named is told the visitor's name, for the log.
	Named func(ctx context.Context, user string)
	// Refused is told of a password, code or passkey that did not let the visitor in, for the log.
	Refused func(ctx context.Context)
	// Did is told what an administrator does, and to whom; nil if nobody asks.
	Did func(ctx context.Context, what, whom string)
	// NewUser makes a user with what a user begins with; ChangeUser changes one, and what follows from it.
	NewUser    func(context.Context, auth.NewUser) (calendar.User, error)
	ChangeUser func(ctx context.Context, name string, e auth.UserEdit) (calendar.User, error)
	// Provider is another service that people sign in with, nil for none. CreateUsers tells whether users are
	// made of the people whom it vouches for and who have no account here.
	Provider    *oidc.Provider
	CreateUsers func() bool
	// Consents are the kinds of accounts elsewhere that are linked by their owner's consent there, by the providers' names.
	Consents map[string]Consent
	// Facts tell how the server is, for administrators.
	Facts func(context.Context) Health
	Now   func() time.Time
	// OAuth lets assistants ask people to let them in; nil lets none.
	OAuth *OAuth
	// Version is the program's.
	Version string
	Logger  *slog.Logger
}

// Handler is the pages. It holds tables, and nothing of a visit.
type Handler struct {
	Config
	// base is the path of BaseURL: "" or "/cal". secure tells that browsers come by https.
	base      string
	secure    bool
	mux       *http.ServeMux
	templates map[string]*template.Template
	assets    assets
	guard     *http.CrossOriginProtection
}

// New makes a Handler.
func New(c Config) (*Handler, error) {
	h := &Handler{Config: c, mux: http.NewServeMux(), guard: http.NewCrossOriginProtection()}
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
	if h.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	// What a mail program sends when its button is pressed (RFC 8058) comes from anywhere.
	h.guard.AddInsecureBypassPattern(http.MethodPost + " " + StopPath + "{token}")
	h.guard.SetDenyHandler(http.HandlerFunc(h.refuseForeign))
	for _, p := range h.pages() {
		h.mux.Handle(p.method+" "+root+p.path, h.open(p))
	}
	h.mux.HandleFunc("GET "+root+"static/{name}", h.asset)
	h.mux.HandleFunc("/", h.missing)
	return h, nil
}

// Routes are the patterns that requests are logged and counted under.
func (h *Handler) Routes() []string {
	routes := append(DiscoveryRoutes(), root+"static/{name}", authorizePath, exchangePath, registerPath, revokePath, introspectPath)
	for _, p := range h.pages() {
		routes = append(routes, root+strings.TrimSuffix(p.path, "{$}"))
	}
	return routes
}

// Before answers what is for people, and leaves the rest to the door that shares the port: a browser that opens its
// root is led to the pages.
func (h *Handler) Before(next http.Handler) http.Handler {
	pages := h.guard.Handler(h.mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := h.within(r.URL.Path)
		switch {
		case strings.HasPrefix(path, root):
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
		case path == strings.TrimSuffix(root, "/") || path == "/" && browses(r):
			http.Redirect(w, r, h.base+root, http.StatusSeeOther)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// within is a path without the base, which a proxy takes away or leaves.
func (h *Handler) within(path string) string {
	if h.base != "" && h.BaseURL != nil {
		if rest := strings.TrimPrefix(path, h.BaseURL.Path); rest != path && (rest == "" || rest[0] == '/') {
			return "/" + strings.TrimPrefix(rest, "/")
		}
	}
	return path
}

// browses tells a person's browser from a calendar program: those that ask for a page do not ask with a password.
func browses(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Authorization") == "" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// policy is what a browser may do with a page of ours: show it, with our own style and scripts, and send its forms to
// us. formTo are other origins that a form may lead to.
func policy(formTo ...string) string {
	return "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action " +
		strings.Join(append([]string{"'self'"}, formTo...), " ") + "; frame-ancestors 'none'; base-uri 'none'"
}

// protect sets the headers of every answer.
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

// refuseForeign answers a form that a page of somebody else's sent.
func (h *Handler) refuseForeign(w http.ResponseWriter, r *http.Request) {
	v := h.outside(w, r)
	v.refuse(http.StatusForbidden, "This form was sent by a page of another site. Nothing was changed.")
}

// missing answers where there is nothing, and where nobody may know that there is something.
func (h *Handler) missing(w http.ResponseWriter, r *http.Request) {
	v := h.outside(w, r)
	if err := v.recognize(); err != nil { //nolint:contextcheck // a visit has its request's
		v.fault(err) //nolint:contextcheck // likewise
		return
	}
	v.refuse(http.StatusNotFound, "There is no such page.")
}

// outside is a visit that no page takes. Nothing that comes with it is read: it has no bound of a page.
func (h *Handler) outside(w http.ResponseWriter, r *http.Request) *visit {
	r.Body = http.NoBody
	return &visit{Handler: h, w: w, r: r}
}

// open lets in the visitors that may see a page.
func (h *Handler) open(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit := p.body
		if limit == 0 {
			limit = maxForm
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		v := &visit{Handler: h, w: w, r: r, page: p}
		err := v.recognize() //nolint:contextcheck // a visit has its request's
		if err == nil {
			err = v.enter()
		}
		if err != nil {
			v.fault(err) //nolint:contextcheck // likewise
		}
	})
}
