//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// confine has a command see a directory as all there is, and be nobody.
func confine(c *exec.Cmd, root string, user uint32) {
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}
}
