package fuzz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Every sequence of bytes is a scenario that loads, the same one each time, in
// YAML and in JSON.
func TestEveryScenarioLoads(t *testing.T) {
	g := generator(t)
	for seed := range uint64(1000) {
		data := randomBytes(seed)[:seed%20]
		s := g.Scenario(data)
		set, err := s.Load()
		if err != nil {
			t.Fatalf("%v\n%s", err, s.YAML())
		}
		other := *s
		other.json = !s.json
		again, err := other.Load()
		if err != nil {
			t.Fatalf("in the other spelling: %v\n%s", err, s.YAML())
		}
		if a, b := fmt.Sprint(len(set.Dataplanes), asText(set.Policies)), fmt.Sprint(len(again.Dataplanes), asText(again.Policies)); a != b {
			t.Fatalf("YAML and JSON differ:\n%s\n%s", a, b)
		}
		if twin := g.Scenario(data); twin.YAML() != s.YAML() || twin.JSON() != s.JSON() {
			t.Fatalf("the same bytes make two scenarios:\n%s\n%s", s.YAML(), twin.YAML())
		}
	}
}

// What the soak is about does happen in it: a comparison of scenarios in which
// nothing meets would prove nothing.
func TestScenariosMeet(t *testing.T) {
	g := generator(t)
	seen := map[string]int{}
	for seed := range uint64(3000) {
		set, err := g.Scenario(randomBytes(seed)).Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, dp := range set.Dataplanes {
			answer, err := naive.Inspect(g.Kinds(), set, dp.Mesh, dp.Namespace, dp.Name, naive.Options{Shadow: true})
			if err != nil {
				t.Fatal(err)
			}
			tree, err := asTree(answer)
			if err != nil {
				t.Fatal(err)
			}
			countMeetings(seen, dp, tree)
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
			t.Errorf("%q happens %d times in 3,000 scenarios", meeting, seen[meeting])
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
	got := []int{c.of(4), c.of(1), c.of(10), c.of(2), c.of(2)}
	if want := []int{3, 0, 7, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A kind for which no valid Conf can be made is an error, and no silence.
func TestGeneratorWithoutTexts(t *testing.T) {
	kind := &resource.Kind{
		Name: "Strange", Short: "st", Top: resource.TopTargets,
		Default: &resource.Section{Conf: strangeType{}},
	}
	if _, err := NewGenerator(resource.NewKinds(kind)); err == nil {
		t.Error("there is a generator for a kind without valid confs")
	}
	g, err := NewGenerator(resource.NewKinds(kind), "strange")
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
