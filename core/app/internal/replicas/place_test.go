package replicas

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
)

// place is a store to which states with the numbers 1, 2 and so on are written.
type place interface {
	// address returns the value of -f for a replica, through proxies of its own.
	address(replica int) string
	// node is the id of [client] as a node.
	node() string
	// variables are the environment of a replica.
	variables(replica int) []string
	// write writes a state with some dataplanes. After an error it is called again.
	write(number, dataplanes int) error
	// mixed reports whether a revision may have two states, because not all of a state
	// is written at once.
	mixed() bool
	// faults are the faults of the store.
	faults() []fault
}

// client is the dataplane of all clients. It calls the service of all others.
var client = sourcetest.Document{Kind: "Dataplane", Name: "client", Spec: `{"networking": {"address": "127.0.0.1",
	"inbound": [{"port": 8080, "servicePort": 80, "tags": {"kuma.io/service": "client"}}], "outbound": [{"port": 10001, "tags": {"kuma.io/service": "web"}}]}}`}

// dataplane is a dataplane of a state.
func dataplane(number, i int) sourcetest.Document {
	return sourcetest.Dataplane(fmt.Sprintf("d%04d", i), fmt.Sprintf("10.%d.%d.%d", number/250, number%250, i+1))
}

// numberOf returns the number of the state that an address is of, and which of its
// dataplanes has it.
func numberOf(address string) (number, i int, err error) {
	var high, low int
	if _, err := fmt.Sscanf(address, "10.%d.%d.%d", &high, &low, &i); err != nil {
		return 0, 0, err
	}
	return 250*high + low, i - 1, nil
}

// timeout is the policy of a state.
func timeout(number int) sourcetest.Document {
	return sourcetest.Document{Kind: "MeshTimeout", Name: "t", Spec: fmt.Sprintf(`{"to": [{"default": {"connectionTimeout": "%dms"}}]}`, number)}
}

// fault is something that happens to a store or a replica until it is ended.
type fault struct {
	name  string
	begin func(t testing.TB) (end func())
}
