//go:build unix

package store

import (
	"net"
	"syscall"
)

// alive tells whether the other side of a connection that nothing is expected from has not closed it: what is sent then seems to arrive,
// and nobody knows what became of it.
func alive(conn net.Conn) bool {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = wrapped.NetConn() // TLS
	}
	c, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	// Not raw.Read: the driver may have left somebody behind who waits for what comes next, and that one would be waited for.
	err = raw.Control(func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = err == syscall.EAGAIN || err == syscall.EINTR
	})
	return silent && err == nil
}
