// Package rest asks servers that speak JSON over HTTPS at addresses that are ours to know: with a token that is renewed, patience
// with those that are busy, and bounds for what they answer.
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
)

const (
	// answerBytes bound one answer: a page of some thousand events.
	answerBytes = 64 << 20
	// attempts at one request, each a little later, where the server is busy or away.
	attempts = 3
	// patience is how long a request waits for a server that says when to come again; beyond it, the caller is told.
	patience = 4 * time.Second
	// usualPause is the first wait; each is twice the one before.
	usualPause = 250 * time.Millisecond
)

// Client asks one server.
type Client struct {
	HTTP *http.Client
	// Base is the address before all paths, without a slash at its end.
	Base string
	// Token gives the access token. Stale is one that was refused, or "".
	Token func(ctx context.Context, stale string) (string, error)
	// Read finds out of an error's body its reason, in the server's word, and what it tells people.
	Read func(body []byte) (reason, message string)
	// Busy tells whether a 403 is one of those that pass.
	Busy func(reason string) bool
	// Prefer are headers of each request.
	Prefer http.Header
	// Most bounds one answer, in bytes; 0 for the usual bound.
	Most int64
	// Pause is the wait before a second attempt, twice that before a third; 0 for the usual one.
	Pause time.Duration
}

// Request is what is asked.
type Request struct {
	Method string
	// Path is behind Base, or a whole address that begins with it.
	Path  string
	Query url.Values
	// Match is the state that the request is for, "" for any.
	Match string
	// Body is sent as JSON.
	Body any
}

// AnswerError is an answer that says no.
type AnswerError struct {
	Status int
	// Reason is the server's word, Message what it tells people.
	Reason, Message string
	// After is when it wants to be asked again.
	After time.Duration
}

// Error implements error.
func (p *AnswerError) Error() string {
	return fmt.Sprintf("%d %s", p.Status, p.Reason)
}

// AnswerStatus is the status, for rooms that see nothing of this one.
func (p *AnswerError) AnswerStatus() int { return p.Status }

// Do asks, and reads the answer into a value; nil reads none.
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
		if problem, is := errors.AsType[*AnswerError](err); is && problem.Status == http.StatusUnauthorized && !renewed {
			stale, renewed = token, true
			continue
		}
		wait, again := c.again(r, err, attempt)
		if !again || !sleep(ctx, wait) {
			return c.meaning(r, err)
		}
	}
}

// own tells whether a path is on our server: next pages are named by whole addresses, and tokens go nowhere else.
func (c *Client) own(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, c.Base+"/")
}

func encode(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	return Text(body)
}

// once sends a request, and reads its answer.
func (c *Client) once(ctx context.Context, r Request, body []byte, token string, into any) error {
	address := r.Path
	if strings.HasPrefix(address, "/") {
		address = c.Base + address
	}
	if len(r.Query) != 0 {
		address += "?" + r.Query.Encode()
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

// lost is an answer that did not come, or not as a whole. Its cause may hold an address, and is for the log.
type lost struct{ cause error }

func (l *lost) Error() string { return "the answer was lost" }

func (l *lost) Unwrap() error { return l.cause }

func (c *Client) problem(resp *http.Response, body []byte) *AnswerError {
	p := &AnswerError{Status: resp.StatusCode}
	p.Reason, p.Message = c.Read(body)
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		p.After = time.Duration(min(seconds, 24*60*60)) * time.Second
	}
	return p
}

// again tells whether the request is worth another attempt, and when. What may have been done is not done a second time.
func (c *Client) again(r Request, err error, attempt int) (time.Duration, bool) {
	if err == nil || attempt == attempts {
		return 0, false
	}
	wait := cmp.Or(c.Pause, usualPause) << (attempt - 1)
	if problem, is := errors.AsType[*AnswerError](err); is {
		switch {
		case !c.passing(problem):
			return 0, false
		case problem.Status >= http.StatusInternalServerError && problem.Status != http.StatusServiceUnavailable && r.Method != http.MethodGet:
			return 0, false
		}
		return max(wait, problem.After), problem.After <= patience
	}
	_, gone := errors.AsType[*lost](err)
	return wait, gone && r.Method == http.MethodGet
}

// passing tells whether a problem passes by itself.
func (c *Client) passing(p *AnswerError) bool {
	return p.Status == http.StatusTooManyRequests || p.Status >= http.StatusInternalServerError || p.Status == http.StatusForbidden && c.Busy(p.Reason)
}

// sleep waits, and tells whether there is still somebody who waits for it.
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

// meaning says an error in the mirror's words. 404, 409, 410 and 412 stay as they are: what they mean depends on what was asked.
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
	case problem.Status == http.StatusBadRequest, problem.Status == http.StatusForbidden, problem.Status == http.StatusRequestEntityTooLarge,
		problem.Status == http.StatusUnprocessableEntity, problem.Status == http.StatusMethodNotAllowed:
		return &mirror.Refusal{Why: "The account's server refuses it: " + said(problem), Cause: problem}
	}
	return problem
}

func busyText(p *AnswerError) string {
	if p.Status >= http.StatusInternalServerError {
		return "the account's server has trouble at the moment"
	}
	return "the account's server asks us to wait, since we ask too often"
}

// said is what a server tells people, in one line and bounded.
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

// Is tells whether an error is a server's answer of one of some statuses.
func Is(err error, statuses ...int) bool {
	problem, is := errors.AsType[*AnswerError](err)
	return is && slices.Contains(statuses, problem.Status)
}

// Gone says in the mirror's words what it means that something is not there, or not as it was.
func Gone(err error) error {
	switch {
	case Is(err, http.StatusNotFound, http.StatusGone):
		return mirror.ErrGone
	case Is(err, http.StatusConflict, http.StatusPreconditionFailed):
		return mirror.ErrConflict
	}
	return err
}
