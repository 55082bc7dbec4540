package kubernetes_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// open returns the store of a context of a kubeconfig.
func open(t testing.TB, kubeconfig, context string) *kubernetes.Store {
	t.Helper()
	s, err := kubernetes.New(kubernetes.Options{Kubeconfig: kubeconfig, Context: context, Shapes: resource.Shapes(kinds.All(), ocm.Documents())})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The suite of every source, with a real API server behind a proxy that can be cut. The
// schemas of the cluster accept everything, as Kuma's do.
func TestServer(t *testing.T) {
	cluster := kubetest.Start(t)
	cluster.InstallLoose(kinds.All())
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Subject {
		for _, kind := range []string{"Dataplane", "MeshTimeout", "MeshTrafficPermission"} {
			cluster.DeleteAll(kubetest.Object{"apiVersion": "kuma.io/v1alpha1", "kind": kind, "metadata": map[string]any{"namespace": "default"}})
		}
		proxy := etcdtest.NewProxy(t, strings.TrimPrefix(cluster.URL, "https://"))
		return &sourcetest.Subject{
			Source:     &source.Stored{Store: open(t, through(t, cluster, proxy), ""), Loader: sourcetest.Loader()},
			Write:      func(t *testing.T, documents ...sourcetest.Document) { write(t, cluster, documents...) },
			Lose:       func(*testing.T) { proxy.Cut() },
			Restore:    func(*testing.T) { proxy.Mend() },
			Separately: true,
		}
	})
	t.Run("Namespaces", func(t *testing.T) { testNamespaces(t, cluster) })
	t.Run("Secrets", func(t *testing.T) { testSecrets(t, cluster) })
	t.Run("Forbidden", func(t *testing.T) { testForbidden(t, cluster) })
	t.Run("Definitions", func(t *testing.T) { testDefinitions(t, cluster) })
	t.Run("Restart", func(t *testing.T) { testRestart(t, cluster) })
	t.Run("SetBack", func(t *testing.T) { testSetBack(t, cluster) })
}

// through returns a kubeconfig that reaches the cluster by a proxy.
func through(t *testing.T, cluster *kubetest.Cluster, proxy *etcdtest.Proxy) string {
	t.Helper()
	text, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	to := url.URL{Scheme: "https", Host: proxy.Address()}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), cluster.URL, to.String())), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, cluster *kubetest.Cluster, documents ...sourcetest.Document) {
	t.Helper()
	for _, d := range documents {
		deleted := d.Spec == ""
		if deleted {
			d.Spec = "{}"
		}
		var o kubetest.Object
		if err := json.Unmarshal([]byte(d.Kubernetes("default")), &o); err != nil {
			t.Fatal(err)
		}
		if deleted {
			cluster.Delete(o)
		} else {
			cluster.Apply(o)
		}
	}
}

// first returns the first update of a source.
func first(t *testing.T, s *kubernetes.Store) (*source.Update, error) {
	t.Helper()
	for u, err := range (&source.Stored{Store: s, Loader: &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}}).Watch(t.Context()) {
		return u, err
	}
	t.Fatal("the sequence ended")
	return nil, nil
}

// Objects of all kinds and namespaces are read, including Open Cluster Management and the
// virtual addresses in ConfigMaps. Positions name the object and its version.
func testNamespaces(t *testing.T, cluster *kubetest.Cluster) {
	for _, text := range []string{
		`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kuma-system"}}`,
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kuma-default-dns-vips", "namespace": "kuma-system"}, "data": {"config": "{\"0:api\": {\"address\": \"240.0.0.1\", \"outbounds\": [{\"Port\": 80, \"TagSet\": {\"kuma.io/service\": \"api\"}, \"Origin\": \"service\"}]}}"}}`,
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other", "namespace": "kuma-system"}, "data": {"config": "x"}}`,
		`{"apiVersion": "kuma.io/v1alpha1", "kind": "Mesh", "metadata": {"name": "default"}}`,
		`{"apiVersion": "kuma.io/v1alpha1", "kind": "MeshTimeout", "metadata": {"name": "t", "namespace": "kuma-system"}, "spec": {"to": [{"default": {"idleTimeout": "1s"}}]}}`,
		`{"apiVersion": "kuma.io/v1alpha1", "kind": "MeshTimeout", "metadata": {"name": "bad", "namespace": "default"}, "spec": {"to": [{"default": {"idleTimeout": "soon"}}]}}`,
		`{"apiVersion": "apps.open-cluster-management.io/v1", "kind": "PlacementRule", "metadata": {"name": "r", "namespace": "default"}, "spec": {}}`,
	} {
		var o kubetest.Object
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		cluster.Apply(o)
	}
	u, err := first(t, open(t, cluster.Kubeconfig, "admin"))
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Set.Meshes) != 1 || len(u.Set.Documents) != 1 || len(u.Set.Objects) != 1 || u.Set.Objects[0].Identity().Kind != resource.ConfigKind {
		t.Errorf("read are %d meshes, %d documents and %d objects", len(u.Set.Meshes), len(u.Set.Documents), len(u.Set.Objects))
	}
	if len(u.Invalid) != 1 || !strings.HasPrefix(u.Invalid[0].At, "k8s://MeshTimeout/default/bad@") {
		t.Fatalf("invalid are %+v", u.Invalid)
	}
	if text := u.Invalid[0].Errors[0].Line(); !strings.HasPrefix(text, u.Invalid[0].At+": spec.to[0].default.idleTimeout: ") {
		t.Errorf("the error is %s", text)
	}
	if at := u.Set.Policies[0].Pos.String(); !strings.HasPrefix(at, "k8s://MeshTimeout/kuma-system/t@") {
		t.Errorf("the position is %s", at)
	}
}

// With [kubernetes.Options.Secrets], the Secrets that a MeshExternalService names are read,
// and no other one, even if the name comes later.
func testSecrets(t *testing.T, cluster *kubetest.Cluster) {
	apply := func(text string) {
		t.Helper()
		var o kubetest.Object
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		cluster.Apply(o)
	}
	secret := func(name, kind, value string) {
		t.Helper()
		apply(fmt.Sprintf(`{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": %q, "namespace": "kuma-system", "labels": {"kuma.io/mesh": "default"}}, "type": %q, "data": {"value": %q}}`,
			name, kind, base64.StdEncoding.EncodeToString([]byte(value))))
	}
	external := func(name, secret string) {
		t.Helper()
		apply(fmt.Sprintf(`{"apiVersion": "kuma.io/v1alpha1", "kind": "MeshExternalService", "metadata": {"name": %q, "namespace": "kuma-system", "labels": {"kuma.io/mesh": "default"}},
			"spec": {"match": {"type": "HostnameGenerator", "port": 443, "protocol": "tcp"}, "endpoints": [{"address": "example.com", "port": 443}],
			"tls": {"enabled": true, "verification": {"caCert": {"type": "Secret", "secretRef": {"kind": "Secret", "name": %q}}}}}}`, name, secret))
	}
	secret("ca", resource.SecretType, "first")
	secret("later", resource.SecretType, "later")
	secret("never", resource.SecretType, "never")
	secret("other", "Opaque", "other")
	external("one", "ca")
	contents := func(set *resource.Set) string {
		var words []string
		for _, s := range resource.ObjectsOf[*resource.ObjectOf[specs.Secret]](set.Objects) {
			words = append(words, s.Name+"="+s.Spec.Data.Text())
		}
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	loader := &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	if u, err := first(t, open(t, cluster.Kubeconfig, "")); err != nil || contents(u.Set) != "" {
		t.Errorf("without the option: %q, %v", contents(u.Set), err)
	}
	s, err := kubernetes.New(kubernetes.Options{Kubeconfig: cluster.Kubeconfig, Shapes: resource.Shapes(kinds.All(), ocm.Documents()), Secrets: true})
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		want string
		then func()
	}{
		{"ca=first", func() { external("two", "later") }},
		{"ca=first later=later", func() { secret("ca", resource.SecretType, "second") }},
		{"ca=second later=later", func() { external("two", "other") }}, // which is not one of Kuma
		{"ca=second", func() {
			cluster.Delete(kubetest.Object{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "ca", "namespace": "kuma-system"}})
		}},
		{"", func() {}},
	}
	for u, err := range (&source.Stored{Store: s, Loader: loader}).Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if contents(u.Set) == steps[0].want {
			if steps[0].then(); len(steps) == 1 {
				return
			}
			steps = steps[1:]
		}
	}
}

// A user without a role gets the message of the API server.
func testForbidden(t *testing.T, cluster *kubetest.Cluster) {
	_, err := first(t, open(t, cluster.Kubeconfig, "nobody"))
	if err == nil || !strings.Contains(err.Error(), `k8s://nobody cannot be read`) || !strings.Contains(err.Error(), `is forbidden: User "nobody" cannot`) || !strings.Contains(err.Error(), "the roles of the Helm chart permit") {
		t.Errorf("the error is %v", err)
	}
}

// A kind whose definition is created or deleted appears or disappears with its objects.
func testDefinitions(t *testing.T, cluster *kubetest.Cluster) {
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/meshtimeouts.kuma.io"
	cluster.Do("DELETE", path, nil)
	cluster.Wait("the definition is deleted", func() bool { status, _ := cluster.Do("GET", path, nil); return status == 404 })
	s := &source.Stored{Store: open(t, cluster.Kubeconfig, ""), Loader: &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}}
	step := 0
	for u, err := range s.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch n := len(u.Set.Policies); {
		case step == 0 && n == 0:
			cluster.InstallLoose(resource.NewKinds(kinds.All().Lookup("MeshTimeout")))
			write(t, cluster, sourcetest.Timeout("late", "1s"))
			step++
		case step == 1 && n == 1:
			cluster.Do("DELETE", path, nil)
			step++
		case step == 2 && n == 0:
			return
		}
	}
}

// After the API server was killed, what was written in the meantime arrives.
func testRestart(t *testing.T, cluster *kubetest.Cluster) {
	s := &source.Stored{Store: open(t, cluster.Kubeconfig, ""), Loader: &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}}
	lost := false
	var before source.Revision
	for u, err := range s.Watch(t.Context()) {
		switch {
		case err != nil:
			if !lost {
				lost = true
				cluster.StartServer()
				write(t, cluster, sourcetest.Dataplane("after", "10.0.0.9"))
			}
		case before == 0:
			before = u.Revision
			cluster.StopServer()
		case lost && slices.ContainsFunc(u.Set.Dataplanes, func(d *resource.Dataplane) bool { return d.Name == "after" }):
			if u.Revision <= before {
				t.Errorf("revision %d follows %d", u.Revision, before)
			}
			return
		}
	}
}

// After a restore of its etcd, a cluster is reported, and nothing of its state is mixed with what was read:
// even if its resource version has passed what was read before the API server starts, and after a restart.
func testSetBack(t *testing.T, cluster *kubetest.Cluster) {
	cluster.InstallLoose(resource.NewKinds(kinds.All().Lookup("MeshTimeout")))
	write(t, cluster, sourcetest.Dataplane("kept", "10.0.0.1"), sourcetest.Timeout("kept", "1s"), sourcetest.Timeout("deleted", "1s"))
	restore := cluster.BackUp()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{cluster.Etcd()}, DialTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, c := range []struct {
		name  string
		edits []sourcetest.Document
		pass  bool
	}{
		{"changed", []sourcetest.Document{sourcetest.Timeout("kept", "2s")}, true},
		{"added", []sourcetest.Document{sourcetest.Timeout("added", "2s")}, true},
		{"deleted", []sourcetest.Document{sourcetest.Deleted(sourcetest.Timeout("deleted", ""))}, true},
		{"the version has not passed", []sourcetest.Document{sourcetest.Timeout("added", "2s")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			keeper := source.NewStoreKeeper(t.TempDir(), "cluster")
			stored := func() *source.Stored {
				return &source.Stored{
					Store: open(t, cluster.Kubeconfig, ""), Loader: &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}, Keeper: keeper,
				}
			}
			texts := func(u *source.Update) string {
				var list []string
				for _, p := range u.Set.Policies {
					list = append(list, p.Pos.String()) // which has the version
				}
				slices.Sort(list)
				return strings.Join(list, "\n")
			}
			write(t, cluster, c.edits...)
			before, reported := "", false
			for u, err := range stored().Watch(t.Context()) {
				if errors.Is(err, source.ErrSetBack) {
					reported = true
					break
				}
				if u == nil {
					continue
				}
				if before != "" && texts(u) != before {
					t.Fatalf("the state was\n%s\nand after the restore it is\n%s", before, texts(u))
				}
				if before == "" {
					before = texts(u)
					if u.Recording != nil {
						if err := u.Recording.Keep(); err != nil {
							t.Fatal(err)
						}
					}
					last, err := client.Get(t.Context(), "/other")
					if err != nil {
						t.Fatal(err)
					}
					restore(func() {
						for at := int64(0); c.pass && at <= last.Header.Revision; {
							done, err := client.Put(t.Context(), "/other", "x")
							if err != nil {
								t.Fatal(err)
							}
							at = done.Header.Revision
						}
					})
				}
			}
			if !reported {
				t.Error("the set-back is not reported")
			}
			for u, err := range stored().Watch(t.Context()) { // another process with the kept state
				if u != nil && u.Kept == nil {
					t.Errorf("after a restart, the state of the store is used: %s", texts(u))
				}
				if u != nil || errors.Is(err, source.ErrSetBack) {
					break
				}
			}
		})
	}
}
