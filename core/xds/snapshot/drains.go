package snapshot

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/inspect/diff"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Side is one of the two configurations of a [Comparison].
type Side struct {
	View  *core.View
	Scope core.Scope
}

// A Comparison is the question of a diff: how one mesh changes from one side to another.
type Comparison struct {
	Before, After Side
	Mesh          string
}

// Diff returns the diff with its drains, for Envoys that the translators configure. It
// returns the errors of [diff.New], or the cause of the context if that ends.
func (c *Comparison) Diff(ctx context.Context, options inspect.Options, translators []xds.Translator) (*diff.Diff, error) {
	answer, errLimit := c.withoutDrains(options)
	if answer == nil {
		return nil, errLimit
	}
	all := answer
	if options.Kind != "" {
		ofAll := options
		ofAll.Kind = ""
		var err error
		if all, err = c.withoutDrains(ofAll); all == nil {
			return nil, err
		}
	}
	drains, err := c.drains(ctx, all, translators)
	if err != nil {
		return nil, err
	}
	answer.Drains = slices.DeleteFunc(drains, func(d diff.Drain) bool { return options.Kind != "" && !slices.Contains(d.Because, options.Kind) })
	return answer, errLimit
}

func (c *Comparison) withoutDrains(options inspect.Options) (*diff.Diff, error) {
	if c.Before.View == c.After.View {
		return diff.NewShadow(c.Before.View, c.Mesh, options)
	}
	options.Shadow = c.After.Scope == core.Shadow
	return diff.New(c.Before.View, c.After.View, c.Mesh, options)
}

// drains returns the listeners that drain (SPEC 11.8), given a diff of all kinds. A listener
// drains if its bytes differ. The causes are found by building both sides again without the
// translators of the kinds that changed: there is no table of fields that could be out of
// date.
func (c *Comparison) drains(ctx context.Context, all *diff.Diff, translators []xds.Translator) ([]diff.Drain, error) {
	d := &drains{Comparison: c, translators: translators, sides: map[string]*[2]*State{}}
	d.objects = d.changedObjects()
	pairs := d.pairs(all)
	found := make([][]diff.Drain, len(pairs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range pairs {
		group.Go(func() error {
			if ctx.Err() == nil {
				found[i] = d.of(&pairs[i])
			}
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// drains compares the listeners of two sides.
type drains struct {
	*Comparison
	translators []xds.Translator
	objects     []string // kinds of which an object differs, except policies

	mu    sync.Mutex
	sides map[string]*[2]*State // by the kinds whose translators are left out
}

// dataplanePair is a dataplane that both sides have.
type dataplanePair struct {
	before, after *resource.Dataplane
	kri, name     string
	edited        bool     // the dataplanes differ
	identified    bool     // their identities differ
	kinds         []string // policy kinds that change its configuration, sorted
}

// pairs returns the dataplanes that may have other listeners.
func (d *drains) pairs(changed *diff.Diff) []dataplanePair {
	changes := map[string][]diff.Change{}
	for i := range changed.Groups {
		for _, kri := range changed.Groups[i].Dataplanes {
			changes[kri] = changed.Groups[i].Changes
		}
	}
	var all []dataplanePair
	// A dataplane also depends on the endpoints of others, and a permission of a TCP inbound
	// has the name of its policy in the listener.
	onOthers := len(d.objects) > 0 || len(changed.Added)+len(changed.Removed) > 0 || d.permissionsDiffer()
	byID := func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) }
	for old, next := range sorted.Join(d.Before.View.Dataplanes(d.Mesh), d.After.View.Dataplanes(d.Mesh), byID) {
		if old == nil || next == nil {
			continue
		}
		p := dataplanePair{before: old, after: next, kri: inspect.DataplaneKRI(d.After.View, next), name: inspect.QualifiedName(next), edited: differ(old, next)}
		for _, change := range changes[p.kri] {
			p.kinds = append(p.kinds, change.Kind)
		}
		p.kinds = slices.Compact(slices.Sorted(slices.Values(p.kinds)))
		p.identified = d.identitiesDiffer(&p)
		onOthers = onOthers || p.edited || p.identified
		all = append(all, p)
	}
	if !onOthers {
		all = slices.DeleteFunc(all, func(p dataplanePair) bool { return p.kinds == nil })
	}
	return all
}

// differ reports whether two versions of a resource have different content.
func differ(a, b any) bool {
	x, errX := resource.Marshal(a)
	y, errY := resource.Marshal(b)
	return errX != nil || errY != nil || !bytes.Equal(x, y)
}

// changedObjects returns the kinds of the objects that differ, sorted.
func (d *drains) changedObjects() []string {
	var kinds []string
	byID := func(a, b resource.Object) int { return a.Identity().ID.Compare(b.Identity().ID) }
	for _, mesh := range []string{"", d.Mesh} {
		for old, next := range sorted.Join(d.Before.View.Objects(mesh), d.After.View.Objects(mesh), byID) {
			switch {
			case old == nil:
				kinds = append(kinds, next.Identity().ID.Kind)
			case next == nil || differ(old, next):
				kinds = append(kinds, old.Identity().ID.Kind)
			}
		}
	}
	if a, b := d.Before.View.Mesh(d.Mesh), d.After.View.Mesh(d.Mesh); a != b && differ(a, b) {
		kinds = append(kinds, "Mesh")
	}
	if !slices.EqualFunc(d.Before.View.Trusts(d.Mesh), d.After.View.Trusts(d.Mesh), func(a, b *resource.MeshTrust) bool { return a == b || !differ(a, b) }) {
		kinds = append(kinds, "MeshTrust")
	}
	return slices.Compact(slices.Sorted(slices.Values(kinds)))
}

// identitiesDiffer reports whether a dataplane has another identity.
func (d *drains) identitiesDiffer(p *dataplanePair) bool {
	before, _ := d.Before.View.Identities(d.Mesh).Of(p.before)
	after, _ := d.After.View.Identities(d.Mesh).Of(p.after)
	if before == nil || after == nil {
		return before != after
	}
	return before.SPIFFEID != after.SPIFFEID || before.Source != after.Source && differ(before.Source, after.Source)
}

// permissionsDiffer reports whether a MeshTrafficPermission differs, by its name or content.
func (d *drains) permissionsDiffer() bool {
	of := func(s Side) []*resource.Policy {
		return slices.DeleteFunc(slices.Clone(s.View.Policies(d.Mesh)), func(p *resource.Policy) bool { return p.Type.Name != permission.KindName })
	}
	return !slices.EqualFunc(of(d.Before), of(d.After), func(a, b *resource.Policy) bool { return a == b || a.ID == b.ID && !differ(a, b) })
}

// without returns both sides without the translators of some kinds, which are sorted.
func (d *drains) without(kinds []string) (before, after *State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := strings.Join(kinds, " ")
	known := d.sides[key]
	if known == nil {
		translators := slices.DeleteFunc(slices.Clone(d.translators), func(t xds.Translator) bool { return slices.Contains(kinds, t.Kind) })
		known = &[2]*State{}
		for i, s := range []Side{d.Before, d.After} {
			known[i] = NewBuilder(translators, Options{Scope: s.Scope}).At(s.View)
		}
		d.sides[key] = known
	}
	return known[0], known[1]
}

// listeners returns the versions of the listeners of a dataplane by name. The snapshot is
// not kept.
func listeners(s *State, dataplane *resource.Dataplane) map[string]string {
	snapshot := s.build(dataplane, s.view.Configs(dataplane, s.builder.scope), xds.Envoy, nil)
	versions := map[string]string{}
	for _, r := range snapshot.Resources(wire.ListenerType) {
		versions[r.Name] = r.Version
	}
	return versions
}

// versions are those of the listeners of a dataplane on both sides.
type versions struct{ before, after map[string]string }

func (d *drains) versions(p *dataplanePair, without []string) versions {
	before, after := d.without(without)
	return versions{listeners(before, p.before), listeners(after, p.after)}
}

func (v versions) differ(listener string) bool { return v.before[listener] != v.after[listener] }

// of returns the listeners of a dataplane that drain.
func (d *drains) of(p *dataplanePair) []diff.Drain {
	full := d.versions(p, nil)
	var names []string
	for name := range full.before {
		if full.differ(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	kinds := p.kinds
	others := d.otherCauses(p)
	if kinds == nil && others == nil {
		for _, t := range d.translators { // such as a policy that has another name
			kinds = append(kinds, t.Kind)
		}
		kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	}
	base := d.versions(p, kinds)
	alone := map[string]versions{}
	for _, kind := range kinds {
		alone[kind] = d.versions(p, slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == kind }))
	}
	found := make([]diff.Drain, len(names))
	for i, name := range names {
		_, stays := full.after[name]
		drain := diff.Drain{Dataplane: p.kri, Listener: name, Removed: !stays, Name: p.name}
		for _, kind := range kinds {
			if with := alone[kind]; base.differ(name) && (with.before[name] != base.before[name] || with.after[name] != base.after[name]) ||
				!base.differ(name) && with.differ(name) {
				drain.Because = append(drain.Because, kind)
			}
		}
		switch {
		case base.differ(name) && others != nil:
			drain.Because = append(others[:len(others):len(others)], drain.Because...)
		case drain.Because == nil && base.differ(name):
			drain.Because = []string{dataplaneKind} // other endpoints
		case drain.Because == nil: // several kinds together
			drain.Because = kinds
		}
		found[i] = drain
	}
	return found
}

const dataplaneKind = "Dataplane"

// otherCauses returns what differs for a dataplane, except policies: the kinds of resources,
// sorted; nil if nothing does.
func (d *drains) otherCauses(p *dataplanePair) []string {
	var causes []string
	if p.edited {
		causes = append(causes, dataplaneKind)
	}
	if p.identified {
		causes = append(causes, resource.MeshIdentityKind)
	}
	return slices.Sorted(slices.Values(append(causes, d.objects...)))
}
