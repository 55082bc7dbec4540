package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// targetConfs is the confs of outbounds to destinations that are resources. Dataplanes
// with the same configs and the same outbounds share it.
type targetConfs struct {
	outbounds []destinations.Outbound
	configs   []*results.Config // as the dataplane's, with Outbounds that are parallel to outbounds
	kept      []*mergedConf
}

// targetsKey is what a targetConfs depends on: two slices, by the first element and the
// length.
type targetsKey struct {
	configs   **results.Config
	outbounds *destinations.Outbound
	of, to    int
}

// targetConfs returns the confs of the outbounds of a dataplane to resources, which are
// not empty.
func (b *Builder) targetConfs(view *core.View, d *resource.Dataplane, configs []*results.Config, outbounds []destinations.Outbound) *targetConfs {
	key := targetsKey{outbounds: &outbounds[0], of: len(configs), to: len(outbounds)}
	if len(configs) > 0 {
		key.configs = &configs[0]
	}
	return b.targets.Get(key, func() *targetConfs {
		t := &targetConfs{outbounds: outbounds}
		for _, config := range configs {
			next := *config
			next.Outbounds = view.DestinationConfs(d, config.Kind.Name, b.scope).All(outbounds)
			for i := range next.Outbounds {
				o := &next.Outbounds[i]
				o.Effective = t.keep(b, config.Kind, o.Effective)
				o.Routes = slices.Clone(o.Routes)
				for j := range o.Routes {
					o.Routes[j].Effective = t.keep(b, config.Kind, o.Routes[j].Effective)
				}
			}
			t.configs = append(t.configs, &next)
		}
		return t
	})
}

// mergedConf is a merged conf of a kind. It is determined by its origins and their order.
type mergedConf struct {
	kind *resource.Kind
	*results.Effective
}

func (c *mergedConf) hash() uint64 { return hashOf(hashOf(0, c.kind), c.Origins...) }

func (c *mergedConf) equal(o *mergedConf) bool {
	return c.kind == o.kind && slices.Equal(c.Origins, o.Origins)
}

// keep returns the one pointer for a merged conf, which may be nil, and keeps it.
// Dataplanes with the same conf then share parts.
func (t *targetConfs) keep(b *Builder, kind *resource.Kind, e *results.Effective) *results.Effective {
	if e == nil {
		return nil
	}
	c := &mergedConf{kind, e}
	c = b.merged.get(c, func() *mergedConf { return c })
	t.kept = append(t.kept, c)
	return c.Effective
}

// sameOutbounds reports whether two lists lead from the same addresses to the same ports.
func sameOutbounds(a, b []destinations.Outbound) bool {
	return same(a, b) || slices.EqualFunc(a, b, func(x, y destinations.Outbound) bool {
		return x.Destination == y.Destination && x.Port == y.Port && x.Section == y.Section && x.Address == y.Address && x.Listens == y.Listens
	})
}

// list returns the outbounds; t may be nil.
func (t *targetConfs) list() []destinations.Outbound {
	if t == nil {
		return nil
	}
	return t.outbounds
}
