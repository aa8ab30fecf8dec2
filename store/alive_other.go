//go:build !unix

package store

import "net"

// alive finds nothing out about a connection.
func alive(net.Conn) bool { return true }
