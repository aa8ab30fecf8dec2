package pgtest

import "syscall"

// attributes are none: Windows has no root that Postgres would refuse.
func (a *account) attributes() *syscall.SysProcAttr { return nil }
