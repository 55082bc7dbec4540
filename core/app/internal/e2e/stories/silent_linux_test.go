package stories

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// silence makes an address neither accept nor refuse connections until it is closed: it
// fills the queue of a listener, and the kernel drops what does not fit.
func silence(address string) (stop func(), err error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ends := []func(){func() { _ = syscall.Close(socket) }}
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	if err := errors.Join(
		syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(socket, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}),
		syscall.Listen(socket, 0),
	); err != nil {
		stop()
		return nil, err
	}
	for range 16 {
		connection, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return stop, nil // the queue is full
		}
		ends = append(ends, func() { _ = connection.Close() })
	}
	stop()
	return nil, errors.New("the queue of " + address + " does not fill")
}
