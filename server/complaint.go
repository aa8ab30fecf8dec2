package server

import (
	"bytes"
	"context"
	"log/slog"
)

// complaints receives net/http's log lines about connections. Most are about strangers' broken requests and go to the
// debug level. An accept error is serious, for example if the process has no file descriptors left; net/http then
// retries, at most once a second.
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
