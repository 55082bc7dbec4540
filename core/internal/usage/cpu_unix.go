//go:build unix

package usage

import (
	"syscall"
	"time"
)

// CPU returns the processor time of this process, of users and of the system. Other processes
// and pauses are not in it. It panics if the system does not measure it.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
