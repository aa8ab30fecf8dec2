package web

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Nextcloud's login flow v2: an app asks for a password of its own, and its user allows it in a browser. The app sends
// a POST to the first path, opens the returned address in a browser, and asks the second path until its user has
// answered. DAVx⁵ and other apps speak it: docs.nextcloud.com, developer manual, "Login Flow".
const (
	appLoginPath     = "/index.php/login/v2"
	appLoginPollPath = appLoginPath + "/poll"
	// appLoginPage is the prefix of the pages that ask the user.
	appLoginPage = "app-login/"
)

// isAppLogin reports whether a path belongs to the login flow or to the parts of Nextcloud that are not here. An app
// that tries those gets a 404 and not a request for a password.
func isAppLogin(path string) bool {
	return path == "/index.php" || strings.HasPrefix(path, "/index.php/")
}

// appLogin serves the requests of apps.
func (h *Handler) appLogin(w http.ResponseWriter, r *http.Request, path string) {
	protect(w.Header())
	serve, ok := map[string]func(appLoginPages) error{
		appLoginPath: appLoginPages.startAppLogin, appLoginPollPath: appLoginPages.pollAppLogin,
	}[path]
	if !ok {
		http.Error(w, "there is nothing here", http.StatusNotFound)
		return
	}
	if !allowedMethod(w, r, []string{http.MethodPost}) {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxMachineBody)
	p := appLoginPages{h.request(w, r)}
	if err := serve(p); err != nil {
		p.refuseAppLogin(err)
	}
}

// appLoginStart tells an app where its user answers, and where it gets the answer.
type appLoginStart struct {
	Poll struct {
		Token    auth.SealedState `json:"token"`
		Endpoint string           `json:"endpoint"`
	} `json:"poll"`
	Login string `json:"login"`
}

func (p appLoginPages) startAppLogin() error {
	user, app, err := p.Auth.StartAppLogin(p.r.Context(), p.r.UserAgent(), p.ClientAddr(p.r))
	if err != nil {
		return err
	}
	answer := appLoginStart{Login: p.address().JoinPath(root, appLoginPage, string(user)).String()}
	answer.Poll.Token, answer.Poll.Endpoint = app, p.address().JoinPath(appLoginPollPath).String()
	sendJSON(p.w, http.StatusOK, answer)
	return nil
}

// appCredentials is the app's password. Apps append paths such as remote.php/dav to the server's address.
type appCredentials struct {
	Server      string      `json:"server"`
	LoginName   string      `json:"loginName"`
	AppPassword auth.Secret `json:"appPassword"`
}

func (p appLoginPages) pollAppLogin() error {
	token, err := p.appLoginToken()
	if err != nil {
		return err
	}
	asked, allowed, err := p.Auth.TakeAppLogin(p.r.Context(), token)
	if err != nil {
		return err
	}
	_, secret, err := p.Auth.CreateToken(p.r.Context(), auth.TokenSpec{
		User: allowed.User.Name, Name: asked.Name(), Scopes: calendar.ScopeAll, ForOthers: allowed.ForOthers,
	})
	if err != nil {
		return err
	}
	if p.Named != nil {
		p.Named(p.r.Context(), allowed.User.Name)
	}
	sendJSON(p.w, http.StatusOK, appCredentials{
		strings.TrimSuffix(p.address().String(), "/"), allowed.User.Name, secret,
	})
	return nil
}

// appLoginToken returns the token that an app sends as a form or as JSON.
func (p appLoginPages) appLoginToken() (auth.SealedState, error) {
	kind, _, _ := mime.ParseMediaType(p.r.Header.Get("Content-Type"))
	if kind != "application/json" {
		if err := p.r.ParseForm(); err != nil {
			return "", calendar.Errorf(calendar.Invalid, "", "the form is malformed")
		}
		return auth.SealedState(p.r.Form.Get("token")), nil
	}
	var body struct{ Token auth.SealedState }
	if err := json.NewDecoder(p.r.Body).Decode(&body); err != nil {
		return "", calendar.Errorf(calendar.Invalid, "", "the JSON is malformed")
	}
	return body.Token, nil
}

// refuseAppLogin answers an app. A 404 means that its user has not answered yet.
func (p appLoginPages) refuseAppLogin(err error) {
	status, text := p.explain(err)
	wait := (*auth.ThrottledError)(nil)
	switch {
	case errors.As(err, &wait):
		p.w.Header().Set("Retry-After", strconv.Itoa(wait.Seconds()))
		text = "Too many apps asked from this network. Try again in a moment."
	case status == http.StatusInternalServerError:
		p.Logger.ErrorContext(p.r.Context(), "an app's request for a password failed", "error", err)
	}
	sendJSON(p.w, status, struct {
		Message string `json:"message"`
	}{text})
}

func (h *Handler) appLoginPages() []page {
	return []page{
		get(appLoginPage+"{state}", proven, showing("applogin", appLoginPages.asked)),
		post(appLoginPage+"{state}", proven, appLoginPages.answer),
	}
}

// appLoginContent is the data of the page that asks whether an app may have a password.
type appLoginContent struct {
	State string
	User  string
	// Name is the app's name as it calls itself, Agent its whole User-Agent.
	Name, Agent string
	// From and Here are the addresses of the app and of this browser. Elsewhere is set if they are of different
	// networks.
	From, Here string
	Elsewhere  bool
	// Started and Until are times of the day.
	Started, Until string
	// Delegators are the users who made the visitor their delegate; the box for their calendars is shown if there are
	// any. Others is set if it is ticked.
	Delegators string
	Others     bool
	// Answer is "allow" or "deny" once the user has answered.
	Answer string
}

// appLoginPages ask a user whether an app may have a password of its own.
type appLoginPages struct{ *pageRequest }

func (p appLoginPages) request() (auth.AppLogin, error) {
	a, err := p.Auth.AppLogin(p.r.Context(), auth.SealedState(p.r.PathValue("state")))
	if calendar.ReasonOf(err) == calendar.Invalid {
		err = p.failed(calendar.NotFound, "error.applogin-expired")
	}
	return a, err
}

func (p appLoginPages) asked() (appLoginContent, error) {
	a, err := p.request()
	if err != nil {
		return appLoginContent{}, err
	}
	from, err := p.Service.DelegatedTo(p.r.Context(), p.caller())
	here, c := p.ClientAddr(p.r), p.clock()
	return appLoginContent{
		State: p.r.PathValue("state"), User: p.user().Name, Name: a.Name(), Agent: a.Agent,
		From: a.From.String(), Here: here.String(), Elsewhere: a.Elsewhere(here),
		Started: c.Ago(a.Started), Until: c.time(a.Expires()),
		Delegators: delegatorsIn(from),
	}, err
}

func (p appLoginPages) answer() error {
	content, err := p.asked()
	if err != nil {
		return err
	}
	a, err := p.request()
	if err != nil {
		return err
	}
	content.Answer, content.Others = p.field("answer"), p.field("others") != ""
	allow := content.Answer == "allow"
	if allow {
		err = p.Auth.RoomForToken(p.r.Context(), p.user().ID)
	}
	if err == nil {
		err = p.Auth.AnswerAppLogin(p.r.Context(), a, p.user(), auth.AppLoginAnswer{
			Allowed: allow, ForOthers: content.Others,
		})
	}
	if err != nil {
		content.Answer = ""
		return p.again("applogin", content, err)
	}
	return p.show("applogin", content)
}
