package variant

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// PolicyVariants contains, as variants, the effective confs of outbounds to one
// destination by the policies of one kind. It covers all dataplanes with one inbound that
// could exist; the parameters describe such a dataplane (SPEC 12.4). It is immutable.
type PolicyVariants struct {
	Kind        *resource.Kind
	Destination Destination
	Set         *ConstraintSet
	// Contents are parallel to the variants of the set. No two are equal.
	Contents []*PolicyContent
}

// PolicyContent is the configuration of an outbound of a dataplane (SPEC 4.2, 4.3).
type PolicyContent struct {
	Conf   resource.Conf // nil if no item selects the outbound
	Routes []RouteConf   // the routes with a conf, sorted by KRI
}

// RouteConf is the conf of a route of an outbound.
type RouteConf struct {
	Route *resource.Policy
	Conf  resource.Conf
}

// Equal reports whether both contents have equal confs and the same routes. kind is the
// kind of the policies, which must have `to`.
func (c *PolicyContent) Equal(o *PolicyContent, kind *resource.Kind) bool {
	return (c.Conf == nil) == (o.Conf == nil) && (c.Conf == nil || kind.To.Conf.Equal(c.Conf, o.Conf)) &&
		slices.EqualFunc(c.Routes, o.Routes, func(a, b RouteConf) bool {
			return a.Route.ID == b.Route.ID && kind.To.Conf.Equal(a.Conf, b.Conf)
		})
}

// ContentOf returns the content of a dataplane's config for the outbound with an index.
// config is nil if no policy of the kind selects the dataplane.
func ContentOf(config *results.Config, outbound int) *PolicyContent {
	c := &PolicyContent{}
	if config == nil {
		return c
	}
	o := config.Outbound(outbound)
	if o.Effective != nil {
		c.Conf = o.Conf
	}
	for _, r := range o.Routes {
		if r.Effective != nil {
			c.Routes = append(c.Routes, RouteConf{r.Route, r.Conf})
		}
	}
	return c
}

// Choose returns the content for the parameters. There is one for any parameters.
func (v *PolicyVariants) Choose(p Parameters) *PolicyContent {
	if chosen, ok := v.Set.Choose(p); ok {
		return v.Contents[chosen]
	}
	return &PolicyContent{} // v is the zero PolicyVariants
}

// contentProduct combines the variants of an outbound and of its routes. Place 0 of a
// tuple is the item that sets the conf of the outbound; each further place is for a
// route.
type contentProduct struct {
	*tuples
	confs []resource.Conf // parallel to items
}

// add adds the confs of a set's variants, for parameters that a predicate accepts. A nil
// conf needs no item, because a tuple without an item has a nil conf.
func (p *contentProduct) add(set *ConstraintSet, confs []resource.Conf, accepts partition.Predicate, at int) {
	for i, c := range confs {
		if c != nil {
			p.tuples.add(partition.And(accepts, set.variants[i].predicate), at)
			p.confs = append(p.confs, c)
		}
	}
}

// content returns the content that a State represents.
func (p *contentProduct) content(state int, routes []*resource.Policy) *PolicyContent {
	c := &PolicyContent{}
	for at, item := range p.list[state] {
		switch {
		case item == noItem:
		case at == 0:
			c.Conf = p.confs[item]
		default:
			c.Routes = append(c.Routes, RouteConf{routes[at-1], p.confs[item]})
		}
	}
	return c
}

// compareKRI orders routes like effective configurations.
func compareKRI(a, b *resource.Policy) int { return cmp.Compare(a.KRI(), b.KRI()) }
