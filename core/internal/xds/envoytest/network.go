package envoytest

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
)

// A Network is 255 loopback addresses that no other network on the machine has while
// it is open. So tests that run at the same time use the same ports.
type Network struct {
	prefix string // such as "127.12.34."
	claim  net.Listener
}

// claimPort is the port at the last address of a network that claims the network.
const claimPort = 60999

// networks counts the networks of this process.
var networks atomic.Uint32

// NewNetwork claims a network. Each process begins its search at a different network.
func NewNetwork() (*Network, error) {
	var err error
	for range 1000 {
		n := uint32(os.Getpid())*37 + networks.Add(1)
		prefix := fmt.Sprintf("127.%d.%d.", 1+n/250%250, 1+n%250)
		var claim net.Listener
		if claim, err = net.Listen("tcp", fmt.Sprintf("%s255:%d", prefix, claimPort)); err == nil {
			return &Network{prefix, claim}, nil
		}
	}
	return nil, err
}

// Close gives the network back.
func (n *Network) Close() error { return n.claim.Close() }

// Replace returns the text with addresses of this network instead of 127.0.0.1 to
// 127.0.0.254.
func (n *Network) Replace(text string) string { return strings.ReplaceAll(text, "127.0.0.", n.prefix) }
