package webhook_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/webhook"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// written is a document as a person writes it for a control plane.
type written struct {
	kind, namespace, name, spec, role string
	global                            bool // stored by the global control plane
}

var specs = map[string][]struct{ spec, role string }{
	"MeshTimeout": {
		{`{to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]}`, "consumer"},
		{`{to: [{targetRef: {kind: MeshService, name: s}, default: {idleTimeout: 1h}}]}`, "producer"},
		{`{rules: [{default: {idleTimeout: 1h}}]}`, "workload-owner"},
	},
	"MeshTrafficPermission": {{`{rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://td/a"}}]}}]}`, "workload-owner"}},
	"MeshService":           {{`{selector: {dataplaneTags: {app: s}}, ports: [{port: 80}]}`, ""}},
}

// document returns a document with labels; none: as a person writes it.
func (w *written) document(name, namespace string, labels []string) string {
	head := fmt.Sprintf("type: %s\nmesh: m\nname: %s\n", w.kind, name)
	if len(labels) > 0 {
		head += "labels: {" + strings.Join(labels, ", ") + "}\n"
	}
	if namespace != "" {
		head = fmt.Sprintf("apiVersion: kuma.io/v1alpha1\nkind: %s\nmetadata: {name: %s, namespace: %s, labels: {%s}}\n",
			w.kind, name, namespace, strings.Join(append(labels, "kuma.io/mesh: m"), ", "))
	}
	return head + "spec: " + w.spec + "\n"
}

// stored returns the document as the control plane of zone east, or the global one, has it,
// written from the facts about Kuma's webhooks.
func (w *written) stored(atGlobal bool) string {
	labels := []string{"kuma.io/display-name: " + w.name}
	if w.namespace != "" {
		labels = append(labels, "k8s.kuma.io/namespace: "+w.namespace)
	}
	if w.role != "" && w.namespace != "" {
		role := w.role
		if w.namespace == "kuma-system" {
			role = "system"
		}
		labels = append(labels, "kuma.io/policy-role: "+role)
	}
	namespace := w.namespace
	if namespace != "" {
		namespace = "kuma-system"
	}
	switch inZone := append(labels, "kuma.io/origin: zone", "kuma.io/zone: east"); {
	case !w.global && !atGlobal:
		return w.document(w.name, w.namespace, inZone)
	case !w.global:
		return w.document(resource.SyncedName("m", w.name, "east", w.namespace), namespace, inZone)
	case atGlobal:
		return w.document(w.name, w.namespace, labels)
	}
	return w.document(resource.SyncedName("m", w.name, "", w.namespace), namespace, append(labels, "kuma.io/origin: global"))
}

// The files of both control planes, joined with what the control plane of a zone or the global
// one has stored of them, are the same resources: by identity, labels and KRI.
func TestStoreGivesWhatIsStored(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		kubernetes, atGlobal := r.IntN(2) == 0, r.IntN(2) == 0
		var files, stored strings.Builder
		for i := range 1 + r.IntN(8) {
			kind := []string{"MeshTimeout", "MeshTrafficPermission", "MeshService"}[r.IntN(3)]
			spec := specs[kind][r.IntN(len(specs[kind]))]
			w := written{kind: kind, name: fmt.Sprint("r", i), spec: spec.spec, role: spec.role, global: r.IntN(3) == 0 && kind != "MeshService"}
			w.global = w.global && (i > 0 || !atGlobal) // without a copy of a zone nothing shows a control plane
			if kubernetes {
				w.namespace = []string{"app", "kuma-system", "shop"}[r.IntN(3)]
			}
			if w.global && kubernetes {
				w.namespace = "kuma-system"
			}
			fmt.Fprintf(&files, "---\n%s", w.document(w.name, w.namespace, nil))
			fmt.Fprintf(&stored, "---\n%s", w.stored(atGlobal))
		}
		have, file := decode(t, stored.String()), decode(t, files.String())
		if err := webhook.NewControlPlane("", have, file).Store(file, semantics.Kuma); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want, got := metas(have), metas(file)
		if fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("seed %d: stored\n%v\nfiles\n%v", seed, want, got)
		}
	}
}

// A document that names its zone keeps it. One that could be of several zones is an error, and
// nothing changes in targetref or where no control plane has stored anything.
func TestStoreOfOthers(t *testing.T) {
	zone := func(name string) string {
		w := written{kind: "MeshService", name: "s-" + name, spec: specs["MeshService"][0].spec}
		return w.document(w.name, "", []string{"kuma.io/origin: zone", "kuma.io/zone: " + name})
	}
	policy := written{kind: "MeshTimeout", name: "p", spec: specs["MeshTimeout"][0].spec}
	for name, c := range map[string]struct {
		stored, file, zone, origin, inZone string
		by                                 semantics.Semantics
		err                                error
	}{
		"the only zone":         {zone("east"), policy.document("p", "", nil), "", "zone", "east", semantics.Kuma, nil},
		"the label":             {zone("east") + "---\n" + zone("west"), policy.document("p", "", []string{"kuma.io/zone: west"}), "", "zone", "west", semantics.Kuma3, nil},
		"given":                 {zone("east"), policy.document("p", "", nil), "west", "zone", "west", semantics.Kuma, nil},
		"given, nothing stored": {"", policy.document("p", "", nil), "global", "", "", semantics.Kuma, nil},
		"several zones":         {zone("east") + "---\n" + zone("west"), policy.document("p", "", nil), "", "", "", semantics.Kuma, webhook.ErrSeveralZones},
		"nothing stored":        {"", policy.document("p", "", nil), "", "", "", semantics.Kuma, nil},
		"targetref":             {zone("east"), policy.document("p", "", nil), "", "", "", semantics.TargetRef, nil},
	} {
		t.Run(name, func(t *testing.T) {
			have, file := new(resource.Set), decode(t, c.file)
			if c.stored != "" {
				have = decode(t, c.stored)
			}
			if err := webhook.NewControlPlane(c.zone, have).Store(file, c.by); !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			labels := file.Policies[0].Labels
			if origin, zone := labels.Value(resource.OriginLabel), labels.Value(resource.ZoneTag); origin != c.origin || c.err == nil && zone != c.inZone {
				t.Errorf("origin %q and zone %q, want %q and %q", origin, zone, c.origin, c.inZone)
			}
		})
	}
}

func decode(t *testing.T, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return set
}

func metas(set *resource.Set) (all []string) {
	for _, p := range set.Policies {
		all = append(all, fmt.Sprint(p.ID, labelsOf(p.Labels)))
	}
	for _, o := range set.Objects {
		all = append(all, fmt.Sprint(o.Identity().ID, labelsOf(o.Identity().Labels)))
	}
	return all
}

// labelsOf returns labels without that of the mesh, which a person may write.
func labelsOf(labels resource.Tags) string {
	var text []string
	for _, l := range labels {
		if l.Key != "kuma.io/mesh" {
			text = append(text, l.Key+"="+l.Value)
		}
	}
	return strings.Join(text, " ")
}
