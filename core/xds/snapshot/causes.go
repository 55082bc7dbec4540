package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/effect"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const dataplaneKind = resource.DataplaneKind

// Causes finds why listeners drain. It compares each pair of confs once, so one value should
// be used for all dataplanes of an edit. The zero value is ready for use, and safe for
// concurrent use.
type Causes struct {
	fields sync.Map // [][]string by [2]resource.Conf: the fields that differ
}

// A Drain is a listener that an Envoy replaces or removes, so that its connections close when
// the drain time is over.
type Drain struct {
	Listener string
	// Because are the kinds of resources that change the listener, sorted.
	Because []string
	// Removed reports that the listener goes.
	Removed bool
}

// Between returns the drains between the snapshots of a dataplane in two states, which it
// builds and does not keep.
func (c *Causes) Between(before, after *State, old, next *resource.Dataplane) []Drain {
	return c.Drains(before.once(old), after.once(next))
}

// once builds a snapshot of an Envoy that the builder does not keep.
func (s *State) once(d *resource.Dataplane) *Snapshot {
	return s.build(d, s.view.Configs(d, s.builder.scope), xds.Client{}, nil)
}

// Drains returns the listeners of one snapshot of an Envoy that a later snapshot of the same
// dataplane replaces or removes, sorted by name (SPEC 11.8). A listener drains if its bytes
// differ. The causes are the kinds with a conf for the listener that differs in a field which
// changes listeners, by the table of package effect. Other resources that differ and may
// change it are causes too. If no listener drains, Drains compares one version for each
// listener.
func (c *Causes) Drains(before, after *Snapshot) (drains []Drain) {
	var comparison *snapshotPair
	byName := func(a, b *wire.Resource) int { return strings.Compare(a.Name, b.Name) }
	for old, next := range sorted.Join(before.Resources(wire.ListenerType), after.Resources(wire.ListenerType), byName) {
		if old == nil || next != nil && old.Version == next.Version {
			continue
		}
		if comparison == nil {
			comparison = &snapshotPair{c, newPlaces(before), newPlaces(after)}
		}
		drains = append(drains, Drain{Listener: old.Name, Removed: next == nil, Because: comparison.causes(old)})
	}
	return drains
}

// places finds what shapes a listener of a snapshot.
type places struct {
	*Snapshot
	byListener map[string]listenerPlace
	own, found map[string]*results.Config // by kind: of the dataplane, and of outbounds to resources
}

// listenerPlace is the place of an inbound or an outbound of a dataplane.
type listenerPlace struct {
	inbound bool
	index   int
	entry   any                  // of the dataplane
	target  resource.Destination // of an outbound to a resource
}

func newPlaces(s *Snapshot) *places {
	d := s.Dataplane
	p := &places{Snapshot: s, byListener: map[string]listenerPlace{}, own: byKind(s.basis.Load().configs)}
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		p.byListener[inboundName(inboundAddress(d, in), in.Port)] = listenerPlace{inbound: true, index: i, entry: in}
	}
	for i := range d.Outbounds {
		if o := &d.Outbounds[i]; o.Backend == nil {
			p.byListener[outboundName(cmp.Or(o.Address, resource.DefaultOutboundAddress), o.Port)] = listenerPlace{index: i, entry: o}
		}
	}
	if targets := s.basis.Load().targets; targets != nil {
		p.found = byKind(targets.configs)
		for i := range targets.outbounds {
			o := &targets.outbounds[i]
			p.byListener[outboundName(cmp.Or(o.Address, resource.DefaultOutboundAddress), o.Listens)] = listenerPlace{index: i, target: o.Destination}
		}
	}
	return p
}

func byKind(configs []*results.Config) map[string]*results.Config {
	m := make(map[string]*results.Config, len(configs))
	for _, c := range configs {
		m[c.Kind.Name] = c
	}
	return m
}

// keyedConf is a conf of a place with what selects it: a match, an item, a route.
type keyedConf struct {
	key  string
	conf resource.Conf
}

// confs returns the confs of a kind that shape a listener.
func (p *places) confs(kind, listener string) (list []keyedConf) {
	add := func(key string, e *results.Effective) {
		if e != nil {
			list = append(list, keyedConf{key, e.Conf})
		}
	}
	place, known := p.byListener[listener]
	config := p.own[kind]
	if place.target != nil {
		config = p.found[kind]
	}
	if config == nil {
		return nil
	}
	add("", config.Default)
	switch {
	case !known && config.Kind.To != nil: // a listener of the proxy itself
		if listener == outboundPassthrough {
			add("", p.basis.Load().passing[kind])
		}
	case !known:
		for _, in := range config.Inbounds {
			list = append(list, inboundConfsOf(in)...)
		}
	case place.inbound && config.Inbounds != nil:
		list = append(list, inboundConfsOf(config.Inbounds[place.index])...)
	case !place.inbound && config.Outbounds != nil:
		o := config.Outbound(place.index)
		add("", o.Effective)
		for _, route := range o.Routes {
			add(route.Route.KRI(), route.Effective)
		}
	}
	return list
}

func inboundConfsOf(in *results.InboundConfig) (list []keyedConf) {
	if in == nil {
		return nil
	}
	for i := range in.Rules {
		list = append(list, keyedConf{in.Rules[i].Match.Key(), in.Rules[i].Conf})
	}
	for _, item := range in.Unmerged {
		list = append(list, keyedConf{fmt.Sprint(item.Policy.KRI(), " ", item.Index), item.Conf})
	}
	if in.From != nil {
		for _, o := range in.From.Origins() {
			item := &o.Policy.From[o.Index]
			list = append(list, keyedConf{fmt.Sprint(item.TargetRef.Selector()), item.Conf})
		}
	}
	return list
}

// snapshotPair compares two snapshots of a dataplane.
type snapshotPair struct {
	*Causes
	before, after *places
}

// causes returns the kinds of resources that change a listener, sorted. There is at least
// one.
func (p *snapshotPair) causes(r *wire.Resource) []string {
	var because, differing []string
	if old, known := p.before.byListener[r.Name]; known {
		if _, stays := p.after.byListener[r.Name]; !stays {
			return p.takenBy(&old)
		}
	}
	part := p.before.part(r)
	for kind := range kindsOf(p.before.own, p.after.own, p.before.found, p.after.found) {
		old, next := p.before.confs(kind, r.Name), p.after.confs(kind, r.Name)
		switch {
		case slices.Equal(old, next):
		case p.changesListener(kind, part, old, next):
			because = append(because, kind)
		case effect.MayDrain(kind, part): // such as another order of rules
			differing = append(differing, kind)
		}
	}
	old, next := p.before.byListener[r.Name], p.after.byListener[r.Name]
	edited := p.edited()
	meshes := [2]*meshState{p.before.mesh.Load(), p.after.mesh.Load()}
	identified := !p.before.Identity.SameContent(p.after.Identity)
	trusts := !slices.EqualFunc(meshes[0].trusts, meshes[1].trusts, func(a, b *resource.MeshTrust) bool { return a == b || !content.Differ(a, b) })
	if p.before.Dataplane != p.after.Dataplane && content.Differ(old.entry, next.entry) {
		because = append(because, p.givenBy(&old, &next)...)
	}
	if old.target != next.target && (old.target == nil || next.target == nil || content.Differ(old.target, next.target)) {
		because = append(because, cmp.Or(old.target, next.target).Identity().ID.Kind)
	}
	if meshes[0].open != meshes[1].open || meshes[0].passthroughOff != meshes[1].passthroughOff || meshes[0].noExternal != meshes[1].noExternal {
		because = append(because, resource.MeshKind)
	}
	if (old.inbound || because == nil) && identified {
		because = append(because, resource.MeshIdentityKind)
	}
	if (old.inbound || because == nil) && trusts {
		because = append(because, "MeshTrust")
	}
	if because == nil && p.before.asked()&p.after.asked()&collectorsInput != 0 && meshes[0].collectors != meshes[1].collectors {
		because = append(because, resource.MeshOpenTelemetryBackendKind)
	}
	switch {
	case because != nil:
	case edited || differing == nil: // or the endpoints of another dataplane
		because = []string{dataplaneKind}
	default:
		because = differing
	}
	slices.Sort(because)
	return slices.Compact(because)
}

// part returns the part of the proxy that a listener is. It searches the bytes, because
// decoding a listener costs more than building it.
func (p *places) part(r *wire.Resource) effect.Area {
	place, known := p.byListener[r.Name]
	http := bytes.Contains(r.Body, []byte("envoy.filters.network.http_connection_manager"))
	switch {
	case !known:
		return effect.Proxy
	case place.inbound && http:
		return effect.HTTPInbound
	case place.inbound:
		return effect.TCPInbound
	case http:
		return effect.HTTPOutbound
	}
	return effect.TCPOutbound
}

func kindsOf(configs ...map[string]*results.Config) map[string]bool {
	kinds := map[string]bool{}
	for _, c := range configs {
		for kind := range c {
			kinds[kind] = true
		}
	}
	return kinds
}

// changesListener reports whether the confs of a kind differ in a field that changes the
// listener.
func (p *snapshotPair) changesListener(kind string, part effect.Area, before, after []keyedConf) bool {
	old, next := numberedConfs(before), numberedConfs(after)
	keys := maps.Clone(old)
	maps.Copy(keys, next)
	for key := range keys {
		for _, field := range p.differingFields(old[key], next[key]) {
			if changes, known := effect.ChangedBy(kind, field, part); changes.Drain() || !known {
				return true
			}
		}
	}
	return false
}

// numberedConfs returns confs by their keys. Equal keys are numbered.
func numberedConfs(list []keyedConf) map[string]resource.Conf {
	m := make(map[string]resource.Conf, len(list))
	for _, c := range list {
		key := c.key
		for n := 1; m[key] != nil; n++ {
			key = fmt.Sprint(c.key, "#", n)
		}
		m[key] = c.conf
	}
	return m
}

// differingFields returns the JSON pointers of the leaves in which two confs differ. A conf
// may be nil.
func (c *Causes) differingFields(before, after resource.Conf) []string {
	if before == after {
		return nil
	}
	key := [2]resource.Conf{before, after}
	if known, ok := c.fields.Load(key); ok {
		return known.([]string)
	}
	fields := differingLeaves(nil, "", content.Tree(before), content.Tree(after))
	c.fields.Store(key, fields)
	return fields
}

func differingLeaves(found []string, at string, a, b any) []string {
	if reflect.DeepEqual(a, b) {
		return found
	}
	old, next := members(a), members(b)
	if len(old)+len(next) == 0 || a != nil && b != nil && reflect.TypeOf(a) != reflect.TypeOf(b) {
		return append(found, at)
	}
	keys := maps.Clone(old)
	maps.Copy(keys, next)
	for key := range keys {
		found = differingLeaves(found, at+"/"+key, old[key], next[key])
	}
	return found
}

// members returns the members of an object, or the elements of a list by their index. Other
// values have none.
func members(value any) map[string]any {
	all := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		return value
	case []any:
		for i := range value {
			all[strconv.Itoa(i)] = value[i]
		}
	}
	return all
}
