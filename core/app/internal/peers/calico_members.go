package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/projectcalico/calico/felix/labelindex"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	calinet "github.com/projectcalico/calico/libcalico-go/lib/net"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// memberships compares which selectors select which endpoints, while both change: the three
// groups of Calico's felix/labelindex/named_port_bench_test.go, at 10,000 selectors or
// endpoints. Its endpoints are dataplanes here, and the selectors of its IP sets are selectors
// of policies.
func memberships() []comparison {
	const note = "Calico changes its index of endpoints and IP sets in place and calls back for each member; meshmatch's engine validates, publishes a new version with the policies of each dataplane in order and merged, and keeps what equal dataplanes share. In groups of one member the peer's work is less. Copying its pages takes half of the time of a member or selector, and a seventh of that of labels (BenchmarkMembershipFloor in core/internal/mesh). With labels, the rest is to validate and compare the edit and to file the dataplane under them"
	c := func(label, work, input string, prepare func(ctx context.Context, s size) (*contest, error)) comparison {
		return comparison{
			subject: "Memberships: Calico's benchmarks of its index, on meshmatch's engine", label: label, work: work,
			input: input, source: shape.CalicoIPSets(0, 0).Source, unit: "s", note: note, prepare: prepare,
		}
	}
	return []comparison{
		c("member joins", "an endpoint joins or leaves", "WorkloadUpdate: 10,000 selectors with one shared label; 1 selects it", joins),
		c("selector changes", "a selector changes", "SelectorUpdates: 10,000 endpoints; one change in ten adds all, and the next removes them", selectorChanges),
		c("member relabelled", "the labels of an endpoint change", "ParentUpdates: 10,000 endpoints, 100 selectors of names; a label that no selector has changes", relabels),
	}
}

// A memberIndex is one side. Endpoints and selectors have numbers.
type memberIndex interface {
	setEndpoint(n int, labels map[string]string) error
	removeEndpoint(n int) error
	setSelector(id int, required map[string]string) error
	// selectors returns those that select an endpoint, in ascending order.
	selectors(endpoint int) []int
	// measuring is called before the work is measured; selectors is not called afterwards.
	measuring()
}

// memberContest has both sides do steps. A step is given its number.
func memberContest(ctx context.Context, endpoints, steps int, prepare func(memberIndex) error, step func(x memberIndex, i int) error) (*contest, error) {
	c := new(contest)
	for _, side := range []struct {
		name  string
		index memberIndex
	}{{meshmatch, newEngineMembers(ctx)}, {"Calico's SelectorAndNamedPortIndex", newCalicoMembers()}} {
		if err := prepare(side.index); err != nil {
			return nil, fmt.Errorf("%s: %w", side.name, err)
		}
		next := 0
		work := func() error {
			next++
			return step(side.index, next-1)
		}
		c.contenders = append(c.contenders, contender{
			name: side.name,
			answer: func() (string, error) {
				var text strings.Builder
				for range steps {
					if err := work(); err != nil {
						return "", err
					}
					for n := range endpoints {
						fmt.Fprint(&text, side.index.selectors(n))
					}
				}
				return text.String(), nil
			},
			operate: func(n int) error {
				side.index.measuring()
				return repeat(work)(n)
			},
		})
	}
	return c, nil
}

// joins has 1,000 endpoints join, and then leave, one in each step.
func joins(ctx context.Context, s size) (*contest, error) {
	input := shape.CalicoIPSets(s.pick(10_000, 100), 1)
	endpoints := s.pick(1_000, 10)
	return memberContest(ctx, min(endpoints, 10), 2*min(endpoints, 10), func(x memberIndex) error {
		for id, required := range input.Selectors {
			if err := x.setSelector(id, required); err != nil {
				return err
			}
		}
		return nil
	}, func(x memberIndex, i int) error {
		if i/endpoints%2 == 1 {
			return x.removeEndpoint(i % endpoints)
		}
		return x.setEndpoint(i%endpoints, input.Items[0])
	})
}

// selectorChanges gives one selector the label of another of ten IP sets in each step. All
// endpoints have the label of the second.
func selectorChanges(ctx context.Context, s size) (*contest, error) {
	input := shape.CalicoIPSets(10, 1)
	endpoints := s.pick(10_000, 20)
	return memberContest(ctx, min(endpoints, 20), 10, func(x memberIndex) error {
		for n := range endpoints {
			if err := x.setEndpoint(n, input.Items[0]); err != nil {
				return err
			}
		}
		return nil
	}, func(x memberIndex, i int) error { return x.setSelector(0, input.Selectors[i%10]) })
}

// relabels changes the labels of another endpoint in each step. In Calico's benchmark these
// labels come from the profile of the endpoint, which no other one has.
func relabels(ctx context.Context, s size) (*contest, error) {
	endpoints, selectors := s.pick(10_000, 20), s.pick(100, 5)
	name := func(n int) string { return fmt.Sprintf("namespace-%d", n) }
	return memberContest(ctx, 20, 40, func(x memberIndex) error {
		for n := range endpoints {
			if err := x.setEndpoint(n, shape.CalicoIPSets(0, 1).Items[0]); err != nil {
				return err
			}
		}
		for id := range selectors {
			if err := x.setSelector(id, map[string]string{"name": name(id)}); err != nil {
				return err
			}
		}
		return nil
	}, func(x memberIndex, i int) error {
		labels := map[string]string{"name": name(i % endpoints), "update-idx": fmt.Sprint(i), "something-shared": "foo"}
		maps.Copy(labels, shape.CalicoIPSets(0, 1).Items[0])
		return x.setEndpoint(i%endpoints, labels)
	})
}

// engineMembers is meshmatch's engine: labels are tags, and MeshTimeouts have the selectors.
type engineMembers struct {
	ctx    context.Context
	engine *core.Engine
}

func newEngineMembers(ctx context.Context) *engineMembers {
	return &engineMembers{ctx, core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})}
}

func (m *engineMembers) id(n int) resource.ID {
	return resource.ID{Kind: resource.DataplaneKind, Mesh: shape.Mesh, Name: fmt.Sprintf("wep-%d", n)}
}

func (m *engineMembers) setEndpoint(n int, labels map[string]string) error {
	d := &resource.Dataplane{
		Meta: resource.Meta{ID: m.id(n)}, Address: fmt.Sprintf("10.0.%d.%d", n>>8, n&255),
		Inbounds: []resource.Inbound{{Port: 80, Tags: resource.NewTags(labels).With(resource.ServiceTag, "wep")}},
	}
	_, err := m.engine.Apply(m.ctx, core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{d}}})
	return err
}

func (m *engineMembers) removeEndpoint(n int) error {
	_, err := m.engine.Apply(m.ctx, core.Batch{Delete: []resource.ID{m.id(n)}})
	return err
}

func (m *engineMembers) setSelector(id int, required map[string]string) error {
	kind := meshtimeout.Kind()
	p := &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: fmt.Sprintf("ipset-%06d", id)}},
		Type:      kind,
		TargetRef: resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(required)},
		To:        []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: shape.Timeout(id)}},
	}
	_, err := m.engine.Apply(m.ctx, core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{p}}})
	return err
}

func (m *engineMembers) selectors(endpoint int) []int {
	view := m.engine.View()
	d := view.Dataplane(m.id(endpoint))
	if d == nil {
		return nil
	}
	var list []int
	for _, c := range view.Configs(d, core.Enforced) {
		for _, selected := range c.Matched.All() {
			var id int
			if _, err := fmt.Sscanf(selected.Policy.Name, "ipset-%d", &id); err == nil {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return list
}

// measuring implements memberIndex.
func (m *engineMembers) measuring() {}

// calicoMembers is Calico's index of endpoints and IP sets.
type calicoMembers struct {
	index *labelindex.SelectorAndNamedPortIndex
	sets  map[string]map[string]bool // the IP sets of an address; nil while it is measured
	last  labelindex.IPSetMember     // all that the callbacks of Calico's benchmarks keep
}

func newCalicoMembers() *calicoMembers {
	m := &calicoMembers{index: labelindex.NewSelectorAndNamedPortIndex(), sets: map[string]map[string]bool{}}
	note := func(set string, member labelindex.IPSetMember, added bool) {
		m.last = member
		if m.sets == nil {
			return
		}
		of := member.CIDR.Addr().String()
		if m.sets[of] == nil {
			m.sets[of] = map[string]bool{}
		}
		m.sets[of][set] = added
	}
	m.index.OnMemberAdded = func(set string, member labelindex.IPSetMember) { note(set, member, true) }
	m.index.OnMemberRemoved = func(set string, member labelindex.IPSetMember) { note(set, member, false) }
	return m
}

func (m *calicoMembers) update(n int, value any) error {
	m.index.OnUpdate(api.Update{KVPair: model.KVPair{
		Key:   model.WorkloadEndpointKey{Hostname: "host", OrchestratorID: "k8s", WorkloadID: fmt.Sprintf("wep-%d", n), EndpointID: "eth0"},
		Value: value,
	}})
	return nil
}

func (m *calicoMembers) setEndpoint(n int, labels map[string]string) error {
	return m.update(n, &model.WorkloadEndpoint{
		Labels:   labels,
		IPv4Nets: []calinet.IPNet{{IPNet: net.IPNet{IP: net.IPv4(10, 0, byte(n>>8), byte(n)), Mask: net.CIDRMask(32, 32)}}},
	})
}

func (m *calicoMembers) removeEndpoint(n int) error { return m.update(n, nil) }

func (m *calicoMembers) setSelector(id int, required map[string]string) error {
	parsed, err := calicoSelectors([]map[string]string{required})
	if err != nil {
		return err
	}
	m.index.UpdateIPSet(fmt.Sprintf("ipset-%d", id), parsed[0], labelindex.ProtocolNone, "")
	return nil
}

func (m *calicoMembers) selectors(endpoint int) []int {
	var list []int
	for set, member := range m.sets[fmt.Sprintf("10.0.%d.%d", endpoint>>8, endpoint&255)] {
		var id int
		if _, err := fmt.Sscanf(set, "ipset-%d", &id); err == nil && member {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

// measuring implements memberIndex.
func (m *calicoMembers) measuring() { m.sets = nil }
