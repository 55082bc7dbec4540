package snapshot

import "maps"

// serviceMap has the endpoints of services by their keys. It is immutable: a new version
// shares the entries of the previous one, so a change of a few services costs about the
// square root of the number of all, instead of a copy of all.
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
