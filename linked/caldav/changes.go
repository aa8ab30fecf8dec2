package caldav

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/mirror"
)

// place is the cursor of a synchronization.
type place struct {
	// Token is the server's sync token; if it has none, Tags holds the ETags of all objects.
	Token string            `json:"token,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	// Left are the listed objects still to be fetched; More is set if the server has more to list.
	Left []string `json:"left,omitempty"`
	More bool     `json:"more,omitempty"`
	// Full is set if this run lists all objects.
	Full bool `json:"full,omitempty"`
	// Again were listed but not returned: the next run fetches them again.
	Again []string `json:"again,omitempty"`
}

// under reports whether the run is still in progress.
func (p place) under() bool { return len(p.Left) > 0 || p.More }

// againMost limits the objects to fetch again. If a server withholds more, the run fails and is retried later.
const againMost = 1000

// missing is the fault of an object that is listed but not returned.
const missing = "the server lists it, and does not hand it over"

// Changes implements [mirror.Source].
func (a *account) Changes(ctx context.Context, remote, cursor string) (mirror.Changes, error) {
	at, err := url.Parse(remote)
	if err != nil {
		return mirror.Changes{}, mirror.ErrGone
	}
	var was place
	if cursor != "" && json.Unmarshal([]byte(cursor), &was) != nil {
		return mirror.Changes{}, mirror.ErrExpired
	}
	next, gone := was, []string(nil)
	if len(was.Left) == 0 {
		if next, gone, err = a.list(ctx, at, was); err != nil {
			return mirror.Changes{}, err
		}
	}
	return a.read(ctx, at, next, gone)
}

// list returns the objects to fetch, and the deleted ones.
func (a *account) list(ctx context.Context, at *url.URL, was place) (next place, gone []string, err error) {
	err = errNoSync
	if was.Tags == nil {
		next, gone, err = a.since(ctx, at, was.Token)
	}
	if errors.Is(err, errNoSync) {
		next, gone, err = a.compared(ctx, at, was.Tags)
	}
	if was.More {
		next.Full, next.Again = was.Full, was.Again
		return next, gone, err
	}
	next.Full = was.Token == "" && was.Tags == nil
	next.Left = slices.Compact(slices.Sorted(slices.Values(append(next.Left, was.Again...))))
	return next, gone, err
}

// read fetches a page of the remaining objects.
func (a *account) read(ctx context.Context, at *url.URL, next place, gone []string) (mirror.Changes, error) {
	got, err := a.fetch(ctx, at, next.Left)
	if err != nil {
		return mirror.Changes{}, err
	}
	changes := mirror.Changes{Objects: got.objects, Gone: gone}
	for _, ref := range got.missing {
		changes.Objects = append(changes.Objects, mirror.Object{Ref: ref, Fault: missing})
		if next.Tags != nil {
			next.Tags[ref] = "" // no ETag is empty, so the object counts as changed next time
		} else {
			next.Again = append(next.Again, ref)
		}
	}
	if len(got.missing) > againMost || len(next.Again) > againMost {
		return mirror.Changes{},
			&mirror.Later{Why: fmt.Sprintf("it lists more than %d entries that it does not hand over", againMost)}
	}
	next.Left = got.left
	if changes.More = next.under(); !changes.More {
		changes.Whole, next.Full = next.Full, false
	}
	cursor, err := json.Marshal(next)
	changes.Cursor = string(cursor)
	return changes, err
}

// errNoSync means that a server does not support sync-collection.
var errNoSync = errors.New("no sync-collection")

// since lists the changes since a sync token (RFC 6578).
func (a *account) since(ctx context.Context, at *url.URL, token string) (next place, gone []string, err error) {
	body := `<d:sync-collection` + spaces + `><d:sync-token>` + escaped(token) +
		`</d:sync-token><d:sync-level>1</d:sync-level>` +
		`<d:prop><d:getetag/><d:resourcetype/></d:prop></d:sync-collection>`
	r, err := a.do(ctx, ask{method: "REPORT", at: at, kind: xmlKind, body: body})
	if err != nil {
		return next, nil, err
	}
	switch r.status {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusConflict, http.StatusPreconditionFailed,
		http.StatusMethodNotAllowed,
		http.StatusUnsupportedMediaType, http.StatusNotImplemented:
		if token != "" {
			return next, nil, mirror.ErrExpired
		}
		return next, nil, errNoSync
	}
	m, err := read(r)
	if err != nil {
		return next, nil, err
	}
	if m.Token == "" {
		return next, nil, errNoSync
	}
	next.Token = m.Token
	for _, one := range m.Responses {
		ref, own := refOf(r.from, one.Href)
		switch {
		case own:
			next.More = next.More || strings.Contains(one.Status, " 507")
		case strings.Contains(one.Status, " 404"):
			gone = append(gone, ref)
		case one.good().Type.Collection == nil:
			next.Left = append(next.Left, ref)
		}
	}
	return next, gone, nil
}

// refOf returns the path of an href, and whether it is the collection itself.
func refOf(from *url.URL, href string) (ref string, own bool) {
	at, err := from.Parse(strings.TrimSpace(href))
	if err != nil {
		return "", true
	}
	return at.EscapedPath(), strings.TrimRight(at.Path, "/") == strings.TrimRight(from.Path, "/")
}

// compared lists all ETags and compares them with the previous ones to find changes.
func (a *account) compared(ctx context.Context, at *url.URL,
	was map[string]string,
) (next place, gone []string, err error) {
	r, err := a.do(ctx, ask{method: "PROPFIND", at: at, depth: "1", kind: xmlKind, body: asksTags})
	if err != nil {
		return next, nil, err
	}
	m, err := read(r)
	if err != nil {
		return next, nil, err
	}
	next.Tags = map[string]string{}
	for _, one := range m.Responses {
		ref, own := refOf(r.from, one.Href)
		if own && strings.Contains(one.Status, " 507") {
			return next, nil, &mirror.Later{Why: "its list of objects is incomplete"}
		}
		p := one.good()
		if own || p.Type.Collection != nil {
			continue
		}
		if next.Tags[ref] = p.ETag; p.ETag == "" || was[ref] != p.ETag {
			next.Left = append(next.Left, ref)
		}
	}
	for ref := range was {
		if _, there := next.Tags[ref]; !there {
			gone = append(gone, ref)
		}
	}
	slices.Sort(gone)
	return next, gone, nil
}
