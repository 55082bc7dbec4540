package cli

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// What an operator writes, as it is in git: for the global control plane, and for the zone
// east. Nobody writes the labels that a control plane adds.
const (
	filesOfGlobal = `apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: operators, namespace: kuma-system}
spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://td/ops"}}]}}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: slow, namespace: kuma-system}
spec: {rules: [{default: {idleTimeout: 20s}}]}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: fast, namespace: kuma-system}
spec: {rules: [{default: {idleTimeout: 10s}}]}
`
	filesOfEast = `apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: web, namespace: shop}
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://td/checkout"}}]}}]
`
	workloadsOfZones = `apiVersion: kuma.io/v1alpha1
kind: MeshIdentity
metadata: {name: id, namespace: kuma-system}
spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: '/{{ label "app" }}'}, provider: {type: Spire, spire: {}}}
---
apiVersion: kuma.io/v1alpha1
kind: Dataplane
metadata: {name: web-1, namespace: shop, labels: {app: web}}
spec: {networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: web_shop_svc_80}}]}}
---
apiVersion: kuma.io/v1alpha1
kind: Dataplane
metadata: {name: checkout-1, namespace: shop, labels: {app: checkout}}
spec: {networking: {address: 10.0.0.2, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: checkout_shop_svc_80}}]}}
`
)

// The recipe of core/OPERATORS.md for a global control plane and two zones, with real API servers
// whose webhooks add the labels of Kuma's: the files of git that are not changed change nothing,
// at each control plane that stores them or gets copies of them, and a pull request that opens an
// inbound fails.
func TestRecipeBesideControlPlanes(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts three API servers")
	}
	global, zones := kubetest.Start(t), map[string]*kubetest.Cluster{}
	prepare := func(c *kubetest.Cluster, zone string) {
		c.InstallLoose(kinds.All())
		installWebhook(t, c, zone)
		for _, namespace := range []string{"kuma-system", "shop"} {
			c.Apply(kubetest.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}})
		}
		c.Apply(kubetest.Object{"apiVersion": "kuma.io/v1alpha1", "kind": "Mesh", "metadata": map[string]any{"name": "default"}, "spec": map[string]any{}})
	}
	prepare(global, "")
	written := applyAll(t, global, filesOfGlobal)
	for _, zone := range []string{"east", "west"} {
		c := kubetest.Start(t)
		zones[zone] = c
		prepare(c, zone)
		files := workloadsOfZones
		if zone == "east" {
			files += "---\n" + filesOfEast
		}
		for _, o := range applyAll(t, c, files) {
			global.Apply(copyOf(t, c, o, ""))
		}
		for _, o := range written {
			c.Apply(copyOf(t, global, o, "global"))
		}
	}
	export, pullRequest := readWorkflowFile(t, "export.yaml"), readWorkflowFile(t, "pull-request.yaml")
	oneOfGlobal := filesOfGlobal[:strings.Index(filesOfGlobal, "---\n")]
	opens := func(files string) string {
		return strings.Replace(files, "rules: [{default: {allow: [{", `rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://td/stranger"}}, {`, 1)
	}
	for _, c := range []struct {
		name    string
		cluster *kubetest.Cluster
		zone    string // an option of the last step
		files   string
	}{
		{"files of a zone at the zone", zones["east"], "east", filesOfEast},
		{"without the name of the zone", zones["east"], "", filesOfEast},
		{"files of the global control plane at a zone", zones["east"], "global", filesOfGlobal},
		{"files of the global control plane at the other zone", zones["west"], "global", filesOfGlobal},
		{"files of the global control plane there", global, "global", filesOfGlobal},
		{"without the name of the global control plane", global, "", filesOfGlobal},
		{"one of its files", global, "", oneOfGlobal},
		{"files of a zone at the global control plane", global, "east", filesOfEast},
		{"without the name of that zone", global, "", filesOfEast},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, changed := range []bool{false, true} {
				head := "# a comment\n" + c.files
				if changed {
					head = opens(c.files)
				}
				r := newPullRequest(t, c.files, head)
				var steps []string
				for _, step := range append(export.Jobs["export"].Steps, pullRequest.Jobs["mesh"].Steps...) {
					switch {
					case strings.HasPrefix(step.Run, "meshmatch export "):
						steps = append(steps, "mkdir export", step.Run, "mv mesh.yaml export")
					case step.Name == "Compare with the mesh":
						if c.zone != "" {
							step.Run += " --zone " + c.zone
						}
						steps = append(steps, step.Run)
					}
				}
				out, err := r.shell(t, strings.Join(steps, "\n"), "KUBECONFIG="+c.cluster.Kubeconfig)
				if opened := strings.Contains(out, "MM7001"); (err != nil) != changed || opened != changed || !changed && strings.TrimSpace(out) != "" {
					t.Errorf("changed: %v, %v: %s", changed, err, out)
				}
			}
		})
	}
}

// applyAll applies documents, and returns them.
func applyAll(t *testing.T, c *kubetest.Cluster, files string) (objects []kubetest.Object) {
	t.Helper()
	for text := range strings.SplitSeq(files, "---\n") {
		var document map[string]any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		o := kubetest.Object(document)
		c.Apply(o)
		objects = append(objects, o)
	}
	return objects
}

// copyOf returns the copy of a stored object that Kuma sends to other control planes: it has
// another name, is in the namespace of the control plane, and keeps its display name. The origin
// is set if it is given.
func copyOf(t *testing.T, c *kubetest.Cluster, o kubetest.Object, origin string) kubetest.Object {
	t.Helper()
	var stored struct {
		Metadata struct {
			Name   string
			Labels map[string]string
		}
	}
	if _, answer := c.Do(http.MethodGet, o.Path(), nil); json.Unmarshal(answer, &stored) != nil {
		t.Fatalf("%s: %s", o.Path(), answer)
	}
	labels := maps.Clone(stored.Metadata.Labels)
	if origin != "" {
		labels["kuma.io/origin"] = origin
	}
	hash := fnv.New64a()
	for _, part := range []string{labels["kuma.io/mesh"], stored.Metadata.Name, labels["kuma.io/zone"], labels["k8s.kuma.io/namespace"]} {
		_, _ = hash.Write([]byte(part))
	}
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	suffix := []byte(fmt.Sprintf("%x", hash.Sum64()))
	for i, letter := range suffix {
		suffix[i] = letters[int(letter)%len(letters)]
	}
	all := map[string]any{}
	for key, value := range labels {
		all[key] = value
	}
	return kubetest.Object{"apiVersion": o["apiVersion"], "kind": o["kind"], "spec": o["spec"], "metadata": map[string]any{
		"name": stored.Metadata.Name + "-" + string(suffix), "namespace": "kuma-system", "labels": all,
		"annotations": map[string]any{"kuma.io/display-name": stored.Metadata.Name},
	}}
}
