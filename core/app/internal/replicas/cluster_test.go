package replicas

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// clusterPlace is an API server of Kubernetes with its etcd. Each replica reaches it by a
// proxy. The objects of a state are written one after the other.
type clusterPlace struct {
	*kubetest.Cluster
	t       testing.TB
	random  *rand.Rand
	proxies []*etcdtest.Proxy // by replica
	configs []string          // kubeconfigs
}

func newClusterPlace(t testing.TB, cluster *kubetest.Cluster, random *rand.Rand, replicas int) *clusterPlace {
	cluster.InstallLoose(kinds.All())
	for _, kind := range []string{"Dataplane", "MeshTimeout"} {
		cluster.DeleteAll(kubetest.Object{"apiVersion": "kuma.io/v1alpha1", "kind": kind, "metadata": map[string]any{"namespace": "default"}})
	}
	p := &clusterPlace{Cluster: cluster, t: t, random: random}
	text, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for range replicas {
		proxy := etcdtest.NewProxy(t, strings.TrimPrefix(cluster.URL, "https://"))
		to := url.URL{Scheme: "https", Host: proxy.Address()}
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), cluster.URL, to.String())), 0o600); err != nil {
			t.Fatal(err)
		}
		p.proxies, p.configs = append(p.proxies, proxy), append(p.configs, path)
	}
	return p
}

func (p *clusterPlace) address(int) string { return "k8s://" }

func (p *clusterPlace) node() string { return "kri_dp_default__default_client_" }

func (p *clusterPlace) variables(replica int) []string {
	return []string{"KUBECONFIG=" + p.configs[replica]}
}

func (p *clusterPlace) mixed() bool { return true }

func (p *clusterPlace) write(number, dataplanes int) error {
	documents := []sourcetest.Document{client}
	for i := range dataplanes {
		documents = append(documents, dataplane(number, i))
	}
	for _, d := range append(documents, timeout(number)) {
		if err := p.put(&d); err != nil {
			return err
		}
	}
	return nil
}

// put creates or replaces an object by the REST API.
func (p *clusterPlace) put(d *sourcetest.Document) error {
	var o kubetest.Object
	if err := json.Unmarshal([]byte(d.Kubernetes("default")), &o); err != nil {
		return err
	}
	status, answer, err := p.Try(http.MethodPatch, o.Path()+"?fieldManager=test", []byte(d.Kubernetes("default")))
	if err == nil && status == http.StatusNotFound {
		status, answer, err = p.Try(http.MethodPost, o.Collection(), []byte(d.Kubernetes("default")))
	}
	if err == nil && status != http.StatusOK && status != http.StatusCreated {
		err = fmt.Errorf("status %d: %s", status, answer)
	}
	return err
}

// compact forgets all revisions of the etcd except the newest one, if it answers.
func (p *clusterPlace) compact() {
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{p.Etcd()}, Logger: zap.NewNop()})
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	response, err := c.Get(ctx, "-")
	if err == nil {
		_, err = c.Compact(ctx, response.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		p.t.Logf("no compaction: %v", err)
	}
}

func (p *clusterPlace) faults() []fault {
	replica := p.random.IntN(len(p.proxies))
	delay := time.Duration(50+p.random.IntN(250)) * time.Millisecond
	proxy := p.proxies[replica]
	compact := p.random.IntN(2) == 0
	return []fault{
		{"pause the API server", func(testing.TB) func() { p.Pause(); return p.Resume }},
		{"kill the API server", func(testing.TB) func() { p.StopServer(); return p.StartServer }},
		{"pause the etcd", func(testing.TB) func() { p.PauseEtcd(); return p.ResumeEtcd }},
		{"kill the etcd", func(testing.TB) func() { p.StopEtcd(); return func() { p.StartEtcd(); p.Await() } }},
		{"kill the API server; compaction", func(testing.TB) func() {
			p.StopServer()
			return func() { p.compact(); p.StartServer() }
		}},
		{fmt.Sprintf("cut replica %d off; compaction: %v", replica+1, compact), func(testing.TB) func() {
			proxy.Cut()
			return func() {
				if compact {
					p.compact()
				}
				proxy.Mend()
			}
		}},
		{fmt.Sprintf("answers to replica %d take %v", replica+1, delay), func(testing.TB) func() {
			proxy.Delay(delay)
			return func() { proxy.Delay(0) }
		}},
	}
}
