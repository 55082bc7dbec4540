package envoytest

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// Listen listens at a TCP address, even if that was in use a moment ago. A child process
// inherits each open socket between its fork and its exec. So a listener that a test has
// closed can hold its address for an instant while a proxy starts.
func Listen(address string) (net.Listener, error) {
	for try := 1; ; try++ {
		listener, err := net.Listen("tcp", address)
		if err == nil || try == 100 || !errors.Is(err, syscall.EADDRINUSE) {
			return listener, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}
