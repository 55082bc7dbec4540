package xdstest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A State is a state that a test writes. It is not changed after it was published;
// Clone returns one that may be.
type State struct {
	Nodes    map[string]*wire.Snapshot // by node id
	Variants map[Name][]wire.Variant
}

// A Name is a resource name that exists in variants.
type Name struct {
	Type wire.Type
	Name string
}

// NewState returns an empty state.
func NewState() *State {
	return &State{Nodes: map[string]*wire.Snapshot{}, Variants: map[Name][]wire.Variant{}}
}

// Clone returns a copy. Snapshots and variants are shared, and must be replaced
// instead of changed.
func (s *State) Clone() *State {
	return &State{Nodes: maps.Clone(s.Nodes), Variants: maps.Clone(s.Variants)}
}

// Snapshot returns a snapshot with the resources. A wildcard gets all of them but
// extensions.
func Snapshot(resources ...*wire.Resource) *wire.Snapshot {
	snapshot := new(wire.Snapshot)
	for _, r := range resources {
		of := &snapshot[r.Type]
		if r.Type == wire.ExtensionType {
			of.Named = append(of.Named, r)
		} else {
			of.Listed = append(of.Listed, r)
		}
	}
	for t := range snapshot {
		sortResources(snapshot[t].Listed)
		sortResources(snapshot[t].Named)
	}
	return snapshot
}

// WithNamed returns a copy of a snapshot with further resources, which are served by
// name only.
func WithNamed(snapshot *wire.Snapshot, resources ...*wire.Resource) *wire.Snapshot {
	c := *snapshot
	for _, r := range resources {
		c[r.Type].Named = append(slices.Clone(c[r.Type].Named), r)
		sortResources(c[r.Type].Named)
	}
	return &c
}

// RandomSnapshot returns a snapshot with resources of each type. Of the names, about half are
// listed, and a sixth is served by name only.
func RandomSnapshot(random *rand.Rand, names []string, content func() string) *wire.Snapshot {
	var listed, named []*wire.Resource
	for k := range wire.Type(wire.NumTypes) {
		for _, name := range names {
			r := Resource(k, name, content())
			switch random.IntN(6) {
			case 0, 1, 2:
				listed = append(listed, r)
			case 3:
				named = append(named, r)
			}
		}
	}
	return WithNamed(Snapshot(listed...), named...)
}

func sortResources(in []*wire.Resource) {
	slices.SortFunc(in, func(a, b *wire.Resource) int { return strings.Compare(a.Name, b.Name) })
}

// Variant returns a variant whose constraint is in JSON or YAML. An empty one means that
// the name has this variant only.
func Variant(r *wire.Resource, constraint string) wire.Variant {
	if constraint == "" {
		return wire.Variant{Resource: r}
	}
	var c variant.Constraint
	if err := conf.Unmarshal([]byte(constraint), &c); err != nil {
		panic(err)
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(c.Proto())
	if err != nil {
		panic(err)
	}
	return wire.Variant{Resource: r, Constraints: string(text)}
}

// Node implements server.State.
func (s *State) Node(node *server.Node) (*wire.Snapshot, bool) {
	snapshot, ok := s.Nodes[node.ID]
	return snapshot, ok
}

// Keeps is for server.State.
func (s *State) Keeps(node *server.Node, before server.State) bool {
	old, ok := before.(*State)
	return ok && old.Nodes[node.ID] != nil && s.Nodes[node.ID] == old.Nodes[node.ID]
}

// Locate implements server.State.
func (s *State) Locate(_ *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	for _, v := range s.Variants[Name{t, name}] {
		if accepts(v.Constraints, parameters) {
			return v, true
		}
	}
	return wire.Variant{}, false
}

// Relocated is for server.State.
func (s *State) Relocated(_ *server.Node, before server.State) (names []string, known bool) {
	old, ok := before.(*State)
	if !ok {
		return nil, false
	}
	for _, variants := range []map[Name][]wire.Variant{s.Variants, old.Variants} {
		for name := range variants {
			if !slices.Equal(s.Variants[name], old.Variants[name]) {
				names = append(names, name.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// accepts evaluates marshalled constraints.
func accepts(constraints string, parameters map[string]string) bool {
	var m variant.Proto
	if err := proto.Unmarshal([]byte(constraints), &m); err != nil {
		return false
	}
	c, err := variant.FromProto(&m)
	return err == nil && c.Accepts(parameters)
}

// A Source publishes states.
type Source struct {
	mu      sync.Mutex
	state   *State
	changed chan struct{}
}

// NewSource returns a source with a first state.
func NewSource(state *State) *Source {
	return &Source{state: state, changed: make(chan struct{})}
}

// Current implements server.Source.
func (s *Source) Current() (server.State, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed
}

// State returns the newest state, which must not be changed.
func (s *Source) State() *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Publish makes a state the newest one.
func (s *Source) Publish(state *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	close(s.changed)
	s.changed = make(chan struct{})
}

// Edit publishes a copy of the newest state that edit has changed.
func (s *Source) Edit(edit func(*State)) {
	next := s.State().Clone()
	edit(next)
	s.Publish(next)
}
