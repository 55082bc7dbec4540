package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A dataplane has at most 1,000 inbounds. More are an error before they are compared with each other: the
// test would not end.
func TestManyInbounds(t *testing.T) {
	dataplane := func(inbounds int) error {
		var b strings.Builder
		b.WriteString("{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [")
		for i := range inbounds {
			fmt.Fprintf(&b, "{port: %d, address: 10.%d.0.1},", 1+i%65535, i/65535)
		}
		b.WriteString("]}}")
		_, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "d.yaml", Data: []byte(b.String())})
		return err
	}
	if err := dataplane(1000); err != nil {
		t.Error(err)
	}
	for _, n := range []int{1001, 200_000} {
		if err := dataplane(n); err == nil || !strings.Contains(err.Error(), "a dataplane has at most 1000 inbounds; write another dataplane for the others") {
			t.Errorf("%d inbounds: %.200v", n, err)
		}
	}
}
