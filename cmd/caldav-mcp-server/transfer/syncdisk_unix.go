//go:build unix

package transfer

import "syscall"

// syncDisks waits until all written data is on disk.
func syncDisks() { syscall.Sync() }
