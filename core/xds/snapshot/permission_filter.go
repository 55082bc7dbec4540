package snapshot

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// PermissionFilter returns what a permission filter of a dataplane would be if its inbound spoke
// HTTP: connections that drain use the filter of a listener that has been replaced (SPEC 12.3). It
// returns nil if no permission is applied, and false if the dataplane has no such inbound. The
// chain for plain text of an inbound that has no such chain any more is the only one that it has.
func (s *State) PermissionFilter(d *resource.Dataplane, client xds.Client, name string) (*wire.Resource, bool) {
	index := -1
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		listener := inboundName(inboundAddress(d, in), in.Port)
		if s.builder.semantics.Listens(d, i) && (name == message.PermissionName(listener, false) || name == message.PermissionName(listener, true)) {
			index = i
		}
	}
	if index < 0 {
		return nil, false
	}
	http := *d
	http.Inbounds = slices.Clone(d.Inbounds)
	http.Inbounds[index].Protocol = "http"
	sb := s.newSnapshot(&http, s.view.Configs(d, s.builder.scope), client)
	tls := sb.serverTLS()
	i := sb.inboundDraft(sb.inboundKey(index, tls), tls)
	for _, t := range s.builder.shape.inbound {
		t.Inbound(i, sb.confs.inbound(t.Kind, index))
	}
	s.builder.addChains(i, sb.confs)
	for _, e := range i.Extensions {
		if e.Name == name || len(i.Extensions) == 1 && strings.HasPrefix(name, e.Name) {
			e.Name = name
			return s.builder.extension(e, nil), true
		}
	}
	return nil, true
}
