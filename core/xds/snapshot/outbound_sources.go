package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// outboundSources is what gives transparent proxies outbounds that their documents do not
// list (SPEC 17.3).
type outboundSources struct {
	mode    specs.MeshServicesMode
	virtual []*resource.VirtualAddresses // outbounds of service tags
}

func (o *outboundSources) equal(other *outboundSources) bool {
	return o.mode == other.mode && slices.Equal(o.virtual, other.virtual)
}

// findSources sets the sources of outbounds. Old is an earlier state of the mesh in the view
// was; both may be nil.
func (m *meshState) findSources(view, was *core.View, mesh string, old *meshState) {
	m.given.mode = view.Mesh(mesh).ServicesMode()
	if old != nil && same(was.Objects(mesh), view.Objects(mesh)) {
		m.given.virtual = old.given.virtual
		return
	}
	m.given.virtual = resource.ObjectsOf[*resource.VirtualAddresses](view.Objects(mesh))
}

// edited reports whether the documents of the dataplane differ.
func (p *snapshotPair) edited() bool {
	before, after := p.before.Dataplane.Declared(), p.after.Dataplane.Declared()
	return before != after && content.Differ(before, after)
}

// takenBy returns the kinds of resources that cause the removal of a listener.
func (p *snapshotPair) takenBy(old *listenerPlace) []string {
	if old.target == nil {
		return p.givenBy(old, nil)
	}
	kind := old.target.Identity().ID.Kind
	for _, d := range p.after.mesh.Load().destinations.All() {
		if d.Identity().ID == old.target.Identity().ID && (d == old.target || !content.Differ(d, old.target)) {
			kind = "" // it is still there
		}
	}
	if kind != "" {
		return []string{kind}
	}
	return p.sources(old.target.Identity().ID.Kind, false)
}

// givenBy returns the kinds of resources that change an inbound or an outbound by tags. Next
// is nil if it goes.
func (p *snapshotPair) givenBy(old, next *listenerPlace) []string {
	if old.listed(p.before.Dataplane) && (next == nil || next.listed(p.after.Dataplane)) {
		return []string{dataplaneKind}
	}
	return p.sources(dataplaneKind, true)
}

// listed reports whether the document of a dataplane has the inbound or the outbound.
func (l *listenerPlace) listed(d *resource.Dataplane) bool {
	if l.inbound {
		return true
	}
	o, is := l.entry.(*resource.Outbound)
	return is && slices.ContainsFunc(d.Declared().Outbounds, func(listed resource.Outbound) bool {
		return listed.Backend == nil && listed.Address == o.Address && listed.Port == o.Port
	})
}

// sources returns the kinds of resources that differ and give outbounds to transparent
// proxies, and otherwise the given kind. Virtual addresses give outbounds to service tags.
func (p *snapshotPair) sources(otherwise string, virtual bool) (kinds []string) {
	before, after := &p.before.mesh.Load().given, &p.after.mesh.Load().given
	if virtual && !slices.EqualFunc(before.virtual, after.virtual, func(a, b *resource.VirtualAddresses) bool { return a == b || !content.Differ(a, b) }) {
		kinds = append(kinds, resource.ConfigKind)
	}
	if p.edited() {
		kinds = append(kinds, dataplaneKind)
	}
	if before.mode != after.mode {
		kinds = append(kinds, resource.MeshKind)
	}
	if kinds == nil {
		kinds = []string{otherwise}
	}
	return kinds
}
