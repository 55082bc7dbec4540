package etcd_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Replicas that start at the same time have one CA, which no reader of resources sees. One
// that has a directory starts without the store.
func TestCAs(t *testing.T) {
	server := etcdtest.Start(t)
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "i", Data: []byte(
		`{"type": "MeshIdentity", "name": "i", "spec": {"selector": {"dataplane": {"matchLabels": {}}}, "provider": {"type": "Bundled", "bundled": {"autogenerate": {"enabled": true}}}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bundle := func(dir string) []byte {
		cas, err := open(t, server.URL("m")).CAs("")
		if err != nil {
			t.Fatal(err)
		}
		authority, err := ca.NewSharedAuthorities(cas, dir).AuthorityFor(set.Objects[0].(*resource.MeshIdentity), time.Now())
		if err != nil {
			t.Error(err)
			return nil
		}
		return authority.Bundle()
	}
	bundles := make([][]byte, 5)
	var replicas sync.WaitGroup
	for i := range bundles {
		replicas.Go(func() { bundles[i] = bundle("") })
	}
	replicas.Wait()
	for _, b := range append(bundles, bundle(dir)) {
		if !bytes.Equal(b, bundles[0]) || len(b) == 0 {
			t.Error("two replicas have different CAs")
		}
	}
	read, err := open(t, server.URL("m")).Read(t.Context())
	if err != nil || len(read.Objects) != 0 {
		t.Errorf("the resources are %v, %v", read, err)
	}
	server.Kill()
	if !bytes.Equal(bundle(dir), bundles[0]) {
		t.Error("without the store the CA is another one")
	}
	for _, prefix := range []string{"m", "m/x"} {
		if _, err := open(t, server.URL("m")).CAs(prefix); err == nil {
			t.Errorf("CAs are allowed at %q, among resources", prefix)
		}
	}
	cas, err := open(t, "etcd://192.0.2.1:2379/m").CAs("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cas.Once(set.Objects[0].Identity().ID, nil); !errors.Is(err, etcd.ErrUnsafe) {
		t.Errorf("a CA over a network without TLS: %v", err)
	}
}
