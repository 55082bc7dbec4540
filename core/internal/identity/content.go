package identity

import "github.com/meshmatch/meshmatch/core/internal/content"

// SameContent reports whether two identities, each of which may be nil, have equal IDs from
// MeshIdentities with equal content.
func (i *Identity) SameContent(o *Identity) bool {
	if i == nil || o == nil {
		return i == o
	}
	return i.SPIFFEID == o.SPIFFEID && (i.Source == o.Source || !content.Differ(i.Source, o.Source))
}
