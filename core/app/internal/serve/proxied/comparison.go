package proxied

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
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

// drains returns the listeners that drain (SPEC 11.8), given a diff of all kinds. It builds
// both sides of the dataplanes that may have other listeners.
func (c *Comparison) drains(ctx context.Context, of *diff.Diff, translators []xds.Translator) ([]diff.Drain, error) {
	var states [2]*snapshot.State
	for i, s := range []Side{c.Before, c.After} {
		states[i] = snapshot.NewBuilder(translators, snapshot.Options{Scope: s.Scope}).At(s.View)
	}
	pairs := c.pairs(of)
	found := make([][]diff.Drain, len(pairs))
	var causes snapshot.Causes
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range pairs {
		group.Go(func() error {
			if ctx.Err() == nil {
				p := &pairs[i]
				for _, d := range causes.Between(states[0], states[1], p.before, p.after) {
					found[i] = append(found[i], diff.Drain{Dataplane: p.kri, Name: p.name, Pos: p.after.Pos, Listener: d.Listener, Because: d.Because, Removed: d.Removed})
				}
			}
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}

// dataplanePair is a dataplane that both sides have.
type dataplanePair struct {
	before, after *resource.Dataplane
	kri, name     string
	changes       bool // a policy changes its configuration, or another permission selects it
}

// pairs returns the dataplanes that may have other listeners.
func (c *Comparison) pairs(of *diff.Diff) []dataplanePair {
	changed := map[string]bool{}
	for i := range of.Groups {
		for _, kri := range of.Groups[i].Dataplanes {
			changed[kri] = true
		}
	}
	var all []dataplanePair
	// A dataplane also depends on the endpoints of others.
	onOthers := c.objectsDiffer() || len(of.Added)+len(of.Removed) > 0
	permissions := c.permissionsDiffer()
	byID := func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) }
	before, after := c.Before.View.Identities(c.Mesh), c.After.View.Identities(c.Mesh)
	for old, next := range sorted.Join(c.Before.View.Dataplanes(c.Mesh), c.After.View.Dataplanes(c.Mesh), byID) {
		if old == nil || next == nil {
			continue
		}
		p := dataplanePair{before: old, after: next, kri: inspect.DataplaneKRI(c.After.View, next), name: inspect.QualifiedName(next)}
		// A permission of a TCP inbound has the name of its policy in the listener.
		p.changes = changed[p.kri] || permissions && c.permissionsOfDiffer(&p)
		if !onOthers {
			a, _ := before.IdentityOf(old)
			b, _ := after.IdentityOf(next)
			onOthers = old != next && content.Differ(old, next) || !a.SameContent(b)
		}
		all = append(all, p)
	}
	if !onOthers {
		all = slices.DeleteFunc(all, func(p dataplanePair) bool { return !p.changes })
	}
	return all
}

// objectsDiffer reports whether a resource of the mesh differs, except policies, dataplanes
// and identities.
func (c *Comparison) objectsDiffer() bool {
	byID := func(a, b resource.Object) int { return a.Identity().ID.Compare(b.Identity().ID) }
	for _, mesh := range []string{"", c.Mesh} {
		for old, next := range sorted.Join(c.Before.View.Objects(mesh), c.After.View.Objects(mesh), byID) {
			if isIdentity(old) || isIdentity(next) {
				continue
			}
			if old == nil || next == nil || content.Differ(old, next) {
				return true
			}
		}
	}
	a, b := c.Before.View.Mesh(c.Mesh), c.After.View.Mesh(c.Mesh)
	return a != b && content.Differ(a, b)
}

func isIdentity(o resource.Object) bool {
	_, is := o.(*resource.MeshIdentity)
	return is
}

// permissionsDiffer reports whether a MeshTrafficPermission differs, by its name or content.
func (c *Comparison) permissionsDiffer() bool {
	of := func(s Side) []*resource.Policy {
		return slices.DeleteFunc(slices.Clone(s.View.Policies(c.Mesh)), func(p *resource.Policy) bool { return p.Type.Name != permission.KindName })
	}
	return c.Before.Scope != c.After.Scope || !slices.EqualFunc(of(c.Before), of(c.After), isSamePolicy)
}

// permissionsOfDiffer reports whether other permissions may select a dataplane, by their names
// or content. An egress also has the permissions of its listeners.
func (c *Comparison) permissionsOfDiffer(p *dataplanePair) bool {
	if slices.ContainsFunc(p.after.Listeners, func(l resource.Listener) bool { return l.Egress }) {
		return true
	}
	of := func(s Side, d *resource.Dataplane) []*resource.Policy {
		var selecting []*resource.Policy
		for _, config := range inspect.ConfigsOf(s.View, d, permission.KindName, s.Scope) {
			for _, selected := range config.Matched.All() {
				selecting = append(selecting, selected.Policy)
			}
		}
		return selecting
	}
	return !slices.EqualFunc(of(c.Before, p.before), of(c.After, p.after), isSamePolicy)
}

func isSamePolicy(a, b *resource.Policy) bool { return a == b || a.ID == b.ID && !content.Differ(a, b) }
