package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Scenario is a small mesh with policies, as the documents of a file.
type Scenario struct {
	kinds     *resource.Kinds
	documents []map[string]any
	json      bool   // the file is JSON, not YAML
	seed      uint64 // derived from the bytes, for random requests
	in        diag.Reading
	merge     mergeFunc
	refused   int // documents that the generator made and a semantics refuses
}

// Scenario decodes bytes. Every sequence of bytes gives a scenario that loads.
func (g *Generator) Scenario(data []byte) *Scenario {
	c := &choices{data}
	s := &Scenario{kinds: g.kinds, seed: xxhash.Sum64(data), in: g.in, json: !c.rarely(4), merge: g.merge}
	m := &meshMaker{Generator: g, choices: c, taken: map[string]bool{}}
	m.focus = append(some(c, 1, g.kinds.All()...), pick(c, g.kinds.All()...))
	anyTarget := resource.TopTargets | resource.RouteTargets
	m.targets = append(some(c, 1, anyTarget.Names()...), pick(c, anyTarget.Names()...))
	m.requests = append(some(c, 2, requestMatches...), pick(c, requestMatches...))
	if g.destinations {
		m.addDestinations(s)
		m.addCollectors(s)
	}
	m.addMesh(s)
	if g.kuma {
		m.addGateways(s)
	}
	for range 1 + c.intn(2) {
		s.add(m.dataplane())
	}
	m.informing = c.rarely(4)
	for range 1 + c.intn(12) {
		s.add(m.policy())
	}
	if m.informing {
		for range 1 + c.intn(3) {
			m.placement(s)
		}
	}
	if s.in != diag.AsTargetRef { // which accepts all of them
		s.dropRefused()
	}
	return s
}

// dropRefused removes the documents with errors that only hold in some semantics. Each
// document is a line of the JSON form.
func (s *Scenario) dropRefused() {
	loader := resource.Loader{Kinds: s.kinds, Documents: core.Documents()}
	set, err := loader.Decode(context.Background(), resource.Input{Name: "scenario.json", Data: []byte(s.JSON())})
	if err != nil {
		return // then it does not load either
	}
	refused := map[int]bool{}
	for _, d := range set.Depending {
		if d.In&s.in != 0 && !d.Warning {
			refused[d.Document.Line] = true
		}
	}
	var accepted []map[string]any
	for i, document := range s.documents {
		if !refused[i+1] {
			accepted = append(accepted, document)
		}
	}
	s.documents, s.refused = accepted, len(refused)
}

func (s *Scenario) add(document map[string]any) {
	if document != nil {
		s.documents = append(s.documents, document)
	}
}

// YAML returns the scenario as a file, for readers and for the command line.
func (s *Scenario) YAML() string {
	return s.text(yaml.Marshal, "---\n")
}

// JSON returns the scenario as a stream of JSON objects.
func (s *Scenario) JSON() string {
	return s.text(json.Marshal, "\n") + "\n"
}

func (s *Scenario) text(marshal func(any) ([]byte, error), separator string) string {
	var parts []string
	for _, document := range s.documents {
		text, err := marshal(document)
		if err != nil {
			panic(fmt.Sprintf("fuzz: a scenario has no text: %v", err)) // it consists of maps, lists and scalars
		}
		parts = append(parts, strings.TrimLeft(string(text), "\n"))
	}
	return strings.Join(parts, separator)
}

// Kinds returns the kinds of the scenario's policies.
func (s *Scenario) Kinds() *resource.Kinds { return s.kinds }

// Seed returns a number that depends on the bytes of the scenario, for random requests.
func (s *Scenario) Seed() uint64 { return s.seed }

// Hub returns the placements of the scenario, for the reference.
func (s *Scenario) Hub() *naive.Hub { return naive.ReadHub(s.documents) }

// Load loads the scenario's file.
func (s *Scenario) Load() (*resource.Set, error) {
	loader := resource.Loader{Kinds: s.kinds, Documents: core.Documents(), As: s.in}
	if s.json {
		return loader.Decode(context.Background(), resource.Input{Name: "scenario.json", Data: []byte(s.JSON())})
	}
	return loader.Decode(context.Background(), resource.Input{Name: "scenario.yaml", Data: []byte(s.YAML())})
}
