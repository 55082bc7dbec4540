package envoytest

import (
	"os/exec"
	"syscall"
)

// EndWithParent makes the kernel kill the command when this process ends, even if this
// process is killed.
func EndWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
