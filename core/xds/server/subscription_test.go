package server

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
)

// FuzzParametersKey compares the texts of two maps, whose keys and values may have any
// bytes. Those of {"a": "b\x00c\x00d"} and {"a": "b", "c": "d"} were equal.
func FuzzParametersKey(f *testing.F) {
	f.Add("a", "b\x00c\x00d", "", "", "a", "b", "c", "d")
	f.Add("a", "b", "c", "d", "a", "bcd", "", "")
	f.Add("", "", "\x00", "", "\x00", "", "", "")
	f.Fuzz(func(t *testing.T, k1, v1, k2, v2, k3, v3, k4, v4 string) {
		a := map[string]string{k1: v1, k2: v2}
		for _, b := range []map[string]string{{k3: v3, k4: v4}, {k3: v3}, {k1: v1}, {k2: v2, k1: v1}} {
			if (parametersKey(a) == parametersKey(b)) != maps.Equal(a, b) {
				t.Errorf("the texts of %q and %q are %q and %q", a, b, parametersKey(a), parametersKey(b))
			}
		}
	})
}

// FuzzUnion compares union with sorting both.
func FuzzUnion(f *testing.F) {
	f.Add([]byte("ace"), []byte("bde"))
	f.Add([]byte("ab"), []byte("cc"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		names := func(bytes []byte) (list []string) {
			for _, c := range bytes {
				list = append(list, string(c))
			}
			return list
		}
		known := slices.Compact(slices.Sorted(slices.Values(names(a))))
		want := slices.Compact(slices.Sorted(slices.Values(append(names(a), names(b)...))))
		if got := union(known, names(b)); !slices.Equal(got, want) {
			t.Errorf("the union of %q and %q is %q", a, b, got)
		}
	})
}

// Locators that are subscribed and unsubscribed at random equal those of a set, sorted.
func TestLocatorsAreASet(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s subscription
		set := map[string]bool{}
		for range 20 {
			list := make([]*discoveryv3.ResourceLocator, r.IntN(4))
			for i := range list {
				list[i] = &discoveryv3.ResourceLocator{Name: fmt.Sprint(r.IntN(4)), DynamicParameters: map[string]string{"k": fmt.Sprint(r.IntN(3))}}
			}
			subscribes := r.IntN(2) == 0
			for _, l := range list {
				if text := fmt.Sprint(l.Name, l.DynamicParameters); subscribes {
					set[text] = true
				} else {
					delete(set, text)
				}
			}
			if subscribes {
				s.locate(list)
			} else {
				s.unlocate(list)
			}
			var got []string
			for _, l := range s.locators {
				got = append(got, fmt.Sprint(l.name, l.parameters.values))
			}
			if want := slices.Sorted(maps.Keys(set)); !slices.Equal(got, want) {
				t.Fatalf("seed %d: the locators are %v, want %v", seed, got, want)
			}
		}
	}
}

// FuzzWeigh weighs requests of any bytes. One that is admitted decodes to no more than its
// weight, as far as that is made of names, locators and parameters.
func FuzzWeigh(f *testing.F) {
	for _, m := range []proto.Message{
		&discoveryv3.DeltaDiscoveryRequest{TypeUrl: "t", ResourceNamesSubscribe: []string{"a", ""}, InitialResourceVersions: map[string]string{"a": "1"},
			ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{{Name: "a", DynamicParameters: map[string]string{"k": "v"}}, {}}},
		&discoveryv3.DiscoveryRequest{TypeUrl: "t", ResourceNames: []string{"a", "", "b"}, ResourceLocators: []*discoveryv3.ResourceLocator{{}}},
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const names, parameters = 4, 2
		var d discoveryv3.DeltaDiscoveryRequest
		weight := scale{names: names, parameters: parameters}
		if weight.weigh(b, delta) == nil && proto.Unmarshal(b, &d) == nil {
			checkWeight(t, weight.bytes, d.ResourceNamesSubscribe, slices.Concat(d.ResourceLocatorsSubscribe, d.ResourceLocatorsUnsubscribe))
			if len(d.ResourceNamesUnsubscribe) > names || len(d.InitialResourceVersions) > names {
				t.Errorf("admitted: %v", &d)
			}
		}
		var s discoveryv3.DiscoveryRequest
		weight = scale{names: names, parameters: parameters}
		if weight.weigh(b, stateOfTheWorld) == nil && proto.Unmarshal(b, &s) == nil {
			checkWeight(t, weight.bytes, s.ResourceNames, s.ResourceLocators)
		}
	})
}

func checkWeight(t *testing.T, weight int, names []string, locators []*discoveryv3.ResourceLocator) {
	bytes := textBytes(names)
	for _, l := range locators {
		bytes += locatorBytes + len(l.Name)
		for key, value := range l.DynamicParameters {
			bytes += parameterBytes + len(key) + len(value)
		}
		if len(l.DynamicParameters) > 2 {
			t.Errorf("a locator has the parameters %v", l.DynamicParameters)
		}
	}
	if len(names) > 4 || len(locators) > 8 || bytes > weight {
		t.Errorf("%d names and %d locators of about %d bytes weigh %d", len(names), len(locators), bytes, weight)
	}
}
