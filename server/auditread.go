package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// auditWindow is how much of the audit log one read looks at: some thousand events.
const auditWindow = 1 << 20

// Audit returns the audit log; nil if there is none.
func (s *Server) Audit() *Audit { return s.config.Audit }

// Readable reports whether the audit log is a file, so that it can be read.
func (a *Audit) Readable() bool { return a != nil && a.path != "" }

// Read returns up to most matching events of the audit log, the latest first, from before a position in the file; 0 is
// its end. It also returns the position for the next read, which is 0 at the beginning of the file. A read looks at a
// mebibyte, so it may find fewer events than there are. A rotated file is not read.
func (a *Audit) Read(before int64, most int, match func(AuditEvent) bool) (found []AuditEvent, next int64, err error) {
	f, err := os.Open(a.path)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the audit log: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("reading the audit log: %w", err)
	}
	end := info.Size()
	if before > 0 && before < end {
		end = before
	}
	start := max(0, end-auditWindow)
	window := make([]byte, end-start)
	if _, err := io.ReadFull(io.NewSectionReader(f, start, end-start), window); err != nil {
		return nil, 0, fmt.Errorf("reading the audit log: %w", err)
	}
	for len(window) > 0 && len(found) < most {
		line := bytes.LastIndexByte(window[:len(window)-1], '\n') + 1
		if line == 0 && start > 0 {
			break // its beginning is in the next window
		}
		var d AuditEvent
		// The last line may be unfinished, and other programs may have added lines.
		if json.Unmarshal(window[line:], &d) == nil && match(d) {
			found = append(found, d)
		}
		window = window[:line]
	}
	next = start + int64(len(window))
	if next == end {
		next = start // a line longer than the window
	}
	return found, next, nil
}
