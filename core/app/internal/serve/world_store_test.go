package serve_test

import (
	"math/rand/v2"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// worldStore is what the replicas of a world follow.
type worldStore interface {
	put(documents map[resource.ID]string)
	open(replica int) source.Store
	fault(random *rand.Rand)  // begins a fault, for one of the replicas or both
	backup() (setBack func()) // setBack puts the state of backup back
	mend()                    // ends all faults but that one
	close()
}

// worldMemory is a store in memory.
type worldMemory struct{ *sourcetest.Memory }

func newWorldMemory() *worldMemory { return &worldMemory{sourcetest.NewMemory()} }

func (m *worldMemory) put(documents map[resource.ID]string) { m.Put(documents) }
func (m *worldMemory) open(int) source.Store                { return m.Memory }
func (m *worldMemory) mend()                                { m.Restore() }
func (m *worldMemory) close()                               {}

func (m *worldMemory) fault(random *rand.Rand) {
	if random.IntN(2) == 0 {
		m.Lose()
	}
	if random.IntN(2) == 0 {
		m.Forget()
	}
}

func (m *worldMemory) backup() func() {
	older := m.Copy()
	return func() { m.SetBack(older) }
}

// worldEtcd is a model of etcd. Each replica reads from a member.
type worldEtcd struct {
	model   *etcdtest.Model
	members [2]*etcdtest.Member
	stores  []*etcd.Store
}

func newWorldEtcd() *worldEtcd {
	s := &worldEtcd{model: etcdtest.NewModel()}
	for i := range s.members {
		s.members[i] = s.model.Member()
	}
	return s
}

func (s *worldEtcd) put(documents map[resource.ID]string) {
	values := map[string]string{}
	for id, document := range documents {
		values["mesh/"+etcd.Key(id)] = document
	}
	s.model.Put(values)
}

func (s *worldEtcd) open(replica int) source.Store {
	address, err := etcd.ParseAddress("etcd://model:2379/mesh")
	if err != nil {
		panic(err)
	}
	store, err := etcd.New(etcd.Options{Address: *address, Client: s.members[replica].Client()})
	if err != nil {
		panic(err)
	}
	s.stores = append(s.stores, store)
	return store
}

func (s *worldEtcd) fault(random *rand.Rand) {
	m := s.members[random.IntN(2)]
	switch random.IntN(6) {
	case 0:
		m.Lose()
	case 1:
		m.Restore()
	case 2:
		m.HangWatches(true)
	case 3:
		m.DelayWatches(time.Duration(random.IntN(5000)) * time.Millisecond)
	case 4:
		m.BreakWatches()
	default:
		s.model.Compact()
	}
}

func (s *worldEtcd) backup() func() {
	older := s.model.Backup()
	return func() { s.model.SetBack(older) }
}

func (s *worldEtcd) mend() {
	for _, m := range s.members {
		m.Restore()
		m.HangWatches(false)
		m.DelayWatches(0)
	}
}

func (s *worldEtcd) close() {
	for _, store := range s.stores {
		store.Close()
	}
}
