package cli

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// installWebhook makes the API server call a webhook that adds the labels of Kuma's to each
// object of Kuma that is created or updated. Zone is the zone of the control plane; the global
// one has none. The webhook ends with the test.
func installWebhook(t *testing.T, c *kubetest.Cluster, zone string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reviewLabels(w, r, zone) }))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c.Apply(kubetest.Object{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration", "metadata": map[string]any{"name": "kuma"},
		"webhooks": []any{map[string]any{
			"name": "labels.kuma.io", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
			"clientConfig": map[string]any{"url": server.URL, "caBundle": base64.StdEncoding.EncodeToString(ca)},
			"rules": []any{map[string]any{
				"apiGroups": []any{resource.KumaGroup}, "apiVersions": []any{"*"}, "resources": []any{"*"}, "operations": []any{"CREATE", "UPDATE"},
			}},
		}},
	})
	probe := kubetest.Object{
		"apiVersion": resource.KumaGroup + "/" + resource.KumaVersion, "kind": "MeshTimeout",
		"metadata": map[string]any{"name": "probe", "namespace": "default"}, "spec": map[string]any{"to": []any{}},
	}
	c.Wait("the webhook is called", func() bool {
		c.Apply(probe)
		_, answer := c.Do(http.MethodGet, probe.Path(), nil)
		var stored kubetest.Object
		return json.Unmarshal(answer, &stored) == nil && labelsOf(stored)["k8s.kuma.io/namespace"] != nil
	})
	c.Delete(probe)
}

// labelsOf returns the labels of an object, in a new map.
func labelsOf(o kubetest.Object) map[string]any {
	all := map[string]any{}
	labels, _ := metadataOf(o)["labels"].(map[string]any)
	maps.Copy(all, labels)
	return all
}

func metadataOf(o kubetest.Object) map[string]any {
	metadata, _ := o["metadata"].(map[string]any)
	return metadata
}

// reviewLabels answers a review with the labels that an object lacks.
func reviewLabels(w http.ResponseWriter, r *http.Request, zone string) {
	var in struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID    string          `json:"uid"`
			Object kubetest.Object `json:"object"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	patch, err := json.Marshal([]any{map[string]any{"op": "add", "path": "/metadata/labels", "value": withComputed(in.Request.Object, zone)}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind, "response": map[string]any{
		"uid": in.Request.UID, "allowed": true, "patchType": "JSONPatch", "patch": patch,
	}})
}

// ofGlobal are the kinds that only a global control plane makes.
var ofGlobal = []string{"Mesh", "MeshMultiZoneService", "Zone"}

// withComputed returns the labels of an object with those that Kuma 2.14 computes. Labels that
// the object has are kept.
func withComputed(o kubetest.Object, zone string) map[string]any {
	labels := labelsOf(o)
	add := func(key, value string) {
		if _, has := labels[key]; !has {
			labels[key] = value
		}
	}
	kind, _ := o["kind"].(string)
	namespace, _ := metadataOf(o)["namespace"].(string)
	if namespace != "" {
		add("kuma.io/mesh", "default")
	}
	if zone != "" && !slices.Contains(ofGlobal, kind) {
		add("kuma.io/origin", "zone")
		if labels["kuma.io/origin"] != "global" {
			add("kuma.io/zone", zone)
			add("kuma.io/env", "kubernetes")
		}
	}
	local := labels["kuma.io/origin"] != "global"
	if zone == "" {
		local = labels["kuma.io/origin"] != "zone"
	}
	spec, _ := o["spec"].(map[string]any)
	switch {
	case namespace == "" || !local:
	case kind == "Dataplane":
		add("k8s.kuma.io/namespace", namespace)
		labels["kuma.io/proxy-type"] = "sidecar"
	default:
		add("k8s.kuma.io/namespace", namespace)
		if spec["to"] != nil || spec["from"] != nil || spec["rules"] != nil || spec["default"] != nil {
			labels["kuma.io/policy-role"] = roleOf(spec, namespace)
		}
	}
	return labels
}

// roleOf returns the role of a policy.
func roleOf(spec map[string]any, namespace string) string {
	to, _ := spec["to"].([]any)
	switch {
	case namespace == resource.SystemNamespace:
		return "system"
	case len(to) == 0:
		return "workload-owner"
	}
	for _, item := range to {
		ref, _ := item.(map[string]any)["targetRef"].(map[string]any)
		if ref["kind"] != "MeshService" || ref["namespace"] != nil && ref["namespace"] != namespace {
			return "consumer"
		}
	}
	return "producer"
}
