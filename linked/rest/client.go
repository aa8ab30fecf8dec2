// Package rest is a client for JSON APIs of known servers. It renews access tokens, retries while a server is busy, and
// limits the size of responses.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/outbound"
)

const (
	// answerBytes limits a response: a page of some thousand events.
	answerBytes = 64 << 20
	// attempts is the maximum number of tries while a server is busy or unreachable, with growing pauses.
	attempts = 3
	// patience limits the Retry-After that a request waits for; with a longer one, the caller gets the error.
	patience = 4 * time.Second
	// usualPause is the first wait; each one is twice the previous one.
	usualPause = 250 * time.Millisecond
)

// Client sends requests to one server.
type Client struct {
	HTTP *http.Client
	// Base is the prefix of all paths, without a trailing slash.
	Base string
	// Token returns the access token. stale is one that was refused, or "".
	Token func(ctx context.Context, stale string) (string, error)
	// Read returns the error code and the message for people from an error's body.
	Read func(body []byte) (reason, message string)
	// Busy reports whether a 403 with this reason is temporary.
	Busy func(reason string) bool
	// Prefer are headers for each request.
	Prefer http.Header
	// Most limits the bytes of a response; 0 means the default.
	Most int64
	// Pause is the wait before the second try; the wait before the third is twice as long. 0 means the default.
	Pause time.Duration
}

// Request is a request.
type Request struct {
	Method string
	// Path is relative to Base, or a full address that begins with it.
	Path  string
	Query url.Values
	// Match is the If-Match header; "" for none.
	Match string
	// Body is sent as JSON.
	Body any
}

// Query encodes a query. Spaces become %20: OData filters do not read + as a space.
func Query(q url.Values) string { return strings.ReplaceAll(q.Encode(), "+", "%20") }

// AnswerError is an error response.
type AnswerError struct {
	Status int
	// Reason is the server's error code, Message its text for people.
	Reason, Message string
	// After is the Retry-After.
	After time.Duration
}

// Error implements error.
func (p *AnswerError) Error() string {
	return fmt.Sprintf("%d %s", p.Status, p.Reason)
}

// AnswerStatus returns the status, for packages that do not import this one.
func (p *AnswerError) AnswerStatus() int { return p.Status }

// Do sends a request and decodes the response into a value, or ignores it if that is nil.
func (c *Client) Do(ctx context.Context, r Request, into any) error {
	if !c.own(r.Path) {
		return fmt.Errorf("an address that is not the server's: %.60s", r.Path)
	}
	body, err := encode(r.Body)
	if err != nil {
		return err
	}
	stale, renewed := "", false
	for attempt := 1; ; attempt++ {
		token, err := c.Token(ctx, stale)
		if err != nil {
			return err
		}
		err = c.once(ctx, r, body, token, into)
		if problem, is := errors.AsType[*AnswerError](err); is && problem.Status == http.StatusUnauthorized &&
			!renewed {
			stale, renewed = token, true
			continue
		}
		wait, again := c.again(r, err, attempt)
		if !again || !sleep(ctx, wait) {
			return c.meaning(r, err)
		}
	}
}

// own reports whether a path is on our server: links to next pages are full addresses, and tokens must not go to any
// other server.
func (c *Client) own(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, c.Base+"/")
}

func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return Text(body)
}

// once sends a request and reads its response.
func (c *Client) once(ctx context.Context, r Request, body []byte, token string, into any) error {
	address := r.Path
	if strings.HasPrefix(address, "/") {
		address = c.Base + address
	}
	if len(r.Query) != 0 {
		address += "?" + Query(r.Query)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, c.Prefer)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Match != "" {
		req.Header.Set("If-Match", r.Match)
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return &lost{cause: err}
	}
	defer resp.Body.Close()
	most := cmp.Or(c.Most, answerBytes)
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if int64(len(text)) > most {
		return mirror.Refusef("The server's answer is larger than %d KB.", most>>10)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return c.problem(resp, text)
	}
	if err != nil {
		return &lost{cause: err}
	}
	if into == nil || len(text) == 0 && resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &lost{cause: errors.New("the answer is no JSON of the kind that was asked for")}
	}
	return nil
}

// lost means that the response is missing or incomplete. Its cause may contain an address and is only for the log.
type lost struct{ cause error }

func (l *lost) Error() string { return "the answer was lost" }

func (l *lost) Unwrap() error { return l.cause }

func (c *Client) problem(resp *http.Response, body []byte) *AnswerError {
	p := &AnswerError{Status: resp.StatusCode}
	p.Reason, p.Message = c.Read(body)
	p.After = outbound.RetryAfter(resp.Header)
	return p
}

// again reports whether to retry, and returns the wait. A request that may have taken effect is not repeated.
func (c *Client) again(r Request, err error, attempt int) (time.Duration, bool) {
	if err == nil || attempt == attempts {
		return 0, false
	}
	wait := cmp.Or(c.Pause, usualPause) << (attempt - 1)
	if problem, is := errors.AsType[*AnswerError](err); is {
		switch {
		case !c.passing(problem):
			return 0, false
		case problem.Status >= http.StatusInternalServerError && problem.Status != http.StatusServiceUnavailable &&
			r.Method != http.MethodGet:
			return 0, false
		}
		return max(wait, problem.After), problem.After <= patience
	}
	_, gone := errors.AsType[*lost](err)
	return wait, gone && r.Method == http.MethodGet
}

// passing reports whether an error is temporary.
func (c *Client) passing(p *AnswerError) bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= http.StatusInternalServerError ||
		p.Status == http.StatusForbidden && c.Busy(p.Reason)
}

// sleep waits and reports whether the context is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// meaning converts an error to the mirror's errors. 404, 409, 410 and 412 stay unchanged: their meaning depends on the
// request.
func (c *Client) meaning(r Request, err error) error {
	if err == nil {
		return nil
	}
	problem, is := errors.AsType[*AnswerError](err)
	if !is {
		if _, gone := errors.AsType[*lost](err); gone {
			return &mirror.Later{Cause: err, Unknown: r.Method != http.MethodGet}
		}
		return err
	}
	switch {
	case problem.Status == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", mirror.ErrSignIn, problem)
	case c.passing(problem):
		unknown := problem.Status >= http.StatusInternalServerError && r.Method != http.MethodGet
		return &mirror.Later{After: problem.After, Why: busyText(problem), Cause: problem, Unknown: unknown}
	case problem.Status == http.StatusBadRequest, problem.Status == http.StatusForbidden,
		problem.Status == http.StatusRequestEntityTooLarge,
		problem.Status == http.StatusUnprocessableEntity, problem.Status == http.StatusMethodNotAllowed:
		refusal := mirror.Refusef("The account's server refuses it: %s", said(problem))
		refusal.Cause = problem
		return refusal
	}
	return problem
}

func busyText(p *AnswerError) string {
	if p.Status >= http.StatusInternalServerError {
		return "the account's server has trouble at the moment"
	}
	return "the account's server asks us to wait, since we ask too often"
}

// said returns the server's message in one line, shortened.
func said(p *AnswerError) string {
	text := strings.Join(strings.Fields(p.Message), " ")
	if text == "" {
		text = p.Reason
	}
	if runes := []rune(text); len(runes) > 300 {
		text = string(runes[:300]) + "…"
	}
	if text == "" {
		return strconv.Itoa(p.Status)
	}
	return text
}

// Is reports whether an error is a response with one of the statuses.
func Is(err error, statuses ...int) bool {
	problem, is := errors.AsType[*AnswerError](err)
	return is && slices.Contains(statuses, problem.Status)
}

// Gone converts the statuses of missing and changed objects to the mirror's errors.
func Gone(err error) error {
	switch {
	case Is(err, http.StatusNotFound, http.StatusGone):
		return mirror.ErrGone
	case Is(err, http.StatusConflict, http.StatusPreconditionFailed):
		return mirror.ErrConflict
	}
	return err
}
