package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// object is a part of a document.
type object map[string]any

// meta is what a control plane stores about a resource.
type meta struct {
	kind, name string
	// namespace is the one where the resource was made; "" on universal.
	namespace string
	// zone made the resource; "" is the global control plane.
	zone   string
	labels map[string]string
	role   string // of a policy
	// global reports a kind that belongs to no mesh.
	global bool
	// top reports that universal documents have the spec at their top.
	top bool
}

// add adds a resource to the world as its control plane has stored it.
func (w *exportedWorld) add(m *meta, spec, status object) {
	labels := map[string]string{"kuma.io/origin": w.origin(m.zone), "kuma.io/display-name": m.name}
	if !m.global {
		labels["kuma.io/mesh"] = mesh
	}
	if m.zone != "" {
		labels["kuma.io/zone"] = m.zone
	}
	if m.namespace != "" {
		labels["k8s.kuma.io/namespace"] = m.namespace
	}
	if m.role != "" {
		labels["kuma.io/policy-role"] = m.role
	}
	maps.Copy(labels, m.labels)
	if w.Kubernetes {
		w.documents = append(w.documents, w.customResource(m, labels, spec, status))
	} else {
		w.documents = append(w.documents, w.universal(m, labels, spec, status))
	}
}

// origin returns the label of the last hop: what a control plane made itself, or got.
func (w *exportedWorld) origin(zone string) string {
	if zone == w.Zone && zone != "" || w.Zone == "" && zone != "" {
		return "zone"
	}
	return "global"
}

// isCopy reports whether another control plane than that of the world made the resource.
func (w *exportedWorld) isCopy(m *meta) bool { return m.zone != w.Zone }

// inAnnotations are labels that Kubernetes keeps as annotations.
var inAnnotations = []string{"kuma.io/display-name", "kuma.io/workload", "k8s.kuma.io/service-account"}

func (w *exportedWorld) customResource(m *meta, labels map[string]string, spec, status object) object {
	annotations := map[string]string{}
	for _, key := range inAnnotations {
		if value, ok := labels[key]; ok {
			annotations[key] = value
			delete(labels, key)
		}
	}
	metadata := object{
		"name": w.storedName(m), "labels": labels, "annotations": annotations, "uid": "5f2f8f9e-4d3e-4f6a-9d5e-0123456789ab",
		"resourceVersion": "123456", "generation": 3, "creationTimestamp": created,
		"managedFields": []object{{"manager": "kuma-cp", "operation": "Update", "apiVersion": "kuma.io/v1alpha1"}},
	}
	if !m.global {
		metadata["namespace"] = m.namespace
		if w.isCopy(m) {
			metadata["namespace"] = "kuma-system"
		}
	}
	document := object{"apiVersion": "kuma.io/v1alpha1", "kind": m.kind, "metadata": metadata}
	if m.top && !m.global {
		document["mesh"] = mesh
	}
	if spec != nil {
		document["spec"] = spec
	}
	if status != nil {
		document["status"] = status
	}
	return document
}

func (w *exportedWorld) universal(m *meta, labels map[string]string, spec, status object) object {
	document := object{
		"type": m.kind, "name": w.storedName(m), "labels": labels, "kri": "kri_of_the_control_plane",
		"creationTime": created, "modificationTime": created,
	}
	if !m.global {
		document["mesh"] = mesh
	}
	switch {
	case m.top:
		maps.Copy(document, spec)
	case spec != nil:
		document["spec"] = spec
	}
	if status != nil {
		document["status"] = status
	}
	if m.kind == "MeshService" || m.kind == "MeshExternalService" || m.kind == "MeshMultiZoneService" {
		document["snis"] = []object{{"port": 80, "sni": "sni.of.the.control.plane"}}
	}
	return document
}

// Remove removes the documents of a kind in which a text is, and returns how many there were.
func (w *exportedWorld) Remove(kind, text string) int {
	before := len(w.documents)
	w.documents = slices.DeleteFunc(w.documents, func(document object) bool {
		data, err := json.Marshal(document)
		must(err)
		return (document["kind"] == kind || document["type"] == kind) && bytes.Contains(data, []byte(text))
	})
	return before - len(w.documents)
}

// Kinds returns the kinds of the documents, sorted.
func (w *exportedWorld) Kinds() []string {
	kinds := map[string]bool{}
	for _, document := range w.documents {
		kinds[kindOf(document)] = true
	}
	return slices.Sorted(maps.Keys(kinds))
}

func kindOf(document object) string {
	for _, field := range []string{"kind", "type"} {
		if kind, ok := document[field].(string); ok {
			return kind
		}
	}
	return ""
}

// Break replaces a random field of a document of a kind by a value that it may not have, and
// returns what it replaced. A control plane of another version could store such a document.
func (w *exportedWorld) Break(kind string, r *rand.Rand) string {
	var of []int
	for i, document := range w.documents {
		if kindOf(document) == kind {
			of = append(of, i)
		}
	}
	at := of[r.IntN(len(of))]
	data, err := json.Marshal(w.documents[at])
	must(err)
	var document any
	must(json.Unmarshal(data, &document))
	type place struct {
		path  string
		value any
		set   func(any)
	}
	var places []place
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if path == "" && slices.Contains([]string{"apiVersion", "kind", "type", "name", "mesh", "metadata", "labels", "creationTime", "kri"}, key) {
					continue
				}
				places = append(places, place{path + "." + key, v[key], func(next any) { v[key] = next }})
				walk(path+"."+key, v[key])
			}
		case []any:
			for i := range v {
				places = append(places, place{fmt.Sprintf("%s[%d]", path, i), v[i], func(next any) { v[i] = next }})
				walk(fmt.Sprintf("%s[%d]", path, i), v[i])
			}
		}
	}
	walk("", document)
	if len(places) == 0 {
		return ""
	}
	p := places[r.IntN(len(places))]
	values := []any{nil, "", "zzz", -5, 3.7, true, []any{}, []any{1}, map[string]any{}, map[string]any{"a": 1}}
	value := values[r.IntN(len(values))]
	p.set(value)
	w.documents[at] = document.(map[string]any)
	return fmt.Sprintf("%s%s: %v instead of %v", kind, p.path, value, p.value)
}

// YAML returns the documents as the client of the control plane prints them: a list of
// Kubernetes, or a stream of universal documents. JSON is YAML.
func (w *exportedWorld) YAML() []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", " ")
	if w.Kubernetes {
		must(encoder.Encode(object{"apiVersion": "v1", "kind": "List", "items": w.documents, "metadata": object{"resourceVersion": ""}}))
		return out.Bytes()
	}
	for _, document := range w.documents {
		out.WriteString("---\n")
		must(encoder.Encode(document))
	}
	return out.Bytes()
}

// Lists returns the answers of the REST API of a universal control plane to a request for each
// kind, by the kind: a list with a total and the next page, which is the last.
func (w *exportedWorld) Lists() map[string][]byte {
	items := map[string][]object{}
	for _, document := range w.documents {
		kind := document["type"].(string)
		items[kind] = append(items[kind], document)
	}
	out := map[string][]byte{}
	for kind, list := range items {
		data, err := json.Marshal(object{"total": len(list), "items": list, "next": nil})
		must(err)
		out[kind] = data
	}
	return out
}

// must panics: documents of maps and texts can be encoded.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
