package snapshot

import (
	"slices"
	"sync"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// kindConfs finds the confs of outbounds to resources, for the dataplanes of a state with the
// same configs. Snapshots must not keep it: it refers to all policies and destinations of a
// version.
type kindConfs struct {
	builder *Builder
	configs []*results.Config
	confs   []*destinations.Confs // parallel to configs
	targets weakcache.Cache[targetsKey, targetConfs]

	mu    sync.RWMutex
	ports map[portKey]*portConfs
	lists map[*targetConfs]bool // what isSame reports for long lists
}

// portKey is all of an outbound on which its confs depend.
type portKey struct {
	destination resource.Destination
	port        uint32
	section     string
}

// kindConfs returns what finds the confs of a dataplane with the given configs.
func (s *State) kindConfs(d *resource.Dataplane, configs []*results.Config) *kindConfs {
	var first **results.Config // no other list has it
	if len(configs) > 0 {
		first = &configs[0]
	}
	if known, ok := s.confs.Load(first); ok {
		return known.(*kindConfs)
	}
	k := &kindConfs{builder: s.builder, configs: configs, ports: map[portKey]*portConfs{}, lists: map[*targetConfs]bool{}}
	for _, config := range configs {
		k.confs = append(k.confs, s.view.DestinationConfs(d, config.Kind.Name, s.builder.scope))
	}
	made, _ := s.confs.LoadOrStore(first, k)
	return made.(*kindConfs)
}

// longList is the number of outbounds from which a list is compared once for all dataplanes.
// Dataplanes share the lists of transparent proxies, which may have thousands (SPEC 17.3).
const longList = 64

// isSame reports whether the outbounds of an earlier list have the confs that they had. The
// configs of both have the same kinds. Each port is merged once for all dataplanes.
func (k *kindConfs) isSame(t *targetConfs) bool {
	if len(t.outbounds) < longList {
		return k.samePorts(t)
	}
	k.mu.RLock()
	same, known := k.lists[t]
	k.mu.RUnlock()
	if !known {
		same = k.samePorts(t)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.lists[t] = same
	}
	return same
}

func (k *kindConfs) samePorts(t *targetConfs) bool {
	for i := range t.outbounds {
		if k.port(&t.outbounds[i]) != t.ports[i] {
			return false
		}
	}
	return true
}

// port returns the confs of an outbound.
func (k *kindConfs) port(o *destinations.Outbound) *portConfs {
	key := portKey{o.Destination, o.Port.Number, o.Section}
	k.mu.RLock()
	known := k.ports[key]
	k.mu.RUnlock()
	if known != nil {
		return known
	}
	p := new(portConfs)
	for i, config := range k.configs {
		p.kinds, p.outbounds = append(p.kinds, config.Kind), append(p.outbounds, k.confs[i].ConfigFor(o))
	}
	p = k.builder.ports.get(p, func() *portConfs { return p })
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ports[key] = p
	return p
}

// portConfs are the confs of an outbound to a port of a resource. Equal ones are one pointer.
type portConfs struct {
	kinds     []*resource.Kind
	outbounds []results.OutboundConfig // parallel to kinds
}

func (p *portConfs) hash() uint64 {
	hash := hashOf(0, p.kinds...)
	for i := range p.outbounds {
		o := &p.outbounds[i]
		hash = hashOf(hash, o.Effective)
		hash = hashOf(hash, o.Routes...)
	}
	return hash
}

func (p *portConfs) equal(o *portConfs) bool {
	return slices.Equal(p.kinds, o.kinds) && slices.EqualFunc(p.outbounds, o.outbounds, func(a, b results.OutboundConfig) bool {
		return a.Effective == b.Effective && slices.Equal(a.Routes, b.Routes)
	})
}
