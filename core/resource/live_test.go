package resource_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The files of testdata/live are outputs of live systems and their tools. An
// archive has the input and, in the file want, the resulting set. UPDATE=1
// writes want.
func TestLiveInputs(t *testing.T) {
	golden.Archives(t, "testdata/live/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		loader := resource.Loader{Kinds: kinds.All()}
		var inputs []resource.Input
		for _, f := range archive.Files {
			if f.Name != "want" {
				inputs = append(inputs, resource.Input{Name: f.Name, Data: f.Data})
			}
		}
		set, err := loader.Decode(t.Context(), inputs...)
		if err != nil {
			t.Fatal(err)
		}
		return func(t *testing.T, f *txtar.File) (string, bool) { return summary(t, set), f.Name == "want" }
	})
}

// summary prints a set: its resources with their labels, the number of skipped
// documents and the warnings.
func summary(t *testing.T, set *resource.Set) string {
	var b strings.Builder
	for _, m := range set.Meshes {
		fmt.Fprintf(&b, "%s [%s]\n", m.ID, m.Labels)
	}
	for _, d := range set.Dataplanes {
		fmt.Fprintf(&b, "%s [%s] %s\n", d.ID, d.Labels, d.Address)
		for _, in := range d.Inbounds {
			fmt.Fprintf(&b, "  inbound %s %s:%d to %s:%d %s [%s] notReady=%t\n", in.Name, in.Address, in.Port, in.ServiceAddress, in.ServicePort, in.Protocol, in.Tags, in.NotReady)
		}
		for _, out := range d.Outbounds {
			fmt.Fprintf(&b, "  outbound %s:%d [%s]", out.Address, out.Port, out.Tags)
			if out.Backend != nil {
				fmt.Fprintf(&b, " %+v", *out.Backend)
			}
			b.WriteByte('\n')
		}
		for _, l := range d.Listeners {
			fmt.Fprintf(&b, "  listener %+v\n", l)
		}
		if d.Gateway != nil {
			fmt.Fprintf(&b, "  gateway builtin=%t [%s]\n", d.Gateway.Builtin, d.Gateway.Tags)
		}
		if d.TransparentProxy != nil {
			fmt.Fprintf(&b, "  transparent %+v\n", *d.TransparentProxy)
		}
	}
	for _, o := range set.Objects {
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s %s\n", o.Identity().ID, o.KRI(""), data)
		if destination, ok := o.(resource.Destination); ok {
			fmt.Fprintf(&b, "  created %s ports %v status %+v\n", destination.Created().Format(time.RFC3339), destination.Ports(), *destination.State())
		}
	}
	for _, p := range set.Policies {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", p.ID, data)
	}
	if set.Skipped != nil {
		skipped, err := json.Marshal(set.Skipped)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "skipped %s\n", skipped)
	}
	for _, w := range set.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w.Error())
	}
	return b.String()
}

// A policy with an empty list is a warning at its spec; a policy without any list is
// an error.
func TestPolicyWithoutItems(t *testing.T) {
	for document, want := range map[string]string{
		"{type: MeshHealthCheck, name: a, spec: {to: []}}":                                                            "in.yaml:1:40: spec: the policy has no items: it sets nothing; add items to to, or remove the policy",
		"{type: MeshTLS, name: a, spec: {from: []}}":                                                                  "in.yaml:1:32: spec: the policy has no items: it sets nothing; add items to from, rules, or remove the policy",
		"{type: MeshTLS, name: a, spec: {rules: [{default: {}}]}}":                                                    "",
		"{type: MeshTLS, name: a, spec: {default: {}}}":                                                               "",
		"{type: MeshPassthrough, name: a, spec: {default: {}}}":                                                       "",
		"{type: MeshRetry, name: a, spec: {to: [{targetRef: {kind: Mesh}, default: {tcp: {maxConnectAttempt: 1}}}]}}": "",
	} {
		set, errs := decode(t, document)
		if errs != "" {
			t.Fatal(errs)
		}
		got := ""
		for _, w := range set.Warnings {
			got += w.Error()
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", document, got, want)
		}
	}
}
