package resource_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Dataplanes with equal outbounds share one list, and an append does not change it.
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
	set := resourcetest.Decode(t, file.String())
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

// Outbounds with the same text in JSON are decoded once. If they have errors or
// warnings, they are decoded and reported each time.
func TestOutboundsWithTheSameText(t *testing.T) {
	load := func(outbounds string) (*resource.Set, error) {
		var file strings.Builder
		for i := range 3 {
			fmt.Fprintf(&file, `{"type": "Dataplane", "name": "d%d", "networking": {"address": "10.0.0.1", "outbound": %s}}`+"\n", i, outbounds)
		}
		return (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "f", Data: []byte(file.String())})
	}
	for outbounds, want := range map[string]string{
		`[{"port": "1"}]`:                       `f:%d:97: networking.outbound[0].port: must be a whole number, not the string "1"; write it without quotes: 1`,
		`[{"port": 70000, "tags": {"a": "b"}}]`: `f:%d:97: networking.outbound[0].port: bad port 70000; a port is a number from 1 to 65535`,
		`[{"port": 1, "tags": {"a": "*"}}]`:     `f:%d:114: networking.outbound[0].tags.a: bad tag value "*"; a tag's value has letters, digits, '.', '_', ':' and '-'`,
		`null`:                                  `f:%d:87: networking.outbound: must not be null; leave the field out instead`,
		`{}`:                                    `f:%d:87: networking.outbound: must be a list, not a mapping`,
	} {
		_, err := load(outbounds)
		if want := fmt.Sprintf(want+"\n"+want+"\n"+want, 1, 2, 3); err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", outbounds, err, want)
		}
	}
	set, err := load(`[{"port": 1, "backendRef": {"kind": "MeshService", "name": "a"}}]`)
	if err != nil || len(set.Warnings) != 0 || set.Dataplanes[2].Outbounds[0].Backend == nil {
		t.Errorf("%v, %v", err, set)
	}
	set, err = load(`[{"port": 1, "tags": {"a": "b"}}]`)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range set.Dataplanes {
		if got := fmt.Sprint(d.Outbounds); got != "[{1  a=b <nil>}]" || &d.Outbounds[0] != &set.Dataplanes[0].Outbounds[0] {
			t.Errorf("outbounds %s of %s", got, d.Name)
		}
	}
}
