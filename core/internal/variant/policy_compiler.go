package variant

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A PolicyCompiler contains the policies of one kind and mesh, for the variants of any number
// of destinations. [PolicyCompiler.Compilation] returns the inputs for a destination, and
// [PolicyCompiler.Update] follows a later view. Only one goroutine may use it at a time.
//
// A policy with the shadow label (SPEC 8.3) contributes for the parameters of the
// dataplanes on which a placement enforces it.
type PolicyCompiler struct {
	kind        *resource.Kind
	mesh        string
	order       results.Order
	semantics   semantics.Semantics
	all         []*resource.Policy // the contributing policies of the last view, by identity
	policies    []*resource.Policy // of the kind, lowest priority first
	routes      []*resource.Policy // by KRI; empty for a kind of routes
	predicates  map[*resource.Policy]partition.Predicate
	enforcement *enforce.Hub            // of the last view
	compiled    map[string]*Compilation // the latest of each destination that Update has not returned since
}

// MaxPolicyVariants limits the variants of a destination (SPEC 9.4).
const MaxPolicyVariants = 4096

// NewPolicyCompiler returns a compiler for the enforced policies of a kind in a mesh of
// the view. The kind must have `to`, or no arrays; if it has none, all destinations have
// the same conf.
func NewPolicyCompiler(view *core.View, mesh string, kind *resource.Kind) *PolicyCompiler {
	c := &PolicyCompiler{
		kind: kind, mesh: mesh, order: view.Options().Order, semantics: view.Semantics(),
		predicates: make(map[*resource.Policy]partition.Predicate),
		compiled:   make(map[string]*Compilation),
	}
	c.Update(view)
	return c
}

// Compilation returns the inputs for the variants of a destination. It does not compile.
// Update returns the destination when its inputs change.
func (c *PolicyCompiler) Compilation(d Destination) *Compilation {
	own := &Compilation{kind: c.kind, semantics: c.semantics, destination: d, predicates: make(map[*resource.Policy]partition.Predicate)}
	for _, r := range c.routes {
		if r.RoutesOutbound(d.Tags) {
			own.routes = append(own.routes, r)
			own.predicates[r] = c.predicates[r]
		}
	}
	for _, p := range c.policies {
		if own.dependsOn(p) {
			own.policies = append(own.policies, p)
			own.predicates[p] = c.predicates[p]
		}
	}
	c.compiled[d.Name()] = own
	return own
}

// Update follows a later view of the same engine. It returns the destinations whose
// latest Compilation an added, removed or changed policy or route makes outdated, each
// once, sorted by name.
func (c *PolicyCompiler) Update(view *core.View) []Destination {
	placed := c.enforcement != view.Enforcement()
	c.enforcement = view.Enforcement()
	changed := c.replace(view.Policies(c.mesh), placed)
	var outdated []Destination
	for name, own := range c.compiled {
		if slices.ContainsFunc(changed, own.dependsOn) {
			outdated = append(outdated, own.destination)
			delete(c.compiled, name)
		}
	}
	slices.SortFunc(outdated, func(a, b Destination) int { return strings.Compare(a.Name(), b.Name()) })
	return outdated
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
