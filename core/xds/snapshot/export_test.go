package snapshot

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Builds returns how many resources were marshalled so far, and how many of them had a
// content that no resource in use had.
func (b *Builder) Builds() (marshalled, made int64) {
	return b.resources.builds.Load(), b.resources.made.Load()
}

// HasMany reports whether a resource that was located has more variants than are compiled.
func (s *State) HasMany(t wire.Type, name string) bool {
	mesh, _, _ := strings.Cut(name, "/")
	known, _ := s.builder.locators.Load(locatorKey{mesh, xds.Client{}})
	l, _ := known.(*locator).find(s, name)
	return l.many[t]
}

// Forget removes the snapshots of a dataplane, so that the next one is built anew.
func (b *Builder) Forget(id resource.ID) { b.forget(id) }

// LimitVariants makes the builder compile no more variants of a name and no more tuples, so
// that small meshes have destinations with many.
func (b *Builder) LimitVariants(variants, tuples int) { b.limits = variantLimits{variants, tuples} }

// EgressConfs returns, by the identity and the section of an external service and by kind, the confs of
// `to` that its cluster has at the egresses of a dataplane.
func (s *State) EgressConfs(d *resource.Dataplane) map[string]map[string]*results.Effective {
	sb := s.newSnapshot(d, s.view.Configs(d, s.builder.scope), xds.Client{})
	sb.snapshot.zone = &zoneReads{exposed: sb.in.exposures()}
	e, confs := sb.egressConfs(), map[string]map[string]*results.Effective{}
	for i, to := range e.destinations {
		byKind := map[string]*results.Effective{}
		for at, effective := range e.confs.outbound(i, e.shapes).own {
			if effective != nil {
				byKind[e.shapes[at].Kind] = effective
			}
		}
		confs[fmt.Sprint(to.target.object.Identity().ID, " ", to.target.port.SectionName())] = byKind
	}
	return confs
}
