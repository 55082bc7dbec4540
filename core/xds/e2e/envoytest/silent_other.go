//go:build !linux

package envoytest

import "errors"

// Silence is possible on Linux only.
func Silence(string) (stop func(), err error) {
	return nil, errors.New("only Linux drops what does not fit into the queue of a listener")
}
