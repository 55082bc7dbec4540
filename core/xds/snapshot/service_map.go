package snapshot

import (
	"hash/maphash"
	"maps"

	"github.com/meshmatch/meshmatch/core/resource"
)

// serviceMap has the endpoints of services by their keys. It is immutable: a new version
// shares the entries of the previous one. So a change of a few services costs about the
// square root of the number of all, not a copy of all.
type serviceMap[K comparable] struct {
	base   map[K]*service
	recent map[K]*service // replaces entries of base
}

// get returns the endpoints of a service, or nil.
func (m serviceMap[K]) get(key K) *service {
	if s, ok := m.recent[key]; ok {
		return s
	}
	return m.base[key]
}

// with returns the map after changes of a few services.
func (m serviceMap[K]) with(changes map[K]*service) serviceMap[K] {
	if len(changes) == 0 {
		return m
	}
	recent := make(map[K]*service, len(m.recent)+len(changes))
	maps.Copy(recent, m.recent)
	maps.Copy(recent, changes)
	if len(recent)*len(recent) <= len(m.base) {
		return serviceMap[K]{base: m.base, recent: recent}
	}
	base := make(map[K]*service, len(m.base)+len(recent))
	maps.Copy(base, m.base)
	maps.Copy(base, recent)
	return serviceMap[K]{base: base}
}

// serviceBits are sets of services, by a bit of the hash of each: what two of them share says
// that they may have a service in common. The last bit is of all services whose endpoints depend
// on more than on dataplanes.
type serviceBits uint64

const (
	hashedBits    = 63
	otherServices = serviceBits(1) << hashedBits
	allServices   = ^serviceBits(0)
)

func serviceBit[K comparable](seed maphash.Seed, service K) serviceBits {
	return 1 << (maphash.Comparable(seed, service) % hashedBits)
}

// serviceBit returns the bit of the service of a destination.
func (d *destination) serviceBit(seed maphash.Seed) serviceBits {
	switch t := d.target; {
	case t == nil:
		return serviceBit(seed, d.Tags.Value(resource.ServiceTag))
	case t.external != nil || t.via == viaIngress || t.via == viaEgress || t.isMultiZone():
		return otherServices
	default:
		return serviceBit(seed, t.object.Identity().ID)
	}
}
