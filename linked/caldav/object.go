package caldav

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/mirror"
)

// allMost bounds what one look holds of a calendar.
const allMost = 64 << 20

const textKind = "text/calendar; charset=utf-8"

// fetch reads objects, some at a time (RFC 4791 §7.9). What has gone meanwhile is told of by the next look.
func (a *account) fetch(ctx context.Context, in *url.URL, refs []string) ([]mirror.Object, error) {
	all := make([]mirror.Object, 0, len(refs))
	held := 0
	for some := range slices.Chunk(refs, multigetMost) {
		var body strings.Builder
		body.WriteString(`<c:calendar-multiget` + spaces + `><d:prop><d:getetag/><c:calendar-data/></d:prop>`)
		for _, ref := range some {
			body.WriteString(`<d:href>` + escaped(ref) + `</d:href>`)
		}
		body.WriteString(`</c:calendar-multiget>`)
		r, err := a.do(ctx, ask{method: "REPORT", at: in, depth: "1", kind: xmlKind, body: body.String()})
		if err != nil {
			return nil, err
		}
		m, err := read(r)
		if err != nil {
			return nil, err
		}
		for _, one := range m.Responses {
			ref, own := refOf(r.from, one.Href)
			p := one.good()
			if own || p.Data == "" {
				continue
			}
			if held += len(p.Data); held > allMost {
				return nil, mirror.Refusef("the calendar is larger than what is mirrored")
			}
			all = append(all, mirror.Object{Ref: ref, Version: p.ETag, Data: lines(p.Data)})
		}
	}
	return all, nil
}

// lines gives a text its line ends back, which XML makes line feeds.
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
	if fresh {
		o.Ref = strings.TrimRight(in.EscapedPath(), "/") + "/" + url.PathEscape(o.UID) + ".ics"
	}
	at, err := in.Parse(o.Ref)
	if err != nil {
		return o, mirror.Refusef("it cannot be named there")
	}
	r, err := a.do(ctx, ask{method: http.MethodPut, at: at, kind: textKind, body: string(o.Data), match: o.Version, fresh: fresh})
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
	// No tag says that what is there is not what was sent (RFC 4791 §5.3.4).
	now, err := a.fetch(ctx, in, []string{o.Ref})
	if err != nil || len(now) == 0 {
		return o, &mirror.Later{Unknown: true}
	}
	now[0].Ref, now[0].UID = o.Ref, o.UID
	return now[0], nil
}

// Delete implements [mirror.Source].
func (a *account) Delete(ctx context.Context, remote, ref, version string) error {
	in, err := url.Parse(remote)
	if err != nil {
		return mirror.ErrGone
	}
	at, err := in.Parse(ref)
	if err != nil {
		return mirror.ErrGone
	}
	r, err := a.do(ctx, ask{method: http.MethodDelete, at: at, match: version})
	if err != nil {
		return err
	}
	return judge(r)
}
