package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

// watch counts a request and logs it: the user, the kind of request and the outcome. It never logs a path, a query, a
// header or a body.
func (s *Server) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w, ctx := rw.(*response), r.Context()
		record := RecordOf(ctx)
		begin := s.config.Now()
		s.metrics.begin(record.door)
		defer func() {
			cut := s.caught(ctx, recover(), w)
			took := s.config.Now().Sub(begin)
			s.metrics.end(record, w.status, took)
			record.trace(ctx, w.status)
			s.logLine(ctx, record, w, took)
			s.logRefusal(ctx, record, w.status)
			s.audit(record, w.status)
			if cut {
				// A partial response must not look complete.
				panic(http.ErrAbortHandler)
			}
		}()
		next.ServeHTTP(w, r)
		if w.status == 0 {
			w.begin(http.StatusOK)
		}
	})
}

func (s *Server) logLine(ctx context.Context, record *Record, w *response, took time.Duration) {
	s.config.Logger.LogAttrs(ctx, level(record.route, w.status), "request",
		slog.String("id", record.ID),
		slog.String("door", record.door),
		slog.String("client", record.Client.String()),
		slog.String("user", record.User),
		slog.String("method", record.method),
		slog.String("route", record.route),
		slog.Int("status", w.status),
		slog.Int64("bytes", w.bytes),
		slog.Duration("took", took.Round(time.Microsecond)),
	)
}

// logRefusal writes the line for tools such as fail2ban. It leaves out requests without credentials, since clients
// begin with one. It does not log the attempted name: people type passwords there.
func (s *Server) logRefusal(ctx context.Context, record *Record, status int) {
	if record.refused(status) {
		s.config.Logger.WarnContext(ctx, "login refused", "id", record.ID, "door", record.door,
			"client", record.Client.String(), "scheme", record.scheme, "status", status)
	}
}

// level keeps health checks out of the normal log.
func level(route string, status int) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case route == aliveRoute, route == readyRoute:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// caught responds for a handler that panicked. cut is set if the connection must be closed because the response had
// begun; a handler requests that with ErrAbortHandler.
func (s *Server) caught(ctx context.Context, panicked any, w *response) (cut bool) {
	if panicked == nil {
		return false
	}
	if err, ok := panicked.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return true
	}
	s.metrics.panicked()
	record := RecordOf(ctx)
	s.config.Logger.ErrorContext(ctx, "a handler panicked", "id", record.ID, "door", record.door,
		"route", record.route, "panic", describe(panicked), "stack", string(debug.Stack()))
	if w.status != 0 {
		return true
	}
	http.Error(w, "internal error; the log has it under request "+record.ID, http.StatusInternalServerError)
	return false
}

// describe returns a panic's text if it is the runtime's, which contains no user data. For any other value it returns
// only the type.
func describe(panicked any) string {
	if err, ok := panicked.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", panicked)
}
