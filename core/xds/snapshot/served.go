package snapshot

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// served is a snapshot in the form of a server, with the secrets that the server signed.
type served struct {
	secrets   []*wire.Resource
	resources wire.Snapshot
}

// Served returns what a server sends: the resources of the snapshot, and the given
// secrets of an identity that the server signs, sorted by name. Calls with equal secrets
// return the same pointer, so that a server that compares pointers sends nothing while
// nothing changes.
func (s *Snapshot) Served(secrets []*wire.Resource) *wire.Snapshot {
	for {
		known := s.served.Load()
		if known != nil && slices.Equal(known.secrets, secrets) {
			return &known.resources
		}
		next := &served{secrets: secrets, resources: s.listed()}
		if own := s.byType[wire.SecretType]; len(secrets) > 0 {
			list := slices.Concat(own, secrets)
			slices.SortFunc(list, func(a, b *wire.Resource) int { return cmp.Compare(a.Name, b.Name) })
			next.resources[wire.SecretType].Listed = list
		}
		if s.served.CompareAndSwap(known, next) {
			return &next.resources
		}
	}
}

// ServedWithoutKeys returns what a server sends to a client that may not have private keys
// (SPEC 16): the secrets in it are files of the proxy's machine. All calls return the same
// pointer.
func (s *Snapshot) ServedWithoutKeys() *wire.Snapshot {
	if known := s.keyless.Load(); known != nil {
		return known
	}
	if !slices.ContainsFunc(s.byType[wire.SecretType], isKey) {
		return s.Served(nil)
	}
	next := s.listed()
	next[wire.SecretType].Listed = slices.DeleteFunc(slices.Clone(s.byType[wire.SecretType]), isKey)
	s.keyless.CompareAndSwap(nil, &next)
	return s.keyless.Load()
}

// isKey reports whether a secret of a snapshot has a private key, which only external services
// have: the identity is in files.
func isKey(secret *wire.Resource) bool { return message.IsExternalKey(secret.Name) }

// listed returns the resources of the snapshot in the form of a server.
func (s *Snapshot) listed() (of wire.Snapshot) {
	for t := range of {
		of[t].Listed = s.byType[t]
	}
	extensions := &of[wire.ExtensionType] // no wildcard selects one
	extensions.Listed, extensions.Named = nil, extensions.Listed
	of[wire.ListenerType].Named = s.API()
	return of
}
