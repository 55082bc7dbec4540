package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// served is a snapshot in the form of a server, with the secrets that the server signed.
type served struct {
	secrets   []*wire.Resource
	resources wire.Snapshot
}

// Served returns what a server sends: the resources of the snapshot, and the given
// secrets, sorted by name; the snapshot of an identity that the server signs has no
// others. Calls with equal secrets return the same pointer, so that a server that compares
// pointers sends nothing while nothing changes.
func (s *Snapshot) Served(secrets []*wire.Resource) *wire.Snapshot {
	for {
		known := s.served.Load()
		if known != nil && slices.Equal(known.secrets, secrets) {
			return &known.resources
		}
		next := &served{secrets: secrets}
		for t := range next.resources {
			next.resources[t].Listed = s.byType[t]
		}
		extensions := &next.resources[wire.ExtensionType] // no wildcard selects one
		extensions.Listed, extensions.Named = nil, extensions.Listed
		next.resources[wire.ListenerType].Named = s.API()
		if len(secrets) > 0 {
			next.resources[wire.SecretType].Listed = secrets
		}
		if s.served.CompareAndSwap(known, next) {
			return &next.resources
		}
	}
}
