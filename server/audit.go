package server

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"
)

// AuditEvent is an audit event: the user, the action, the door and the outcome. It contains no user content: no title,
// no calendar name, no path. Ids join it with the journal.
type AuditEvent struct {
	At time.Time `json:"at"`
	// ID is the request's id in the log.
	ID   string `json:"id,omitempty"`
	Door string `json:"door"`
	// Client is the client's address; User is the user, empty if unknown.
	Client string `json:"client,omitempty"`
	User   string `json:"user,omitempty"`
	// Token is the id of the access token, if one was used.
	Token string `json:"token,omitempty"`
	// Did is a method with a route pattern, a tool, a page's action or a command. Whom are the names of the users and
	// groups that it concerns, separated by blanks.
	Did  string `json:"did"`
	Whom string `json:"whom,omitempty"`
	// Calendar is the id of the calendar whose access changed. Detail is the right, or has numbers, in words of
	// programs.
	Calendar string `json:"calendar,omitempty"`
	Detail   string `json:"detail,omitempty"`
	// Outcome is "ok", "refused" for credentials, or "failed"; Status is the HTTP status.
	Outcome string `json:"outcome"`
	Status  int    `json:"status,omitempty"`
	// Change is the id of the change in the journal, which has the calendar and the object. Of several changes it is
	// the first, and Changes is their number.
	Change  string `json:"change,omitempty"`
	Changes int64  `json:"changes,omitempty"`
}

// Audit writes audit events as lines of JSON. A nil Audit writes nothing.
type Audit struct {
	mu   sync.Mutex
	out  io.Writer
	path string
	file *os.File
	log  *slog.Logger
}

// OpenAudit appends to a file, which a log rotation may move at any time. Without a path, lines go to out.
func OpenAudit(path string, out io.Writer, log *slog.Logger) (*Audit, error) {
	a := &Audit{out: out, path: path, log: log}
	if path == "" {
		return a, nil
	}
	return a, a.reopen()
}

func (a *Audit) reopen() error {
	if a.file != nil {
		_ = a.file.Close() // every line was written completely
	}
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening the audit log: %w", err)
	}
	a.file, a.out = f, f
	return nil
}

// Close closes the file.
func (a *Audit) Close() error {
	if a == nil || a.file == nil {
		return nil
	}
	return a.file.Close()
}

// Note writes a line. A failure is logged and does not affect the request.
func (a *Audit) Note(d AuditEvent) {
	if a == nil {
		return
	}
	line, err := json.Marshal(d)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		err = a.follow()
	}
	if err == nil {
		// One write per line: several processes may append to one file.
		_, err = a.out.Write(append(line, '\n'))
	}
	if err != nil {
		a.log.Error("the audit log cannot be written", "err", err)
	}
}

// follow reopens the file after a rotation.
func (a *Audit) follow() error {
	if a.path == "" {
		return nil
	}
	now, err := os.Stat(a.path)
	if err == nil {
		var open os.FileInfo
		if open, err = a.file.Stat(); err == nil && os.SameFile(now, open) {
			return nil
		}
	}
	return a.reopen()
}

// asking are the safe methods, which change nothing.
var asking = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodOptions: true, "PROPFIND": true, "REPORT": true,
}

// audit writes an event for a request that changed something or whose credentials were refused.
func (s *Server) audit(record *Record, status int) {
	refused := record.refused(status)
	if s.config.Audit == nil || !refused && (record.quiet || asking[record.method] && record.did == "") {
		return
	}
	d := AuditEvent{
		At: s.config.Now().UTC(), ID: record.ID, Door: record.door, Client: record.Client.String(), User: record.User,
		Token: record.Token, Did: record.did, Whom: record.whom, Calendar: record.calendar, Detail: record.detail,
		Outcome: "ok", Status: status,
	}
	if id := record.change.Load(); id != nil {
		d.Change = *id
	}
	if n := record.changes.Load(); n > 1 {
		d.Changes = n
	}
	if d.Did == "" {
		d.Did = record.method + " " + record.route
	}
	switch {
	case refused:
		d.Outcome = "refused"
	case record.failed, status >= http.StatusBadRequest:
		d.Outcome = "failed"
	}
	s.config.Audit.Note(d)
}

// Did sets the action's name and the users that it concerns, if the route is not specific enough. Without a name, the
// route remains.
func (r *Record) Did(what, whom string) { r.did, r.whom = what, whom }

// Details adds the calendar whose access changed, and the right or numbers.
func (r *Record) Details(calendar, detail string) { r.calendar, r.detail = calendar, detail }

// Changed records a committed change by its id in the journal.
func (r *Record) Changed(id string) {
	r.change.CompareAndSwap(nil, &id)
	r.changes.Add(1)
}

// Called records a tool call; one that changes something is an audit event.
func (r *Record) Called(tool, outcome string, changes bool) {
	if changes {
		r.did, r.quiet, r.failed = "tool "+tool, false, outcome != "ok"
	}
}

// Quiet makes the request no audit event unless Did or Called says otherwise. It is for endpoints with reads and writes
// under the same method.
func (r *Record) Quiet() { r.quiet = r.did == "" }
