package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// firstSocket is the first file descriptor that systemd passes.
const firstSocket = 3

// sockets returns the listeners that systemd opened for this process (sd_listen_fds(3)), by the door in their name.
func sockets(env map[string]string, pid int) (map[string]net.Listener, error) {
	if env["LISTEN_FDS"] == "" || env["LISTEN_PID"] != strconv.Itoa(pid) {
		return nil, nil // there are none, or they are for another process
	}
	count, err := strconv.Atoi(env["LISTEN_FDS"])
	if err != nil {
		return nil, fmt.Errorf("LISTEN_FDS: %w", err)
	}
	names := strings.Split(env["LISTEN_FDNAMES"], ":")
	all := map[string]net.Listener{}
	for i := range count {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		if name != caldavDoor && name != mcpDoor {
			return nil, fmt.Errorf("systemd passes a socket %q: FileDescriptorName= must be %s or %s", name, caldavDoor,
				mcpDoor)
		}
		f := os.NewFile(uintptr(firstSocket+i), name)
		l, err := net.FileListener(f)
		if err != nil {
			return nil, fmt.Errorf("the socket %q of systemd: %w", name, err)
		}
		_ = f.Close() // the listener has its own copy
		all[name] = l
	}
	return all, nil
}
