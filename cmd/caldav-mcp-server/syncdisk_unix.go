//go:build unix

package main

import "syscall"

// syncDisks waits until the disks have all that was written.
func syncDisks() { syscall.Sync() }
