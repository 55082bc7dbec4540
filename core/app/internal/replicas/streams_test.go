package replicas

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Replicas of one store share clients with --max-streams: a client that is refused moves
// on, and gets what the others have.
func TestMaxStreams(t *testing.T) {
	server := etcdtest.Start(t)
	c := server.Client()
	t.Cleanup(func() { c.Close() })
	first := dataplane(1, 0)
	for _, d := range []*sourcetest.Document{&client, &first} {
		if _, err := c.Put(t.Context(), "mesh/"+etcd.Key(id(d)), d.Universal()); err != nil {
			t.Fatal(err)
		}
	}
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	var replicas []*replica
	for i := range 2 {
		r := newReplica(t, network, i, nil, "-f", server.URL("mesh"), "--max-streams", "2")
		r.ready()
		replicas = append(replicas, r)
	}
	var all []*subscriber
	for i := range 4 {
		all = append(all, subscribe(t, fmt.Sprint("client ", i+1), "kri_dp_default___client_", i%2 == 0, replicas...))
	}
	for _, r := range replicas {
		eventually(t, r.name+" has two streams", func() bool { s := r.status(); return s != nil && s.Streams == 2 })
	}
	for _, s := range all {
		eventually(t, s.name+" has all resources", func() bool {
			return s.held(wire.EndpointType, endpointsName) != "" && s.all() == all[0].all()
		})
	}
}
