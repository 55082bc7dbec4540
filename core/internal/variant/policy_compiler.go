package variant

import (
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A PolicyCompiler compiles the policies of one kind and mesh for any number of
// destinations, and keeps the results up to date. [PolicyCompiler.Variants] compiles a
// destination, [PolicyCompiler.Update] compiles affected destinations again after a
// change, and [PolicyCompiler.Forget] drops a destination. Only one goroutine may use it
// at a time; its results are immutable.
//
// A policy with the shadow label (SPEC 8.3) contributes for the parameters of the
// dataplanes on which a placement enforces it.
type PolicyCompiler struct {
	kind         *resource.Kind
	mesh         string
	order        results.Order
	semantics    semantics.Semantics
	all          []*resource.Policy                       // the contributing policies of the last view, by identity
	policies     []*resource.Policy                       // of the kind, lowest priority first
	routes       []*resource.Policy                       // by KRI; empty for a kind of routes
	predicates   map[*resource.Policy]partition.Predicate // see destinationCompiler
	enforcement  *enforce.State                           // of the last view
	destinations map[string]*compiled
}

// MaxPolicyVariants limits the variants of a destination (SPEC 9.4).
const MaxPolicyVariants = 4096

// compiled is a destination with its last result.
type compiled struct {
	destination Destination
	lazy        bool               // Update only reports it; see Compilation
	routes      []*resource.Policy // the routes with a `to` for the destination
	variants    *PolicyVariants
	err         error
}

// NewPolicyCompiler returns a compiler for the enforced policies of a kind in a mesh of
// the view. The kind must have `to`, or no arrays; if it has none, all destinations have
// the same conf.
func NewPolicyCompiler(view *core.View, mesh string, kind *resource.Kind) *PolicyCompiler {
	c := &PolicyCompiler{
		kind: kind, mesh: mesh, order: view.Order(), semantics: view.Semantics(),
		predicates:   make(map[*resource.Policy]partition.Predicate),
		destinations: make(map[string]*compiled),
	}
	c.Update(view)
	return c
}

// Variants returns the variants for a destination. It compiles them at the first call
// and keeps them up to date from then on. The error is a [*partition.LimitError], or
// wraps [ErrConstraint].
func (c *PolicyCompiler) Variants(d Destination) (*PolicyVariants, error) {
	name := d.Name()
	known := c.destinations[name]
	if known == nil || known.lazy {
		known = &compiled{destination: d}
		c.destinations[name] = known
		c.compile(known)
	}
	return known.variants, known.err
}

// Compilation returns the inputs for the variants of a destination. It does not compile.
// From then on, Update returns the destination whenever it must be compiled again.
func (c *PolicyCompiler) Compilation(d Destination) *Compilation {
	name := d.Name()
	known := c.destinations[name]
	if known == nil {
		known = &compiled{destination: d, lazy: true}
		c.destinations[name] = known
	}
	c.findRoutes(known)
	own := &Compilation{kind: c.kind, semantics: c.semantics, destination: d, routes: known.routes, predicates: make(map[*resource.Policy]partition.Predicate)}
	for _, p := range c.policies {
		if c.reaches(p, known) {
			own.policies = append(own.policies, p)
			own.predicates[p] = c.predicates[p]
		}
	}
	for _, r := range known.routes {
		own.predicates[r] = c.predicates[r]
	}
	return own
}

// Forget drops the variants for a destination; they are no longer kept up to date.
func (c *PolicyCompiler) Forget(d Destination) { delete(c.destinations, d.Name()) }

// Update follows a later view of the same engine. It returns the destinations that an
// added, removed or changed policy or route reaches, sorted by name. It has compiled them
// again, or the caller must (see Compilation).
func (c *PolicyCompiler) Update(view *core.View) []Destination {
	placed := c.enforcement != view.Enforcement()
	c.enforcement = view.Enforcement()
	changed := c.replace(view.Policies(c.mesh), placed)
	var again []Destination
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, d := range c.destinations {
		if slices.ContainsFunc(changed, func(p *resource.Policy) bool { return c.reaches(p, d) }) {
			if !d.lazy {
				group.Go(func() error { c.compile(d); return nil })
			}
			again = append(again, d.destination)
		}
	}
	_ = group.Wait() // errors are stored with the destinations
	slices.SortFunc(again, func(a, b Destination) int { return strings.Compare(a.Name(), b.Name()) })
	return again
}

// replace changes to the policies of a view, sorted by identity, and returns the
// policies that were added or removed; a changed policy is both. If placed is not set,
// no placement enforces a policy for different parameters than before.
func (c *PolicyCompiler) replace(all []*resource.Policy, placed bool) []*resource.Policy {
	all = slices.DeleteFunc(all, func(p *resource.Policy) bool { return !c.takesPart(p) })
	var changed []*resource.Policy
	byID := func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) }
	for before, after := range sorted.Join(c.all, all, byID) {
		if before == after && !(placed && c.overrideChanged(after)) {
			continue
		}
		if before != nil {
			c.remove(before)
			changed = append(changed, before)
		}
		if after != nil {
			c.insert(after)
			changed = append(changed, after)
		}
	}
	c.all = all
	return changed
}

func (c *PolicyCompiler) takesPart(p *resource.Policy) bool {
	return (p.Kind == c.kind.Name || p.IsRoute() && c.kind.To != nil && !c.kind.IsRoute()) &&
		(!p.Shadow() || len(c.enforcement.Overrides(&p.ID)) > 0) && c.semantics.AppliesToTags(p)
}

// overrideChanged reports whether a policy is now enforced for different parameters than
// when it was inserted.
func (c *PolicyCompiler) overrideChanged(p *resource.Policy) bool {
	return p.Shadow() && c.predicates[p].String() != enforcedFor(c.semantics, p, c.enforcement).String()
}

// list returns the list to which a policy belongs, and the order of the list.
func (c *PolicyCompiler) list(p *resource.Policy) (*[]*resource.Policy, func(a, b *resource.Policy) int) {
	if p.Kind == c.kind.Name {
		return &c.policies, c.order
	}
	return &c.routes, compareKRI
}

func (c *PolicyCompiler) insert(p *resource.Policy) {
	c.predicates[p] = enforcedFor(c.semantics, p, c.enforcement)
	list, order := c.list(p)
	at, _ := slices.BinarySearchFunc(*list, p, order)
	*list = slices.Insert(*list, at, p)
}

func (c *PolicyCompiler) remove(p *resource.Policy) {
	list, _ := c.list(p)
	at := slices.Index(*list, p)
	*list = slices.Delete(*list, at, at+1)
	delete(c.predicates, p)
}

// reaches reports whether a policy contributes to the content of a destination, before or
// after a change.
func (c *PolicyCompiler) reaches(p *resource.Policy, d *compiled) bool {
	tags := d.destination.Tags
	if c.kind.Default != nil {
		return p.Kind == c.kind.Name
	}
	if p.RoutesOutbound(tags) { // for a policy of the kind: whether any item selects the outbound
		return true
	}
	return slices.ContainsFunc(p.To, func(item resource.Item) bool {
		return slices.ContainsFunc(d.routes, func(r *resource.Policy) bool { return items.Applies(c.semantics, p, &item.TargetRef, tags, r) })
	})
}

// compile compiles one destination. It only reads c, because several destinations are
// compiled concurrently.
func (c *PolicyCompiler) compile(d *compiled) {
	c.findRoutes(d)
	own := &Compilation{c.kind, c.semantics, d.destination, c.policies, d.routes, c.predicates}
	d.variants, d.err = own.Compile(MaxPolicyVariants)
}

// findRoutes finds the routes that have a `to` for a destination.
func (c *PolicyCompiler) findRoutes(d *compiled) {
	d.routes = slices.DeleteFunc(slices.Clone(c.routes), func(r *resource.Policy) bool { return !r.RoutesOutbound(d.destination.Tags) })
}
