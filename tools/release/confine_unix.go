//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// confine makes a command run in a chroot, as an unprivileged user.
func confine(c *exec.Cmd, root string, user uint32) {
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
}
