package envoytest

import (
	"os/exec"
	"syscall"
)

// endWithParent makes the kernel kill the command when this process ends, also if this
// process is killed.
func endWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
