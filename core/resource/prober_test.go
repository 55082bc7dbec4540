package resource_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A prober has the verdict of Validate, for lists of outbounds that dataplanes share too,
// and allocates nothing for a valid dataplane or policy.
func TestProber(t *testing.T) {
	good := []resource.Outbound{{Port: 1, Tags: tagsOf("kuma.io/service", "db")}, {Port: 2, Tags: tagsOf("kuma.io/service", "db")}, {Port: 0, Tags: tagsOf("a", "*")}}
	with := func(list []resource.Outbound) *resource.Dataplane {
		return &resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Kind: "Dataplane", Mesh: "m", Name: "d"}}, Address: "10.0.0.1", Outbounds: list}
	}
	noAddress, noName := with(good[:2]), with(good[:2])
	noAddress.Address, noName.Name = "", ""
	var prober resource.Prober
	for range 2 {
		for i, d := range []*resource.Dataplane{with(nil), with(good[:1]), with(good[:2]), with(good), with(good[:1]), with(good[2:]), noAddress, noName} {
			if got, want := prober.FailsDataplane(d), errorsOf(&d.Meta, d) != ""; got != want {
				t.Errorf("dataplane %d: fails: %t, want %t", i, got, want)
			}
		}
	}
	d := with(good[:2])
	p, err := meshtimeout.New("m", "p").Select(resource.Subset(map[string]string{"a": "b"})).
		To(resource.Service("web"), meshtimeout.Conf{IdleTimeout: new(conf.Duration(1e9))}).Policy()
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if prober.FailsDataplane(d) || prober.Fails(p.Validate) {
			t.Error("fails")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
