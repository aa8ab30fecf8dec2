package caldav

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
)

const textKind = "text/calendar; charset=utf-8"

// A page of changes ends after so many objects or bytes, or after this time. Storing a page blocks other writers.
const (
	pageObjects = 2000
	pageBytes   = 16 << 20
	pageTime    = 15 * time.Second
)

// fetched is the result of fetching objects.
type fetched struct {
	objects []mirror.Object
	// missing were requested but not returned; left were not requested.
	missing, left []string
}

// fetch reads objects in batches (RFC 4791 §7.9) until a page is full. Objects deleted meanwhile show up in the next
// run.
func (a *account) fetch(ctx context.Context, in *url.URL, refs []string) (fetched, error) {
	all := fetched{left: refs}
	turn, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	held := 0
	for len(all.left) > 0 && len(refs)-len(all.left) < a.page && held < pageBytes && turn.Err() == nil {
		some := all.left[:min(len(all.left), multigetMost, a.page)]
		found, gone, err := a.multiget(ctx, in, some)
		if err != nil {
			return all, err
		}
		all.left = all.left[len(some):]
		for _, ref := range some {
			o, ok := found[plain(ref)]
			switch {
			case ok:
				o.Ref = ref
				all.objects = append(all.objects, o)
				held += len(o.Data)
			case !gone[plain(ref)]:
				all.missing = append(all.missing, ref)
			}
		}
	}
	return all, ctx.Err()
}

// multiget reads some objects and reports the deleted ones. Its keys are unescaped paths, since a server may escape one
// path in two ways.
func (a *account) multiget(ctx context.Context, in *url.URL,
	refs []string,
) (found map[string]mirror.Object, gone map[string]bool, err error) {
	var body strings.Builder
	body.WriteString(`<c:calendar-multiget` + spaces + `><d:prop><d:getetag/><c:calendar-data/></d:prop>`)
	for _, ref := range refs {
		body.WriteString(`<d:href>` + escaped(ref) + `</d:href>`)
	}
	body.WriteString(`</c:calendar-multiget>`)
	r, err := a.do(ctx, ask{method: "REPORT", at: in, depth: "1", kind: xmlKind, body: body.String()})
	if err != nil {
		return nil, nil, err
	}
	m, err := read(r)
	if err != nil {
		return nil, nil, err
	}
	found, gone = make(map[string]mirror.Object, len(refs)), map[string]bool{}
	for _, one := range m.Responses {
		ref, own := refOf(r.from, one.Href)
		p := one.good()
		switch {
		case own:
		case p.Data != "":
			found[plain(ref)] = mirror.Object{Version: p.ETag, Data: lines(p.Data)}
		case strings.Contains(one.Status, " 404"):
			gone[plain(ref)] = true
		}
	}
	return found, gone, nil
}

// plain returns a path without percent-encoding.
func plain(ref string) string {
	if text, err := url.PathUnescape(ref); err == nil {
		return text
	}
	return ref
}

// lines restores the CRLF line ends, which XML parsing turns into line feeds.
func lines(text string) []byte {
	return []byte(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n"))
}

// Put implements [mirror.Source].
func (a *account) Put(ctx context.Context, remote string, o mirror.Object) (mirror.Object, error) {
	in, err := url.Parse(remote)
	if err != nil {
		return o, mirror.ErrGone
	}
	fresh := o.Ref == ""
	if !fresh && o.Version == "" {
		return o, errBlind
	}
	if fresh {
		o.Ref = strings.TrimRight(in.EscapedPath(), "/") + "/" + url.PathEscape(o.UID) + ".ics"
	}
	at, err := in.Parse(o.Ref)
	if err != nil {
		return o, mirror.Refusef("it cannot be named there")
	}
	r, err := a.do(ctx, ask{
		method: http.MethodPut, at: at, kind: textKind, body: string(o.Data), match: o.Version, fresh: fresh,
	})
	if err != nil {
		return o, err
	}
	if err := judge(r); err != nil {
		return o, err
	}
	made := mirror.Object{Ref: o.Ref, UID: o.UID, Version: r.header.Get("ETag")}
	if made.Version != "" && !strings.HasPrefix(made.Version, "W/") {
		return made, nil
	}
	// Without a strong ETag, the server may have stored something different (RFC 4791 §5.3.4).
	now, err := a.fetch(ctx, in, []string{o.Ref})
	if err != nil || len(now.objects) == 0 {
		return o, &mirror.Later{Unknown: true}
	}
	now.objects[0].UID = o.UID
	return now.objects[0], nil
}

// errBlind refuses a write that could overwrite an unknown version.
var errBlind = mirror.Refusef("the server does not report the version of this object, so overwriting it could lose " +
	"another change")

// Delete implements [mirror.Source].
func (a *account) Delete(ctx context.Context, remote string, o mirror.Object) error {
	if o.Version == "" {
		return errBlind
	}
	in, err := url.Parse(remote)
	if err != nil {
		return mirror.ErrGone
	}
	at, err := in.Parse(o.Ref)
	if err != nil {
		return mirror.ErrGone
	}
	r, err := a.do(ctx, ask{method: http.MethodDelete, at: at, match: o.Version})
	if err != nil {
		return err
	}
	return judge(r)
}
