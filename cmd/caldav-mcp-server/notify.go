package main

import (
	"context"
	"net"
	"strings"
	"time"
)

// notify tells systemd how the service is (sd_notify(3)), where it asks to be told. That it cannot be told is no reason
// to do anything else.
func (p *program) notify(lines ...string) {
	path := environment(p.environ)["NOTIFY_SOCKET"]
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
	// One that does not listen holds nobody up.
	_ = conn.SetWriteDeadline(p.now().Add(time.Second))
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// notifyStop tells systemd as soon as the service was told to stop; what it returns waits for that.
func (p *program) notifyStop(told context.Context) (wait func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(told, func() { //nolint:contextcheck // it is told because the context has ended
		defer close(done)
		p.notify("STOPPING=1", "STATUS=stopping")
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}
