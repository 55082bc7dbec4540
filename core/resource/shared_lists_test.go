package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Dataplanes with equal outbounds share one list, to which an append does not write.
func TestEqualOutboundsAreShared(t *testing.T) {
	outbounds := []string{
		`[{port: 1, tags: {kuma.io/service: a}}]`,
		`[{port: 1, tags: {kuma.io/service: a}}]`,
		`[{port: 2, tags: {kuma.io/service: a}}]`,
		`[{port: 1, address: 127.0.0.2, tags: {kuma.io/service: a}}]`,
		`[{port: 1, tags: {kuma.io/service: b}}]`,
		`[{port: 1, tags: {kuma.io/service: a}}, {port: 2, tags: {kuma.io/service: b}}]`,
		`[]`,
	}
	var file strings.Builder
	for i, list := range outbounds {
		fmt.Fprintf(&file, "---\ntype: Dataplane\nname: d%d\nnetworking: {address: 10.0.0.1, outbound: %s}\n", i, list)
	}
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(resource.Input{Name: "dataplanes.yaml", Data: []byte(file.String())})
	if err != nil {
		t.Fatal(err)
	}
	first := set.Dataplanes[0].Outbounds
	for i, d := range set.Dataplanes[1:] {
		shared := len(d.Outbounds) > 0 && &d.Outbounds[0] == &first[0]
		if want := outbounds[i+1] == outbounds[0]; shared != want {
			t.Errorf("%s shares the list of the first: %v, want %v", d.Name, shared, want)
		}
	}
	if longer := append(first, resource.Outbound{}); &longer[0] == &first[0] {
		t.Error("an append writes to the shared memory")
	}
	if n := len(set.Dataplanes[5].Outbounds); n != 2 {
		t.Errorf("%d outbounds, want 2", n)
	}
}
