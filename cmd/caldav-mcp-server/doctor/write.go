package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
)

const (
	// probeHead and probeEnd together are no valid event: a calendar refuses them, so they leave no trace.
	probeHead  = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//caldav-mcp-server//doctor//EN\r\n"
	probeEvent = "BEGIN:VEVENT\r\nUID:doctor-%s\r\nDTSTAMP:20000101T000000Z\r\nDTSTART:20000101T000000Z\r\n" +
		"SUMMARY:Doctor\r\nEND:VEVENT\r\n"
	probeLine = "X-DOCTOR:a line that is here for its length\r\n"
	probeEnd  = "END:VCALENDAR\r\n"
	// largeProbe is larger than the default limit of proxies (nginx: 1 MB), in bytes.
	largeProbe = 2 << 20
)

// write sends a conditional PUT for an event that does not exist.
func (x *Examination) write(ctx context.Context, body string) (int, *url.URL, error) {
	if x.calendar() == nil {
		return 0, nil, skippedError{"no calendar was found"}
	}
	at := x.calendar().JoinPath("doctor-" + x.NewID() + ".ics")
	answer, err := x.send(ctx, x.dav, http.MethodPut, at, body, "If-Match", `"none has this"`, "Content-Type",
		"text/calendar")
	return answer.status, at, err
}

// ifMatch is Thunderbird's test for write access: a PUT that must fail. If it succeeds, ifMatch deletes the event, and
// reports anything that remains.
func (x *Examination) ifMatch(ctx context.Context) (string, error) {
	status, at, err := x.write(ctx, probeHead+fmt.Sprintf(probeEvent, x.NewID())+probeEnd)
	if err != nil {
		return "", err
	}
	if status == http.StatusPreconditionFailed {
		return "412", nil
	}
	trace := ""
	if status < 300 {
		trace = `; the event "Doctor" that it made stays in the trash and in the journal, by ` + doctorAgent
		if gone, err := x.send(context.WithoutCancel(ctx), x.dav, http.MethodDelete, at, ""); err != nil ||
			gone.status >= 300 {
			trace = "; the event that it made could not be deleted: delete " + at.String()
		}
	}
	return "", &checkError{
		fmt.Sprintf("the answer is %d instead of 412%s", status, trace),
		"the proxy drops the If-Match header or refuses PUT: without it, one app overwrites another's changes",
	}
}

// destination moves an event that does not exist. The server looks at the Destination first, so that its answer shows
// whether the header arrived.
func (x *Examination) destination(ctx context.Context) (string, error) {
	if x.calendar() == nil {
		return "", skippedError{"no calendar was found"}
	}
	from := x.calendar().JoinPath("doctor-" + x.NewID() + ".ics")
	to := x.calendar().JoinPath("doctor-" + x.NewID() + ".ics")
	answer, err := x.send(ctx, x.dav, "MOVE", from, "", "Destination", to.String(), "Overwrite", "F")
	switch {
	case err != nil:
		return "", err
	case answer.status == http.StatusNotFound:
		return "404, as there is no such event", nil
	case answer.status == http.StatusBadRequest:
		return "", &checkError{
			"MOVE is answered 400: the server got no Destination",
			"the proxy drops the Destination header: without it, apps cannot move events to another calendar",
		}
	case answer.status == http.StatusBadGateway:
		return "", &checkError{
			"MOVE is answered 502: the Destination has a host that the server does not know",
			"set BASE_URL to the URL for apps, and let the proxy keep the requested name in Host",
		}
	}
	return "", &davclient.StatusError{Method: "MOVE", URL: from.String(), Status: answer.status}
}

// largeBody stands for an event with a picture. If the server refuses its content, the body has passed the proxy.
func (x *Examination) largeBody(ctx context.Context) (string, error) {
	status, at, err := x.write(ctx, probeHead+strings.Repeat(probeLine, largeProbe/len(probeLine))+probeEnd)
	_, skipped := errors.AsType[skippedError](err)
	switch {
	case skipped:
		return "", err
	case status == http.StatusRequestEntityTooLarge || err != nil && cut(err):
		return "", &checkError{
			fmt.Sprintf("%d MB are too much", largeProbe>>20),
			"the proxy limits request bodies: allow 8 MB (client_max_body_size 8m; in nginx)",
		}
	case err != nil:
		return "", err
	case status != http.StatusForbidden && status != http.StatusPreconditionFailed:
		return "", &davclient.StatusError{Method: http.MethodPut, URL: at.String(), Status: status}
	}
	return fmt.Sprintf("%d MB", largeProbe>>20), nil
}
