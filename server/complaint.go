package server

import (
	"bytes"
	"context"
	"log/slog"
)

// complaints are net/http's log lines about connections: mostly strangers' broken requests, which nobody needs to
// know. That no connection can be taken any more, as when the process has no file descriptors left, is another matter;
// net/http then tries again, at most once a second.
type complaints struct{ log *slog.Logger }

// Write implements [io.Writer], for a [log.Logger].
func (c complaints) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.Contains(line, []byte("Accept error")) {
		level = slog.LevelError
	}
	c.log.Log(context.Background(), level, "net/http", "says", string(bytes.TrimSpace(line)))
	return len(line), nil
}
