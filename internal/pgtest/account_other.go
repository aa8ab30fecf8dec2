//go:build unix && !linux

package pgtest

import "syscall"

// attributes make a child run as the account, and not receive the terminal's Ctrl-C, which is meant for the tests.
func (a *account) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if a != nil {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}
