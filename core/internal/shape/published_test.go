package shape

import (
	"maps"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A service of mesh-perf's graph calls only services with a higher number, and nearer ones
// more often: the next one in half of the cases. The sum of 0.5/d over 1,000 services is
// 3.24 calls for each service.
func TestMeshPerfGraph(t *testing.T) {
	const services = 1_000
	calls := meshPerfGraph(MeshPerfSeed, services, 50)
	edges, next := 0, 0
	for from, to := range calls {
		last := from
		for _, called := range to {
			if called <= last || called >= services {
				t.Fatalf("service %d calls %v", from, to)
			}
			if called == from+1 {
				next++
			}
			last = called
		}
		edges += len(to)
	}
	if edges < 3_000 || edges > 3_500 || next < 450 || next > 550 {
		t.Errorf("%d edges, %d of them to the next service", edges, next)
	}
	// What is scaled is called.
	scaled := MeshPerfScaled(services)
	for _, to := range calls {
		if len(to) > 0 {
			if to[0] != scaled {
				t.Errorf("service %d is scaled, want %d", scaled, to[0])
			}
			break
		}
	}
}

// Both instances of a service have its outbounds, and addresses of their own.
func TestMeshPerfDataplanes(t *testing.T) {
	dataplanes := MeshPerf(20, 2)
	if len(dataplanes) != 40 {
		t.Fatalf("%d dataplanes, want 40", len(dataplanes))
	}
	addresses := map[string]bool{}
	for j, d := range dataplanes {
		addresses[d.Address] = true
		if other := dataplanes[j^1]; len(d.Outbounds) != len(other.Outbounds) || d.Name == other.Name {
			t.Errorf("%s has %d outbounds, and %s has %d", d.Name, len(d.Outbounds), other.Name, len(other.Outbounds))
		}
	}
	if len(addresses) != 40 {
		t.Errorf("%d addresses, want 40", len(addresses))
	}
	if last := dataplanes[39]; last.Name != "srv-019-1" || len(last.Outbounds) != 0 {
		t.Errorf("the last dataplane is %s with %d outbounds", last.Name, len(last.Outbounds))
	}
}

// The marker labels and the values of Calico's benchmarks repeat as in its lists.
func TestCalico(t *testing.T) {
	markers := map[string]bool{}
	for _, s := range CalicoTags(62, 0).Selectors {
		for marker := range s {
			markers[marker] = true
		}
	}
	if len(markers) != 29 {
		t.Errorf("%d markers, want 29", len(markers))
	}
	ipsets := CalicoIPSets(3, 1)
	if !maps.Equal(ipsets.Items[0], ipsets.Selectors[1]) || maps.Equal(ipsets.Items[0], ipsets.Selectors[2]) {
		t.Errorf("the item has %v", ipsets.Items[0])
	}
	d := CalicoDataplane(0, 0)
	for label, value := range CalicoTags(0, 1).Items[0] {
		if got := d.Inbounds[0].Tags.Value(label); got != value {
			t.Errorf("the tag %s is %q, want %q", label, got, value)
		}
	}
}

// The examples merge to what their projects publish.
func TestMerges(t *testing.T) {
	want := map[string]*meshtimeout.Conf{
		"gateway and route":    {ConnectionTimeout: seconds(15), IdleTimeout: seconds(16), HTTP: &meshtimeout.HTTP{MaxConnectionDuration: seconds(17)}},
		"gateway and override": {ConnectionTimeout: seconds(10), IdleTimeout: seconds(16), HTTP: &meshtimeout.HTTP{MaxConnectionDuration: seconds(17)}},
		"route and override":   {ConnectionTimeout: seconds(1), IdleTimeout: seconds(3)},
		"gateway, route and override": {
			ConnectionTimeout: seconds(1),
			HTTP:              &meshtimeout.HTTP{RequestTimeout: seconds(1), StreamIdleTimeout: seconds(1), MaxStreamDuration: seconds(2)},
		},
		"defaults and override": {ConnectionTimeout: seconds(2), IdleTimeout: seconds(3)},
	}
	for _, m := range Merges() {
		if want[m.Name] == nil {
			continue
		}
		var items []results.Contribution
		for i, c := range m.Confs {
			items = append(items, results.Contribution{Origin: results.Origin{Index: i}, Conf: c})
		}
		got := results.Merge(meshtimeout.Kind().To.Conf, items).Conf.(*meshtimeout.Conf)
		if got.Hash() != want[m.Name].Hash() {
			t.Errorf("%s: got %+v", m.Name, got)
		}
	}
}

// The services of Alibaba have the published shares of roles and instances: 13 % are entries, and
// 39 % leaves, of 67,760; 28 instances are the average.
func TestAlibaba(t *testing.T) {
	const n = 200_000
	services, leaves := map[string]int{}, 0
	callers, outbounds := map[string]int{}, 0
	for _, d := range Alibaba(n, 10) {
		name := d.Labels.Value("app")
		if services[name]++; services[name] > 1 {
			continue
		}
		if len(d.Outbounds) == 0 {
			leaves++
		}
		for _, o := range d.Outbounds {
			callers[o.Tags.Value(resource.ServiceTag)]++
			outbounds++
		}
	}
	if average := n / len(services); average < 24 || average > 32 {
		t.Errorf("%d instances of each of %d services", average, len(services))
	}
	if share := 100 * leaves / len(services); share < 37 || share > 42 {
		t.Errorf("%d %% of the services call none, want 39 %%", share)
	}
	if share := 100 * (len(services) - len(callers)) / len(services); share < 12 || share > 20 {
		t.Errorf("nothing calls %d %% of the services, want at least 13 %%", share)
	}
	if average := float64(outbounds) / float64(len(services)); average < 8 || average > 12 {
		t.Errorf("a service calls %.1f others, want about 10", average)
	}
	popular, counts := 0, slices.Sorted(maps.Values(callers))
	for _, c := range counts[len(counts)-len(services)/10:] {
		popular += c
	}
	if share := 100 * popular / outbounds; share < 50 || share > 70 {
		t.Errorf("the most popular tenth has %d %% of all outbounds", share)
	}
}
