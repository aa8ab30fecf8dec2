//go:build linux || darwin

package db

import (
	"os"
	"syscall"
)

// readStates returns the function that reads the state of a file that SQLite has open: so the index of its log exists,
// and stays the same file until the last connection is closed. It maps the index, as SQLite does, and so reads the
// same memory.
//
// Neither the mapping nor the descriptor is ever released. Closing a descriptor would also release the locks (POSIX
// advisory locks) that SQLite holds on the file, for all connections of this process. A program opens its database
// once.
func readStates(path string) func() (fileState, bool) {
	index, err := syscall.Open(path+shmSuffix, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return unknownState
	}
	var about syscall.Stat_t
	if err := syscall.Fstat(index, &about); err != nil || about.Size < int64(os.Getpagesize()) {
		return unknownState
	}
	mapped, err := syscall.Mmap(index, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return unknownState
	}
	return func() (fileState, bool) { return stateOf(mapped) }
}
