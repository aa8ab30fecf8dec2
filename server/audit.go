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

// Deed is a line of the audit log: who did what kind of thing, by which door, and what came of it. It has nothing of what
// anybody wrote: no title, no name of a calendar, no path.
type Deed struct {
	At time.Time `json:"at"`
	// ID is that of the request's line in the log.
	ID   string `json:"id,omitempty"`
	Door string `json:"door"`
	// Client is where it came from, User who it was, empty where that was not known.
	Client string `json:"client,omitempty"`
	User   string `json:"user,omitempty"`
	// Did is a method with the pattern of an address, a tool, a page's action or a command; Whom the user whom an
	// administrator's deed was about.
	Did  string `json:"did"`
	Whom string `json:"whom,omitempty"`
	// Outcome is "ok", "refused" for credentials, or "failed", Status the answer's.
	Outcome string `json:"outcome"`
	Status  int    `json:"status,omitempty"`
}

// Audit writes deeds as lines of JSON. A nil one writes nothing.
type Audit struct {
	mu   sync.Mutex
	out  io.Writer
	path string
	file *os.File
	log  *slog.Logger
}

// OpenAudit appends to a file, which a rotation may move away at any time. Without a path lines go to out.
func OpenAudit(path string, out io.Writer, log *slog.Logger) (*Audit, error) {
	a := &Audit{out: out, path: path, log: log}
	if path == "" {
		return a, nil
	}
	return a, a.reopen()
}

func (a *Audit) reopen() error {
	if a.file != nil {
		_ = a.file.Close() // each line was written whole
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

// Note writes a line. That it could not is an error in the log, and stops nobody's work.
func (a *Audit) Note(d Deed) {
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
		// One write for each line: several processes may append to one file.
		_, err = a.out.Write(append(line, '\n'))
	}
	if err != nil {
		a.log.Error("the audit log cannot be written", "err", err)
	}
}

// follow opens the file anew where a rotation has put it away.
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

// asking are the methods that change nothing.
var asking = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodOptions: true, "PROPFIND": true, "REPORT": true,
}

// audit writes down what a request did, and that credentials were refused.
func (s *Server) audit(record *Record, status int) {
	refused := record.refused(status)
	if s.config.Audit == nil || !refused && (record.quiet || asking[record.method] && record.did == "") {
		return
	}
	d := Deed{
		At: s.config.Now().UTC(), ID: record.ID, Door: record.door, Client: record.Client.String(), User: record.User,
		Did: record.did, Whom: record.whom, Outcome: "ok", Status: status,
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

// Did names what a request does better than its address, and of which user.
func (r *Record) Did(what, whom string) { r.did, r.whom = what, whom }

// Called notes the call of a tool: one that changes something is a deed.
func (r *Record) Called(tool, outcome string, changes bool) {
	if changes {
		r.did, r.quiet, r.failed = "tool "+tool, false, outcome != "ok"
	}
}

// Quiet notes that the request is a deed only if something says so: an endpoint's questions come as its changes do.
func (r *Record) Quiet() { r.quiet = r.did == "" }
