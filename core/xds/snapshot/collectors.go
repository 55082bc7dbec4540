package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A part whose confs refer to collectors has the collectors of its mesh as an input. All
// other parts have nil in its place, so a change of a collector builds none of them again.

// collectorsOf returns the collectors of the mesh if one of the confs of a shared part
// refers to some of them, else nil.
func (sb *snapshotBuilder) collectorsOf(confs *confList) *collector.Directory {
	ofRoute := func(r routeConfs) bool { return refers(r.confs) }
	return sb.collectors(refers(confs.own) || slices.ContainsFunc(confs.routes, ofRoute))
}

// refers reports whether one of several confs, which may be nil, refers to a collector.
func refers(confs []*results.Effective) bool {
	return slices.ContainsFunc(confs, func(e *results.Effective) bool { return e != nil && conf.RefersToCollector(e.Conf) })
}

// collectors returns the collectors of the mesh for a part that refers to some of them, and
// nil for any other part.
func (sb *snapshotBuilder) collectors(refers bool) *collector.Directory {
	if !refers {
		return nil
	}
	return sb.in.collectors()
}

// inboundRefers reports whether one of the confs of a kind for an inbound refers to a
// collector.
func inboundRefers(c xds.InboundConf) bool {
	if refers([]*results.Effective{c.Default}) {
		return true
	}
	if c.InboundConfig == nil {
		return false
	}
	return slices.ContainsFunc(c.Rules, func(r results.InboundRule) bool { return refers([]*results.Effective{r.Effective}) }) ||
		c.From != nil && slices.ContainsFunc(c.From.Origins(), func(o results.Origin) bool {
			return conf.RefersToCollector(o.Policy.From[o.Index].Conf)
		})
}
