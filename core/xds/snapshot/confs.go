package snapshot

import (
	"math/bits"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// shape contains the translators by the drafts that they shape, in the order of the
// builder's list.
type shape struct {
	cluster, endpoints, routes, outbound, inbound, chain, proxy, finish []*xds.Translator
	inbounds                                                            []*xds.Translator // of inbound or chain
	reach                                                               map[string]reach
	required                                                            map[string]func(*results.Effective) []xds.RequiredField // by kind
}

// reach is what the translators of a kind shape: routes are HTTP routes, and listeners the
// routes of TCP outbounds; byRoute are HTTP listeners, by route; finished are the messages of
// all parts.
type reach struct{ anything, inbounds, outbounds, routes, listeners, byRoute, finished bool }

func newShape(translators []*xds.Translator) shape {
	with := func(has func(*xds.Translator) bool) []*xds.Translator {
		return slices.DeleteFunc(slices.Clone(translators), func(t *xds.Translator) bool { return !has(t) })
	}
	s := shape{
		cluster:   with(func(t *xds.Translator) bool { return t.Cluster != nil }),
		endpoints: with(func(t *xds.Translator) bool { return t.Endpoints != nil }),
		routes:    with(func(t *xds.Translator) bool { return t.Routes != nil || t.Route != nil }),
		outbound:  with(func(t *xds.Translator) bool { return t.Outbound != nil }),
		inbound:   with(func(t *xds.Translator) bool { return t.Inbound != nil }),
		chain:     with(func(t *xds.Translator) bool { return t.Chain != nil }),
		proxy:     with(func(t *xds.Translator) bool { return t.Proxy != nil }),
		finish:    with(func(t *xds.Translator) bool { return t.Finish != nil }),
	}
	s.inbounds = with(func(t *xds.Translator) bool { return t.Inbound != nil || t.Chain != nil })
	s.reach, s.required = map[string]reach{}, map[string]func(*results.Effective) []xds.RequiredField{}
	for _, t := range translators {
		if t.Required != nil {
			s.required[t.Kind] = t.Required
		}
		known := s.reach[t.Kind]
		s.reach[t.Kind] = reach{
			anything:  true,
			inbounds:  known.inbounds || slices.Contains(s.inbounds, t),
			outbounds: known.outbounds || t.Cluster != nil || t.Endpoints != nil || t.Routes != nil || t.Route != nil || t.Outbound != nil,
			routes:    known.routes || slices.Contains(s.routes, t),
			listeners: known.listeners || t.Outbound != nil,
			byRoute:   known.byRoute || t.ByRoute,
			finished:  known.finished || t.Finish != nil,
		}
	}
	return s
}

// confList is the confs that shape one shared part. Equal lists are one pointer.
type confList struct {
	own    []*results.Effective // of the translators that shape the part
	routes []routeConfs         // of the route policies of the outbound
	finish finishConfs
	asks   capability.Set // that translators of the confs ask for
	lacks  capability.Set // of asks, what the client does not have
}

// routeConfs is the confs of a route policy, parallel to confList.own.
type routeConfs struct {
	policy *resource.Policy
	confs  []*results.Effective
}

// effectivesOf returns the confs of a route: of the policy that made it, or of the
// outbound.
func (c *confList) effectivesOf(policy *resource.Policy) []*results.Effective {
	for _, r := range c.routes {
		if policy != nil && r.policy.ID == policy.ID {
			return r.confs
		}
	}
	return c.own
}

// byRoute returns the confs that a translator has for routes. I is its place in the list.
func (c *confList) byRoute(i int) (list []xds.RouteConf) {
	for _, r := range c.routes {
		if r.confs[i] != c.own[i] {
			list = append(list, xds.RouteConf{Policy: r.policy, Effective: r.confs[i]})
		}
	}
	return list
}

// warnUnused reports the items for routes that no policy made: each of their rules is also
// a rule of a route with a higher priority, or has no effect.
func warnUnused(r *xds.Report, c *confList, isUsed func(*resource.Policy) bool) {
	for _, route := range c.routes {
		if isUsed(route.policy) {
			continue
		}
		for _, e := range route.confs {
			if e != nil {
				r.WarnRoute(e, "", "no route here is made by %s", route.policy.KRI())
			}
		}
	}
}

// all returns the confs of the part and of its routes, in a new slice.
func (c *confList) all() []*results.Effective {
	all := slices.Clone(c.own)
	for _, r := range c.routes {
		all = append(all, r.confs...)
	}
	return all
}

func (c *confList) hash() uint64 {
	hash := c.finish.hash(hashOf(uint64(c.lacks), c.own...))
	for _, r := range c.routes {
		hash = hashOf(hashOf(hash, r.policy), r.confs...)
	}
	return hash
}

func (c *confList) equal(o *confList) bool {
	return c.lacks == o.lacks && slices.Equal(c.own, o.own) && c.finish.equal(&o.finish) &&
		slices.EqualFunc(c.routes, o.routes, func(r, s routeConfs) bool {
			return r.policy == s.policy && slices.Equal(r.confs, s.confs)
		})
}

// finishConfs is what finishes a part.
type finishConfs struct {
	confs  []*results.Effective // of the translators with Finish
	places int                  // see [xds.Part]; 0: there are no confs
}

func (c *finishConfs) hash(before uint64) uint64 {
	return hashOf(before+uint64(c.places), c.confs...)
}

func (c *finishConfs) equal(o *finishConfs) bool {
	return c.places == o.places && slices.Equal(c.confs, o.confs)
}

// placesOf returns the number of places of a dataplane with a number of outbounds to resources,
// and possibly to what zone proxies lead to.
func placesOf(d *resource.Dataplane, targets int) int {
	places := len(d.Inbounds) + len(d.Outbounds) + targets
	if len(d.Listeners) > 0 {
		places += placesOfZoneProxy
	}
	return 1 << bits.Len(uint(max(places-1, 0)))
}

// placesOfZoneProxy is what a zone proxy counts for: it leads to all services of a zone.
const placesOfZoneProxy = 128

// dataplaneConfs are the confs of a dataplane by kind.
type dataplaneConfs struct {
	configs []*results.Config
	finish  finishConfs
	asks    capability.Set // of the translators with Finish
	last    confList       // see outbound
}

// ofKind returns the config of a kind; nil if there is none.
func (c *dataplaneConfs) ofKind(kind string) *results.Config {
	for _, config := range c.configs {
		if config.Kind.Name == kind {
			return config
		}
	}
	return nil
}

// confsOf returns the confs of a dataplane. A gRPC process has no confs of the translators
// with Finish.
func (b *Builder) confsOf(configs []*results.Config, client xds.ClientType, places int) *dataplaneConfs {
	c := &dataplaneConfs{configs: configs}
	c.finish.confs = make([]*results.Effective, len(b.shape.finish))
	for i, t := range b.shape.finish {
		if client != xds.Envoy {
			continue
		}
		if c.finish.confs[i] = c.defaultOf(t.Kind); c.finish.confs[i] != nil {
			c.finish.places = places
			c.asks |= t.Asks
		}
	}
	return c
}

// defaultOf returns the conf of a kind without arrays; nil if there is none.
func (c *dataplaneConfs) defaultOf(kind string) *results.Effective {
	if config := c.ofKind(kind); config != nil {
		return config.Default
	}
	return nil
}

func (c *dataplaneConfs) inbound(kind string, index int) xds.InboundConf {
	config := c.ofKind(kind)
	if config == nil {
		return xds.InboundConf{}
	}
	conf := xds.InboundConf{Default: config.Default, Config: config}
	if config.Inbounds != nil {
		conf.InboundConfig = config.Inbounds[index]
	}
	return conf
}

// inboundConfs is the confs that shape an inbound. Equal ones are one pointer: most
// inbounds of a mesh have one of few.
type inboundConfs struct {
	shape  []xds.InboundConf // by translator
	finish finishConfs

	// The following are made from the others, for a list that is kept.
	refers   bool // to collectors
	policies []*resource.Policy
}

func (c *inboundConfs) hash() uint64 { return c.finish.hash(hashOf(0, c.shape...)) }

func (c *inboundConfs) equal(o *inboundConfs) bool {
	return slices.Equal(c.shape, o.shape) && c.finish.equal(&o.finish)
}

// inboundConfs returns the confs that the translators get for an inbound.
func (c *dataplaneConfs) inboundConfs(index int, translators []*xds.Translator) *inboundConfs {
	list := &inboundConfs{shape: make([]xds.InboundConf, len(translators)), finish: c.finish}
	for i, t := range translators {
		in := c.inbound(t.Kind, index)
		if in.Config != nil && in.Config.Kind.To != nil { // it changes with outbounds
			in.Config = nil
		}
		list.shape[i] = in
	}
	return list
}

// complete makes what is made from the list.
func (c *inboundConfs) complete() *inboundConfs {
	c.refers = slices.ContainsFunc(c.shape, inboundRefers)
	confs, policies := c.shaping()
	c.policies = shapedBy(append(confs, c.finish.confs...), policies)
	return c
}

// shaping returns what shapes an inbound: merged confs, and the policies of others.
func (c *inboundConfs) shaping() (confs []*results.Effective, policies []*resource.Policy) {
	for _, in := range c.shape {
		confs = append(confs, in.Default)
		if in.InboundConfig == nil {
			continue
		}
		for i := range in.Rules {
			confs = append(confs, in.Rules[i].Effective)
		}
		for i := range in.Unmerged {
			policies = append(policies, in.Unmerged[i].Policy)
		}
		if in.From != nil {
			for _, o := range in.From.Origins() {
				policies = append(policies, o.Policy)
			}
		}
	}
	return confs, policies
}

// outbound returns the confs of an outbound for the given translators. The next call uses the
// list again: the pool has most lists already, and takes a copy of others.
func (c *dataplaneConfs) outbound(index int, translators []*xds.Translator) *confList {
	list, own := &c.last, slices.Grow(c.last.own[:0], len(translators))[:len(translators)]
	clear(own)
	*list = confList{own: own, finish: c.finish, asks: c.asks}
	for i, t := range translators {
		config := c.ofKind(t.Kind)
		switch {
		case config == nil:
		case config.Default != nil:
			list.own[i] = config.Default
		case config.Outbounds != nil:
			list.own[i] = config.Outbound(index).Effective
		}
		if config != nil {
			list.asks |= t.Asks
		}
	}
	return list
}

// withRoutes adds the confs of the routes of an outbound, of the translators that shape
// single routes.
func (c *dataplaneConfs) withRoutes(list *confList, index int, translators []*xds.Translator, shapes func(*xds.Translator) bool) *confList {
	for i, t := range translators {
		config := c.ofKind(t.Kind)
		if config == nil || config.Outbounds == nil || !shapes(t) {
			continue
		}
		for _, r := range config.Outbound(index).Routes {
			at := slices.IndexFunc(list.routes, func(known routeConfs) bool { return known.policy == r.Route })
			if at < 0 {
				at = len(list.routes)
				list.routes = append(list.routes, routeConfs{r.Route, slices.Clone(list.own)})
			}
			list.routes[at].confs[i] = r.Effective
		}
	}
	slices.SortFunc(list.routes, func(a, b routeConfs) int { return a.policy.ID.Compare(b.policy.ID) })
	return list
}

// makes reports whether a route policy has a part in the routes of an outbound.
func (c *dataplaneConfs) makes(route *resource.Policy, index int) bool {
	config := c.ofKind(route.Kind)
	if config == nil || config.Outbounds == nil || config.Outbound(index).Effective == nil {
		return false
	}
	return slices.ContainsFunc(config.Outbound(index).Origins, func(o results.Origin) bool { return o.Policy.ID == route.ID })
}
