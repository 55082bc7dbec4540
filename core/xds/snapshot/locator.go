package snapshot

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The resources of a destination, as variants by the parameters that describe a
// dataplane with one inbound (SPEC 12.4). They are compiled so:
//
//  1. For each kind that shapes the resources, package variant compiles the policies
//     to the distinct confs. The identity of the client is one more such set, and so is
//     which routes select it.
//  2. The sets are combined: one variant for each distinct tuple.
//  3. Each tuple has an example: a dataplane that the parameters describe. Its
//     resources are built as for any dataplane. So what a locator chooses is what
//     such a dataplane gets, by construction.
//  4. If a build asks for a facet, such as the zone, the values that make a difference
//     are one more set, and the sets are combined again.
//  5. Tuples with the same resource are one variant.
//
// A destination with more variants is not compiled: what answers parameters is built for
// them alone (cell.go). So the work for a destination is bounded, and it is done without
// the lock of the locator.

// Locate returns the variant of a resource name that dynamic parameters choose, and
// false if there is none: no dataplane of the mesh has an outbound of that name
// (SPEC 12.4).
func (s *State) Locate(t wire.Type, name string, p variant.Parameters) (wire.Variant, bool) {
	return s.LocateFor(xds.Client{}, t, name, p)
}

// LocateFor is Locate for a client that is not the newest Envoy: what a client of its type and
// capabilities gets by parameters is what it gets by a node (SPEC 18.3).
func (s *State) LocateFor(client xds.Client, t wire.Type, name string, p variant.Parameters) (wire.Variant, bool) {
	mesh, _, _ := strings.Cut(name, "/")
	if s.meshes[mesh] == nil || t == wire.SecretType {
		return wire.Variant{}, false
	}
	key := locatorKey{mesh, client}
	known, ok := s.builder.locators.Load(key)
	if !ok {
		known, _ = s.builder.locators.LoadOrStore(key, &locator{locatorKey: key})
		s.builder.turns.Add(1)
	}
	return known.(*locator).locate(s, t, name, p)
}

// A locatorKey identifies a locator. There are few clients: see [xds.ClientBy].
type locatorKey struct {
	mesh   string
	client xds.Client
}

// locator has the variants of the destinations of one mesh for one client. It follows the states
// of its callers.
type locator struct {
	locatorKey

	// mu is not held while a destination is compiled: all streams with locators need it.
	mu        sync.Mutex
	at        *State                    // the one for which it was asked last
	compilers []*variant.PolicyCompiler // of the kinds of Builder.shared
	outbounds map[string]*outbounds     // of all dataplanes, by name
	located   map[string]*located
	moves     moves
}

// outbounds are the outbounds of all dataplanes to one destination.
type outbounds struct {
	destination *destination
	count       int
}

// The limits on what is compiled (SPEC 9.4): variants of a name, and tuples, which are
// variants of all names of the destination together.
const (
	maxVariants = 256
	maxTuples   = 512
)

// variantLimits are maxVariants and maxTuples, or less in tests.
type variantLimits struct{ variants, tuples int }

// located is the variants of the resources of one destination.
type located struct {
	client       xds.Client
	set          *endpointSet
	identities   *identity.Identities
	mesh         *meshState               // of the state of the locator
	asked        atomic.Pointer[inputSet] // by the examples; nil: not compiled yet
	compilations []*variant.Compilation   // at the view of the first question

	compiled sync.Once
	byType   [wire.NumTypes]*locatedType // nil: the destination has no such resource
	many     [wire.NumTypes]bool         // more variants than maxVariants
	cells    cells                       // answers if many is set
	inputs   inputSet                    // that the examples asked for
	err      error
}

type locatedType struct {
	set      *variant.ConstraintSet
	variants []wire.Variant // parallel to the set
}

func (l *locator) locate(s *State, t wire.Type, name string, p variant.Parameters) (wire.Variant, bool) {
	known, destination := l.find(s, name)
	if known == nil {
		return wire.Variant{}, false
	}
	known.compiled.Do(func() {
		known.err = known.compile(s, destination)
		known.asked.Store(&known.inputs)
	})
	if known.err != nil {
		return wire.Variant{}, false
	}
	if known.many[t] {
		return known.cells.locate(s, known, destination, t, p)
	}
	if of := known.byType[t]; of != nil {
		// A policy may have removed the resource for some parameters.
		if chosen, ok := of.set.Choose(p); ok && of.variants[chosen].Resource != nil {
			return of.variants[chosen], true
		}
	}
	return wire.Variant{}, false
}

// find returns what is known of a destination, which may have to be compiled, and nil if
// there is none.
func (l *locator) find(s *State, name string) (*located, *destination) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow(s)
	outbound := l.outbounds[name]
	if outbound == nil {
		return nil, nil
	}
	destination := outbound.destination
	known := l.located[name]
	if known == nil {
		mesh := s.meshes[l.mesh]
		known = &located{client: l.client, set: mesh.endpoints(s.builder, destination), identities: mesh.identities, mesh: mesh}
		for _, c := range l.compilers {
			known.compilations = append(known.compilations, c.Compilation(destination.Destination))
		}
		l.located[name] = known
	}
	return known, destination
}

// holds reports whether the variants are the same in a later state of the mesh, in which the
// destination has some endpoints. What is not compiled yet may ask for each input, and so may
// a cell.
func (n *located) holds(after *meshState, set *endpointSet) bool {
	asked := allInputs &^ viewInput
	if inputs := n.asked.Load(); inputs != nil && !slices.Contains(n.many[:], true) {
		asked = *inputs
	}
	return n.set == set && n.identities == after.identities && asked.differing(n.mesh, after) == 0
}

// follow brings the locator to a state.
func (l *locator) follow(s *State) {
	switch {
	case l.at == s:
		return
	case l.at == nil:
		l.outbounds, l.located = map[string]*outbounds{}, map[string]*located{}
		for _, t := range s.builder.shared() {
			if kind := s.view.Kinds().Lookup(t.Kind); kind != nil {
				l.compilers = append(l.compilers, variant.NewPolicyCompiler(s.view, l.mesh, kind))
			}
		}
		for _, d := range s.view.Dataplanes(l.mesh) {
			l.count(s.builder, d, 1)
		}
	default:
		l.moves.leave(l, l.at)
		for _, c := range l.compilers {
			for _, d := range c.Update(s.view) {
				l.drop(d.Name())
			}
		}
		for old, next := range core.EditedDataplanes(l.at.view, s.view) {
			if cmp.Or(next, old).Mesh == l.mesh {
				l.count(s.builder, next, 1) // first, so that no count is 0 in between
				l.count(s.builder, old, -1)
			}
		}
		l.keep(s)
	}
	l.at = s
}

// keep drops the destinations whose variants may be others in a state.
func (l *locator) keep(s *State) {
	mesh := s.meshes[l.mesh]
	if mesh == l.at.meshes[l.mesh] {
		return
	}
	for name, known := range l.located {
		if !known.holds(mesh, mesh.endpoints(s.builder, l.outbounds[name].destination)) {
			l.drop(name)
		}
		known.mesh = mesh
	}
}

// drop forgets the variants of a destination, which may be others now.
func (l *locator) drop(name string) {
	delete(l.located, name)
	l.moves.add(name)
}

// count adds a number to the counts of the outbounds of a dataplane, which may be nil.
func (l *locator) count(b *Builder, d *resource.Dataplane, n int) {
	if d == nil {
		return
	}
	for i := range d.Outbounds {
		if d.Outbounds[i].Backend != nil {
			continue
		}
		destination := b.destination(l.mesh, d.Outbounds[i].Tags)
		known := l.outbounds[destination.name]
		if known == nil {
			known = &outbounds{destination: destination}
			l.outbounds[destination.name] = known
			l.moves.add(destination.name)
		}
		if known.count += n; known.count == 0 {
			delete(l.outbounds, destination.name)
			l.drop(destination.name)
		}
	}
}

// shared returns the translators that shape what dataplanes share, each once.
func (b *Builder) shared() []*xds.Translator {
	var list []*xds.Translator
	for _, t := range slices.Concat(b.shape.cluster, b.shape.endpoints, b.shape.routes, b.shape.finish) {
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// compile compiles the variants of a destination. If they pass a limit, or are not worth
// the work, the destination is answered by cells.
func (n *located) compile(s *State, d *destination) error {
	err := n.compileSets(s, d)
	if _, limit := errors.AsType[*partition.LimitError](err); limit || errors.Is(err, variant.ErrConstraint) {
		for t := range n.many {
			n.many[t] = true
		}
		err = nil
	}
	if slices.Contains(n.many[:], true) {
		n.cells.init(s, n, d)
	}
	return err
}

func (n *located) compileSets(s *State, d *destination) error {
	sets, err := n.sets(s, d)
	if err != nil {
		return err
	}
	known := facetSet{}
	for {
		combined, _, err := variant.Combine(sets, s.builder.limits.tuples)
		if err != nil {
			return err
		}
		examples, used := n.build(s, d, combined)
		if union := known.with(used); union.size() != known.size() {
			more, err := n.facetSets(s, known, union)
			if err != nil {
				return err
			}
			sets, known = append(sets, more...), union
			continue
		}
		return n.group(combined, examples, s.builder.limits.variants)
	}
}

// exampleName is the name of a dataplane that no policy names. It is a part of SPIFFE IDs.
const exampleName = "-"

// example is the resources that the parameters of one variant lead to, by type.
type example [wire.NumTypes]*wire.Resource

// build builds an example for each variant of a set, and returns the facets that the
// builds asked for.
func (n *located) build(s *State, d *destination, set *variant.ConstraintSet) ([]example, facetSet) {
	examples := make([]example, set.Len())
	var used facetSet
	for i := range examples {
		p, _ := set.Example(i)
		built, asked, inputs := n.example(s, d, p)
		n.inputs |= inputs
		examples[i], used = built, used.with(asked)
	}
	return examples, used
}

// example builds the resources of a destination for a dataplane that parameters describe,
// and returns the facets and the inputs that the build asked for.
func (n *located) example(s *State, d *destination, p variant.Parameters) (built example, used facetSet, asked inputSet) {
	dataplane := variant.DataplaneOf(d.Mesh, p)
	dataplane.Name = cmp.Or(dataplane.Name, exampleName)
	dataplane.Outbounds = []resource.Outbound{{Port: 1, Tags: d.Tags}}
	sb := s.newSnapshot(dataplane, s.view.Configs(dataplane, s.builder.scope), n.client)
	o := &outbound{destination: d, configs: sb.basis.configs, confs: sb.confs}
	if n.client.Type == xds.ProxylessGRPC {
		sb.addOutboundOfGRPC(o, n.set)
	} else {
		sb.addDestination(o, n.set)
	}
	for _, part := range sb.shared.parts {
		used = used.with(part.used)
		for _, r := range part.resources {
			if r.Name == d.name {
				built[r.Type] = r
			}
		}
	}
	for _, listener := range sb.shared.api {
		built[wire.ListenerType] = listener
	}
	return built, used, sb.own.inputs
}

// group makes one variant of those with the same resource, at most so many of a type.
func (n *located) group(set *variant.ConstraintSet, examples []example, most int) error {
	for t := range n.byType {
		var distinct []*wire.Resource
		groups := make([]int, len(examples))
		for i := range examples {
			groups[i] = slices.Index(distinct, examples[i][t])
			if groups[i] < 0 {
				groups[i] = len(distinct)
				distinct = append(distinct, examples[i][t])
			}
		}
		switch {
		case len(distinct) == 1 && distinct[0] == nil:
			continue
		case len(distinct) > most:
			n.many[t] = true
			continue
		}
		grouped, order, err := set.Group(groups)
		if err != nil {
			return err
		}
		of := &locatedType{set: grouped}
		for i, group := range order {
			v := wire.Variant{Resource: distinct[group]}
			if len(order) > 1 {
				data, err := proto.MarshalOptions{Deterministic: true}.Marshal(grouped.Constraint(i).Proto())
				if err != nil {
					return err
				}
				v.Constraints = string(data)
			}
			of.variants = append(of.variants, v)
		}
		n.byType[t] = of
	}
	return nil
}

// sets returns the sets that a destination depends on: policies, routes, identity.
func (n *located) sets(s *State, d *destination) (sets []*variant.ConstraintSet, err error) {
	for _, c := range n.compilations {
		compiled, err := c.Compile(s.builder.limits.tuples)
		if err != nil {
			return nil, err
		}
		sets = append(sets, compiled.Set)
	}
	for _, c := range n.compilations { // compilations for kinds of routes return none
		routes, err := c.RouteSets()
		if err != nil {
			return nil, err
		}
		if len(routes) > 0 {
			sets = append(sets, routes...)
			break
		}
	}
	identities, err := variant.FirstMatch(n.identityRules(d))
	return append(sets, identities), err
}

// identityRules returns the constraints on which the identity of a client depends.
func (n *located) identityRules(d *destination) (rules []variant.Constraint) {
	for _, r := range n.identities.Rules(d.Mesh) {
		var selected, needed []variant.Constraint
		for _, label := range r.Labels {
			selected = append(selected, variant.Equals(variant.LabelKey(label.Key), label.Value))
		}
		if r.Zone != "" {
			origin, zone := variant.LabelKey(resource.OriginLabel), variant.LabelKey(resource.ZoneTag)
			selected = append(selected, variant.Or(variant.Not(variant.Equals(origin, "zone")), variant.Not(variant.Exists(zone)), variant.Equals(zone, r.Zone)))
		}
		for _, key := range r.AskedLabels {
			needed = append(needed, variant.Exists(variant.LabelKey(key)))
		}
		for _, v := range r.AskedVariables {
			if key, optional := optionalVariables[v]; optional {
				needed = append(needed, variant.Exists(key))
			}
		}
		all := variant.And(selected...)
		rules = append(rules, variant.And(all, variant.And(needed...)), all)
	}
	return rules
}

// optionalVariables are the parameters of the variables of templates that a dataplane
// may lack.
var optionalVariables = map[string]string{
	"Namespace":      variant.NamespaceKey,
	"Zone":           variant.LabelKey(resource.ZoneTag),
	"ServiceAccount": variant.LabelKey(resource.ServiceAccountLabel),
	"Workload":       variant.LabelKey(resource.WorkloadLabel),
}
