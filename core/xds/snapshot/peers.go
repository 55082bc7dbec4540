package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A cluster and its endpoints have peers. A server compares them, and sends no endpoint to
// a client whose cluster does not accept its certificate yet (SPEC 12.3). They are the
// SPIFFE IDs by which the cluster verifies certificates, and the server names of the
// destination at zone proxies: each of them has a transport socket.

// clusterPeers returns the peers of a cluster, nil if the client uses no TLS.
func (c clientTLS) clusterPeers(facts *endpointFacts) *wire.Peers {
	if !c.enabled() || len(facts.ids) == 0 {
		return nil
	}
	return wire.NewPeers(facts.peers(), nil)
}

// peers returns the identities by which transport sockets are chosen or accept
// certificates.
func (f *endpointFacts) peers() []string {
	if len(f.serverNames) == 0 {
		return f.ids
	}
	all := slices.Concat(f.ids, f.serverNames)
	slices.Sort(all)
	return slices.Compact(all)
}

// endpointPeers returns the peers of the endpoints of a destination. An endpoint has none if
// the cluster of the same snapshot does not verify it by an ID of its own: behind a zone proxy,
// the certificates belong to other dataplanes.
func (b *Builder) endpointPeers(key endpointsKey, of *client) *wire.Peers {
	facts := key.set.facts
	if !key.tls.enabled() || len(facts.ids) == 0 {
		return nil
	}
	known := facts.peers()
	var ids []string
	for _, e := range key.set.list {
		for _, id := range [...]string{e.SPIFFEID, e.ServerName} {
			if isOneOf(known, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); slices.Equal(ids, known) {
		ids = known // most have the same
	}
	return wire.NewPeers(ids, func(accepted []string) *wire.Resource {
		kept := slices.DeleteFunc(slices.Clone(key.set.list), func(e *xds.Endpoint) bool {
			return slices.ContainsFunc([]string{e.SPIFFEID, e.ServerName}, func(id string) bool {
				return isOneOf(known, id) && !isOneOf(accepted, id)
			})
		})
		if len(kept) == 0 {
			return nil
		}
		only := key
		only.set = &endpointSet{list: kept, facts: facts}
		return b.endpointPart(only, of.again()).resources[0]
	})
}

func isOneOf(sorted []string, id string) bool {
	_, found := slices.BinarySearch(sorted, id)
	return found
}
