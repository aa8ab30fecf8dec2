package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server tells systemd its current step, when it is ready and when it stops.
func TestSystemdIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skip(err)
	}
	defer socket.Close()
	told := make(chan []string)
	go func() { told <- untilStopping(socket) }()
	r := serve(t, append(on(sqlite(t)), "NOTIFY_SOCKET="+path))
	if err := r.interrupt(); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(<-told, "\n")
	if ready := strings.Index(all, "READY=1"); ready < strings.Index(all, "STATUS=bringing the tables up to date: "+
		"0001_schema.sql (1 of ") || ready < 0 || !strings.Contains(all, "STOPPING=1") {
		t.Errorf("told:\n%s", all)
	}
}

// untilStopping reads notifications until the service stops or the time limit.
func untilStopping(socket *net.UnixConn) (told []string) {
	buffer := make([]byte, 1024)
	_ = socket.SetReadDeadline(time.Now().Add(patience))
	for len(told) == 0 || !strings.HasPrefix(told[len(told)-1], "STOPPING=1") {
		n, err := socket.Read(buffer)
		if err != nil {
			return told
		}
		told = append(told, string(buffer[:n]))
	}
	return told
}
