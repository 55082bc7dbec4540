package snapshot

import (
	"slices"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// finder finds the destinations that are resources to which a draft refers.
type finder struct {
	set       *destinations.Directory
	outbounds []destinations.Outbound // to what was found, each once
}

// Find implements [xds.Finder].
func (f *finder) Find(route *resource.Policy, ref *resource.BackendRef) (cluster string, external, ok bool) {
	o, ok := f.set.Backend(route, ref)
	if !ok {
		return "", false, false
	}
	if !slices.Contains(f.outbounds, o) {
		f.outbounds = append(f.outbounds, o)
	}
	_, external = o.Destination.(*resource.MeshExternalService)
	return o.Destination.KRI(o.Port.SectionName()), external, true
}

// FindsTags implements [xds.Finder].
func (f *finder) FindsTags() bool { return f.set == nil || f.set.BackendsHaveTags() }

// referred returns the destinations of the mesh if a conf may refer to some of them, or if
// backends have no tags, else nil. Translators are parallel to the confs.
func (sb *snapshotBuilder) referred(confs *confList, translators []*xds.Translator) *destinations.Directory {
	for i, t := range translators {
		if e := confs.own[i]; t.Refers != nil && e != nil && (t.Refers(e.Conf) || !sb.semantics.SelectsByTags()) {
			return sb.in.destinations()
		}
	}
	return nil
}

// addFound adds destinations that only routes refer to, with the confs of an outbound to
// them.
func (sb *snapshotBuilder) addFound() {
	var outbounds []destinations.Outbound
	for _, o := range sb.found {
		if !sb.reached[sb.in.target(&o)] && !slices.Contains(outbounds, o) {
			outbounds = append(outbounds, o)
		}
	}
	if len(outbounds) == 0 {
		return
	}
	sb.basis.found = sb.in.foundConfs(sb.basis.configs, outbounds)
	confs := sb.confsOf(sb.basis.found.configs, sb.client.Type, sb.places)
	for i := range outbounds {
		d := sb.in.target(&outbounds[i])
		sb.reach(d, sb.in.endpoints(d), confs, i)
	}
}
