package etcdtest

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the command when this process ends.
func endWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
