package web

import (
	"io"
	"mime"
	"net/http"
	"net/url"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
)

// badRequest refuses a malformed request.
func badRequest(what string) error { return &oauth.Error{Code: oauth.InvalidRequest, What: what} }

// readForm reads a form that a program sends. It ignores the query, which would end up in logs.
func readForm(r *http.Request) (url.Values, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/x-www-form-urlencoded" {
		return nil, badRequest("the Content-Type is application/x-www-form-urlencoded")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, badRequest("the form is malformed")
	}
	return form, nil
}

// identity returns a client's credentials (RFC 6749 §2.3.1). Only one method may be used at a time.
func identity(r *http.Request, form url.Values) (oauth.Identity, error) {
	id, secret := form.Get("client_id"), form.Get("client_secret")
	if r.Header.Get("Authorization") == "" {
		return oauth.Identity{ID: auth.ClientID(id), Secret: secret}, nil
	}
	user, password, ok := r.BasicAuth()
	if !ok {
		return oauth.Identity{},
			&oauth.Error{Code: oauth.InvalidClient, What: "clients show their secret by Basic, or in the form"}
	}
	user, err := url.QueryUnescape(user)
	if err == nil {
		password, err = url.QueryUnescape(password)
	}
	if err != nil || secret != "" || id != "" && id != user {
		return oauth.Identity{}, badRequest("the client says in two ways who it is")
	}
	return oauth.Identity{ID: auth.ClientID(user), Secret: password}, nil
}

// identified reads a form and its client's credentials.
func identified(r *http.Request) (url.Values, oauth.Identity, error) {
	form, err := readForm(r)
	if err != nil {
		return nil, oauth.Identity{}, err
	}
	who, err := identity(r, form)
	return form, who, err
}

func (h *Handler) token(w http.ResponseWriter, r *http.Request, site oauth.Site) error {
	form, who, err := identified(r)
	if err != nil {
		return err
	}
	tokens, err := h.OAuth.Exchange(r.Context(), site, h.ClientAddr(r), who, form)
	if err != nil {
		return err
	}
	w.Header().Set("Pragma", "no-cache") // RFC 6749 §5.1
	sendJSON(w, http.StatusOK, tokens)
	return nil
}

func (h *Handler) revoke(w http.ResponseWriter, r *http.Request, _ oauth.Site) error {
	form, who, err := identified(r)
	if err != nil {
		return err
	}
	if err := h.OAuth.Revoke(r.Context(), h.ClientAddr(r), who, form); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

func (h *Handler) introspect(w http.ResponseWriter, r *http.Request, site oauth.Site) error {
	form, who, err := identified(r)
	if err != nil {
		return err
	}
	claims, err := h.OAuth.Introspect(r.Context(), site, h.ClientAddr(r), who, form)
	if err != nil {
		return err
	}
	sendJSON(w, http.StatusOK, claims)
	return nil
}

// registered is the response to a client's registration (RFC 7591 §3.2.1).
type registered struct {
	ID            auth.ClientID `json:"client_id"`
	Secret        auth.Secret   `json:"client_secret,omitempty"`
	Issued        int64         `json:"client_id_issued_at"`
	SecretExpires *int64        `json:"client_secret_expires_at,omitempty"`
	Name          string        `json:"client_name"`
	Redirects     []string      `json:"redirect_uris"`
	GrantTypes    []string      `json:"grant_types"`
	AnswerTypes   []string      `json:"response_types"`
	Method        oauth.Method  `json:"token_endpoint_auth_method"`
	Type          string        `json:"application_type"`
}

func (h *Handler) register(w http.ResponseWriter, r *http.Request, _ oauth.Site) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return badRequest("the Content-Type is application/json")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	c, err := h.OAuth.Register(r.Context(), h.ClientAddr(r), body)
	if err != nil {
		return err
	}
	told := registered{
		ID: c.ID, Secret: c.Secret, Issued: c.Created.Unix(), Name: c.Name, Redirects: c.Redirects,
		GrantTypes: grantTypes, AnswerTypes: answerTypes,
		Method: c.Method, Type: c.Type,
	}
	if c.Secret != "" {
		told.SecretExpires = new(int64) // 0 means never
	}
	sendJSON(w, http.StatusCreated, told)
	return nil
}
