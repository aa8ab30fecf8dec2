package pgtest

import "syscall"

// attributes make a child run as the account, not receive the terminal's Ctrl-C, which is meant for the tests, and end
// with this process.
func (a *account) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if a != nil {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}
