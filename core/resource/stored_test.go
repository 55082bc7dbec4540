package resource_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// printed are documents in which a control plane has added what it likes: each form of the
// class, with a field that no version has, around the content and in it.
var printed = map[string]string{
	"creation time":     `{type: MeshTimeout, name: t, creationTime: "2026-01-01T00:00:00Z", nextYear: 1, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h, nextYear: 2s}}]}}`,
	"kri":               `{type: MeshTimeout, name: t, kri: kri_mt_default___t_, nextYear: [1], spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h, nextYear: 2s}}]}}`,
	"status":            `{type: MeshTimeout, name: t, status: {}, nextYear: {a: b}, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h, nextYear: 2s}}]}}`,
	"resource version":  `{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, nextYear: 1, metadata: {name: t, resourceVersion: "7"}, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h, nextYear: 2s}}]}}`,
	"uid":               `{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, nextYear: 1, metadata: {name: t, uid: a}, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h, nextYear: 2s}}]}}`,
	"a list of the API": `{"total": 1, "next": null, "items": [{"type": "MeshTimeout", "name": "t", "nextYear": 1, "spec": {"to": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1h", "nextYear": "2s"}}]}}]}`,
}

// What a control plane adds is no error where Kuma's documents are read: around the content it
// is dropped, and in the content it is a warning with its path. In targetref both are errors.
func TestUnknownFieldsOfAControlPlane(t *testing.T) {
	for name, text := range printed {
		t.Run(name, func(t *testing.T) {
			read := func(as diag.Reading) (*resource.Set, error) {
				loader := resource.Loader{Kinds: kinds.All(), As: as}
				return loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
			}
			for _, as := range []diag.Reading{diag.AsKuma2, diag.AsKuma3} {
				set, err := read(as)
				if err != nil || len(set.Policies) != 1 {
					t.Fatalf("%v: %v", set, err)
				}
				if len(set.Warnings) != 1 || !strings.HasSuffix(set.Warnings[0].Path, "spec.to[0].default.nextYear") || set.Warnings[0].Code != diag.FieldNotKnown {
					t.Errorf("warnings %v", set.Warnings)
				}
			}
			if _, err := read(diag.AsTargetRef); err == nil || strings.Count(err.Error(), "unknown field") != 2 {
				t.Errorf("targetref: %v", err)
			}
			written := strings.NewReplacer(`creationTime: "2026-01-01T00:00:00Z", `, "", "kri: kri_mt_default___t_, ", "", "status: {}, ", "", `, resourceVersion: "7"`, "", ", uid: a", "", `"total": 1, `, "").Replace(text)
			loader := resource.Loader{Kinds: kinds.All(), As: diag.AsKuma2}
			if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(written)}); err == nil || strings.Count(err.Error(), "unknown field") != 2 {
				t.Errorf("written by a person: %v", err)
			}
		})
	}
}

// A field that is not known in a permission could limit what it allows, so the permission is
// left out, and no other document.
func TestUnknownFieldOfAStoredPermission(t *testing.T) {
	const text = `
{type: MeshTrafficPermission, name: p, kri: k, labels: {kuma.io/origin: zone}, spec: {rules: [{default: {allow: [{sni: a, nextYear: 1}]}}]}}
---
{type: MeshService, name: s, kri: k, snis: [{port: 80, sni: x, nextYear: 1}], spec: {ports: [{port: 80}]}}
`
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
	if err != nil || len(set.LeftOut) != 1 || set.LeftOut[0].Kind != "MeshTrafficPermission" || !set.LeftOut[0].Stored || len(set.Objects) != 1 {
		t.Fatalf("%+v: %v", set, err)
	}
	if set, err = set.ReadAs(diag.AsKuma2, false); err != nil || len(set.Warnings) != 0 {
		t.Errorf("%v: %v", set, err)
	}
	if _, err := set.ReadAs(diag.AsTargetRef, false); err == nil {
		t.Error("targetref leaves a permission out")
	}
	loader.Strict = true
	if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)}); err == nil {
		t.Error("Strict leaves a permission out")
	}
}

// What a control plane adds around the content of a permission limits nothing.
func TestUnknownFieldAroundAStoredPermission(t *testing.T) {
	for _, text := range []string{
		`{type: MeshTrafficPermission, name: p, kri: k, nextYear: 1, spec: {rules: [{default: {allow: [{sni: a}]}}]}}`,
		`{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: shop, uid: a}, nextYear: 1, spec: {rules: [{default: {allow: [{sni: a}]}}]}}`,
	} {
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
		if err != nil || len(set.LeftOut) != 0 || len(set.Policies) != 1 {
			t.Fatalf("%s: %+v: %v", text, set, err)
		}
		if set, err := set.ReadAs(diag.AsKuma2, false); err != nil || len(set.Warnings) != 0 {
			t.Errorf("%s: %v: %v", text, set.Warnings, err)
		}
		loader.As = diag.AsTargetRef
		if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)}); err == nil {
			t.Errorf("%s: targetref accepts it", text)
		}
	}
}

// A field of the spec that stands beside it is no field that a control plane adds: without its
// targetRef the permission would hold for the whole mesh.
func TestMisplacedFieldOfAStoredPermission(t *testing.T) {
	for _, field := range []string{"targetRef: {kind: Dataplane, labels: {app: a}}", "rules: []", "from: []"} {
		text := "{type: MeshTrafficPermission, name: p, kri: k, labels: {kuma.io/origin: zone}, " + field + ", spec: {rules: [{default: {allow: [{sni: a}]}}]}}"
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
		if err == nil && len(set.Policies) > 0 || err != nil && !strings.Contains(err.Error(), "unknown field") {
			t.Errorf("%s: %+v: %v", field, set, err)
		}
	}
}

// The JSON of protocol buffers has two spellings of a field.
func TestSnakeCase(t *testing.T) {
	for _, text := range []string{
		"{type: Mesh, name: default, mtls: {enabled_backend: ca, backends: [{name: ca, type: builtin}]}, skip_creating_initial_policies: ['*']}",
		"{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, service_port: 81, tags: {kuma.io/service: a}}], transparent_proxying: {redirect_port_inbound: 15006}}}",
		"{apiVersion: kuma.io/v1alpha1, kind: ZoneIngress, metadata: {name: i}, spec: {zone: a, networking: {address: 10.0.0.1, port: 1, advertised_address: 10.0.0.2, advertised_port: 2}}}",
	} {
		loader := resource.Loader{Kinds: kinds.All()}
		if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)}); err != nil {
			t.Error(err)
		}
		both := strings.Replace(strings.Replace(text, "service_port: 81", "service_port: 81, servicePort: 82", 1), "enabled_backend: ca", "enabled_backend: ca, enabledBackend: ca", 1)
		if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(both)}); both != text && err == nil {
			t.Errorf("accepted twice: %s", both)
		}
	}
	loader := resource.Loader{Kinds: kinds.All()}
	if _, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte("{type: MeshTimeout, name: t, spec: {to: [{target_ref: {kind: Mesh}, default: {idleTimeout: 1s}}]}}")}); err == nil {
		t.Error("a policy has a field in snake case")
	}
}

// Values that YAML 1.1 reads otherwise, in every form of the reader.
func TestScalarsOfYAML11(t *testing.T) {
	for _, text := range []string{
		"type: Dataplane\nname: d\nlabels: {a: yes, b: No, c: 'yes', d: on2}\nnetworking:\n  address: 10.0.0.1\n  inbound: [{port: 0100, tags: {kuma.io/service: y}}]\n",
		"type: Dataplane\nname: d\nlabels: &l\n  a: yes\n  b: No\n  c: \"yes\"\n  d: on2\nnetworking:\n  address: 10.0.0.1\n  inbound: [{port: 0100, tags: {kuma.io/service: y}}]\n",
	} {
		loader := resource.Loader{Kinds: kinds.All(), As: diag.AsKuma2}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range set.Warnings {
			if w.Code == diag.ScalarOfYAML11 {
				got = append(got, w.What)
			}
		}
		slices.Sort(got)
		want := []string{
			"Kuma reads 0100 as the number 64, and these answers as the number 100", `Kuma reads No as false, and these answers as the text "No"`,
			`Kuma reads y as true, and these answers as the text "y"`, `Kuma reads yes as true, and these answers as the text "yes"`,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
		if set.Dataplanes[0].Inbounds[0].Port != 100 {
			t.Errorf("port %d", set.Dataplanes[0].Inbounds[0].Port)
		}
	}
}
