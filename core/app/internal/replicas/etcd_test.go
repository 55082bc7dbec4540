package replicas

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// members are an etcd of three members, which several places use one after the other.
type members struct {
	servers []*etcdtest.Server
	client  *clientv3.Client // of all members
	places  int
}

func startMembers(t testing.TB) *members {
	m := &members{servers: etcdtest.Cluster(t, 3)}
	var urls []string
	for _, s := range m.servers {
		urls = append(urls, "http://"+s.Address())
	}
	var err error
	if m.client, err = clientv3.New(clientv3.Config{Endpoints: urls, Logger: zap.NewNop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.client.Close() })
	return m
}

// etcdPlace is a prefix of an etcd. Each replica reaches each member by a proxy.
type etcdPlace struct {
	*members
	t       testing.TB
	random  *rand.Rand
	prefix  string
	proxies [][]*etcdtest.Proxy // by replica
}

func (m *members) place(t testing.TB, random *rand.Rand, replicas int) *etcdPlace {
	m.places++
	p := &etcdPlace{members: m, t: t, random: random, prefix: fmt.Sprintf("mesh/%d", m.places)}
	for range replicas {
		var proxies []*etcdtest.Proxy
		for _, s := range m.servers {
			proxies = append(proxies, etcdtest.NewProxy(t, s.Address()))
		}
		p.proxies = append(p.proxies, proxies)
	}
	return p
}

func (p *etcdPlace) address(replica int) string {
	var hosts []string
	for _, proxy := range p.proxies[replica] {
		hosts = append(hosts, proxy.Address())
	}
	return "etcd://" + strings.Join(hosts, ",") + "/" + p.prefix
}

func (p *etcdPlace) node() string { return "kri_dp_default___client_" }

func (p *etcdPlace) variables(int) []string { return nil }

func (p *etcdPlace) mixed() bool { return false }

// store is the store as a writer sees it.
func (p *etcdPlace) store() *etcd.Store {
	var hosts []string
	for _, s := range p.servers {
		hosts = append(hosts, s.Address())
	}
	s, err := etcd.New(etcd.Options{Address: etcd.Address{Endpoints: hosts, Prefix: p.prefix}})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// write writes a state in one transaction, or, if it is large, as `apply` does.
func (p *etcdPlace) write(number, dataplanes int) error {
	documents := []sourcetest.Document{client, timeout(number)}
	for i := range dataplanes {
		documents = append(documents, dataplane(number, i))
	}
	if dataplanes > 100 {
		return p.apply(documents)
	}
	return p.once(documents, dataplanes)
}

func id(d *sourcetest.Document) resource.ID {
	return resource.ID{Kind: d.Kind, Mesh: "default", Name: d.Name}
}

// once writes documents, and deletes the dataplanes of larger states, in one transaction.
func (p *etcdPlace) once(documents []sourcetest.Document, dataplanes int) error {
	next := sourcetest.Document{Kind: "Dataplane", Name: fmt.Sprintf("d%04d", dataplanes)}
	operations := []clientv3.Op{clientv3.OpDelete(p.prefix+"/"+etcd.Key(id(&next)), clientv3.WithRange(p.prefix+"/Dataplane/default/-/e"))}
	for i := range documents {
		operations = append(operations, clientv3.OpPut(p.prefix+"/"+etcd.Key(id(&documents[i])), documents[i].Universal()))
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	_, err := p.client.Txn(ctx).Then(operations...).Commit()
	return err
}

// apply writes documents as `apply` does.
func (p *etcdPlace) apply(documents []sourcetest.Document) error {
	s := p.store()
	defer s.Close()
	read, err := s.Read(p.t.Context())
	if err != nil {
		return err
	}
	var changes []etcd.Write
	for i := range documents {
		changes = append(changes, etcd.Write{ID: id(&documents[i]), Document: []byte(documents[i].Universal())})
	}
	_, err = s.Write(p.t.Context(), read, changes)
	return err
}

// compact forgets all revisions except the newest one, if the store answers.
func (p *etcdPlace) compact() {
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	response, err := p.client.Get(ctx, "-")
	if err == nil {
		_, err = p.client.Compact(ctx, response.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		p.t.Logf("no compaction: %v", err)
	}
}

func (p *etcdPlace) faults() []fault {
	one := p.random.IntN(len(p.servers))
	replica := p.random.IntN(len(p.proxies))
	delay := time.Duration(50+p.random.IntN(250)) * time.Millisecond
	compact := p.random.IntN(2) == 0
	name := fmt.Sprint("member ", one+1)
	return []fault{
		{"pause " + name, func(testing.TB) func() { p.servers[one].Pause(); return p.servers[one].Resume }},
		{"kill " + name, func(testing.TB) func() { p.servers[one].Kill(); return p.servers[one].Restart }},
		{"pause all members", func(testing.TB) func() {
			for _, s := range p.servers {
				s.Pause()
			}
			return func() {
				for _, s := range p.servers {
					s.Resume()
				}
			}
		}},
		{"kill all members", func(testing.TB) func() {
			for _, s := range p.servers {
				s.Kill()
			}
			return func() { etcdtest.Restart(p.servers...) }
		}},
		{fmt.Sprintf("cut replica %d off; compaction: %v", replica+1, compact), func(testing.TB) func() {
			for _, proxy := range p.proxies[replica] {
				proxy.Cut()
			}
			return func() {
				if compact {
					p.compact()
				}
				for _, proxy := range p.proxies[replica] {
					proxy.Mend()
				}
			}
		}},
		{fmt.Sprintf("cut replica %d off %s", replica+1, name), func(testing.TB) func() {
			p.proxies[replica][one].Cut()
			return p.proxies[replica][one].Mend
		}},
		{fmt.Sprintf("answers to replica %d take %v", replica+1, delay), func(testing.TB) func() {
			for _, proxy := range p.proxies[replica] {
				proxy.Delay(delay)
			}
			return func() {
				for _, proxy := range p.proxies[replica] {
					proxy.Delay(0)
				}
			}
		}},
		{"compaction", func(testing.TB) func() { p.compact(); return func() {} }},
	}
}
