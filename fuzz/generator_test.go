package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Every sequence of bytes gives the same scenario each time, and the scenario loads in
// YAML and in JSON.
func TestEveryScenarioLoads(t *testing.T) {
	sequential(t)
	g := generator(t)
	for seed := range uint64(400) {
		data := SeededBytes(seed)
		if seed%2 == 0 {
			data = data[:seed%20]
		}
		s := g.Scenario(data)
		set, err := s.Load()
		if err != nil {
			t.Fatalf("%v\n%s", err, s.YAML())
		}
		other := *s
		other.json = !s.json
		again, err := other.Load()
		if err != nil {
			t.Fatalf("in the other format: %v\n%s", err, s.YAML())
		}
		if a, b := fmt.Sprint(len(set.Dataplanes), len(set.Documents), asText(set.Policies)), fmt.Sprint(len(again.Dataplanes), len(again.Documents), asText(again.Policies)); a != b {
			t.Fatalf("YAML and JSON differ:\n%s\n%s", a, b)
		}
		if twin := g.Scenario(data); twin.YAML() != s.YAML() || twin.JSON() != s.JSON() {
			t.Fatalf("the same bytes make two scenarios:\n%s\n%s", s.YAML(), twin.YAML())
		}
	}
}

// The scenarios of the soak contain the cases that it is meant to compare, such as
// policies that override each other.
func TestScenariosMeet(t *testing.T) {
	sequential(t)
	g := generator(t)
	seen := map[string]int{}
	for seed := range uint64(3000) {
		set, err := g.Scenario(SeededBytes(seed)).Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, dp := range set.Dataplanes {
			answer, err := naive.Inspect(g.Kinds(), set, dp.Mesh, dp.Namespace, dp.Name, naive.Options{Shadow: true})
			if err != nil {
				t.Fatal(err)
			}
			countMeetings(seen, dp, asTree(answer).(map[string]any))
		}
	}
	for _, meeting := range []string{
		"level Mesh", "level Dataplane", "level MeshSubset", "level MeshGateway", "level MeshService", "level MeshServiceSubset",
		"level MeshHTTPRoute", "level MeshTCPRoute",
		"matched: several", "matched: not all inbounds", "a gateway is matched", "a dataplane without inbounds is matched",
		"default: several origins", "outbounds: several origins", "outbounds: without a conf", "rules: several origins",
		"routes: several origins", "routes: without a conf", "routes: several", "permissions: several",
	} {
		if seen[meeting] < 5 {
			t.Errorf("%q occurs %d times in 3,000 scenarios", meeting, seen[meeting])
		}
	}
}

// The reference and the loader give copies the same names.
func TestSyncedNames(t *testing.T) {
	for _, parts := range [][4]string{
		{"default", "foo", "zone-1", "custom-ns"}, {"default", "foo", "", ""}, {"m", strings.Repeat("a", 300), "z", "n"}, {"", "", "", ""},
	} {
		want := naive.SyncedName(parts[0], parts[1], parts[2], parts[3])
		if got := resource.SyncedName(parts[0], parts[1], parts[2], parts[3]); got != want {
			t.Errorf("%q: %s, and the reference has %s", parts, got, want)
		}
	}
}

func countMeetings(seen map[string]int, dp *resource.Dataplane, answer map[string]any) {
	count := func(what string, happens bool) {
		if happens {
			seen[what]++
		}
	}
	confs := func(what string, list []map[string]any) {
		for _, c := range list {
			count(what+": several origins", len(asList(c["origins"])) > 1)
			count(what+": without a conf", c["conf"] == nil)
		}
	}
	for _, policy := range list(answer, "policies") {
		matched := list(policy, "matched")
		count("matched: several", len(matched) > 1)
		count("a gateway is matched", dp.Gateway != nil)
		count("a dataplane without inbounds is matched", dp.Gateway == nil && len(dp.Inbounds) == 0)
		for _, m := range matched {
			seen[fmt.Sprint("level ", m["level"])]++
			count("matched: not all inbounds", len(asList(m["inbounds"])) < len(dp.Inbounds))
		}
		if c, ok := policy["default"].(map[string]any); ok {
			confs("default", []map[string]any{c})
		}
		outbounds := list(policy, "outbounds")
		confs("outbounds", outbounds)
		for _, outbound := range outbounds {
			routes := list(outbound, "routes")
			confs("routes", routes)
			count("routes: several", len(routes) > 1)
		}
		for _, inbound := range list(policy, "inbounds") {
			confs("rules", list(inbound, "rules"))
			count("permissions: several", len(list(inbound, "permissions")) > 1)
		}
	}
}

func TestChoices(t *testing.T) {
	c := &choices{[]byte{7, 7, 3}}
	got := []int{c.intn(4), c.intn(1), c.intn(10), c.intn(2), c.intn(2)}
	if want := []int{3, 0, 7, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// If no valid Conf can be made for a kind, the error contains the reason.
func TestGeneratorWithoutTexts(t *testing.T) {
	strange := func(conf resource.ConfType) *resource.Kinds {
		return resource.NewKinds(&resource.Kind{
			Name: "Strange", Short: "st", Top: resource.TopTargets, Default: &resource.Section{Conf: conf},
		})
	}
	for _, test := range []struct {
		name, want string
		conf       resource.ConfType
	}{
		{"a field without values", `times "fuzz.strangeWord: v: must be strange"`, resource.ConfOf[strangeConf, emptyMerger[strangeConf]]()},
		{"a struct that refuses all values", `times "fuzz.refusingConf: count: must be more than 9"; pass values`, resource.ConfOf[refusingConf, emptyMerger[refusingConf]]()},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := NewGenerator(strange(test.conf)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	g, err := NewGenerator(strange(resource.ConfOf[strangeConf, emptyMerger[strangeConf]]()), "strange")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		data := []byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())}
		if _, err := g.Scenario(data).Load(); err != nil {
			t.Fatal(err)
		}
	}
}

// list returns the objects of a list in an answer.
func list(object map[string]any, name string) []map[string]any {
	elems := asList(object[name])
	objects := make([]map[string]any, len(elems))
	for i, elem := range elems {
		objects[i], _ = elem.(map[string]any)
	}
	return objects
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
