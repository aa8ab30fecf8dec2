package main

import (
	"context"
	"net"
	"strings"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// notify reports the service's state to systemd (sd_notify(3)), if systemd asks for it. Errors are ignored.
func (p *program) notify(lines ...string) {
	path := settings.Environment(p.Environ)["NOTIFY_SOCKET"]
	if path == "" {
		return
	}
	if rest, abstract := strings.CutPrefix(path, "@"); abstract {
		path = "\x00" + rest
	}
	conn, err := new(net.Dialer).DialContext(context.Background(), "unixgram", path)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	// A receiver that does not read must not block us.
	_ = conn.SetWriteDeadline(p.Now().Add(time.Second))
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// notifyStop tells systemd as soon as told ends. The returned function waits until that is done.
func (p *program) notifyStop(told context.Context) (wait func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(told, func() { // it is told because the context has ended
		defer close(done)
		p.notify("STOPPING=1", "STATUS=stopping")
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}
