package resource_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

func decode(t *testing.T, text string) (*resource.Set, string) {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), As: diag.AsTargetRef}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(text)})
	if err != nil {
		return nil, err.Error()
	}
	return set, ""
}

var withoutPositions = cmp.Options{
	cmpopts.IgnoreTypes(diag.Position{}),
	cmpopts.IgnoreUnexported(resource.Dataplane{}),
	cmp.Comparer(func(a, b *resource.Kind) bool { return a.Name == b.Name }),
}

func TestBothSpellings(t *testing.T) {
	universal, errs := decode(t, `
type: MeshTimeout
mesh: prod
name: p
labels: {k8s.kuma.io/namespace: shop, kuma.io/mesh: prod}
spec:
  targetRef: {kind: MeshSubset, tags: {a: "*"}}
  to: [{targetRef: {kind: MeshService, name: x}, default: {idleTimeout: 60s}}]
---
type: Dataplane
mesh: prod
name: d
labels: {k8s.kuma.io/namespace: shop, kuma.io/mesh: prod}
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: x}}]}
`)
	if errs != "" {
		t.Fatal(errs)
	}
	kubernetes, errs := decode(t, `
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata:
  name: p
  namespace: shop
  labels: {k8s.kuma.io/namespace: shop, kuma.io/mesh: prod}
  creationTimestamp: "2026-01-01T00:00:00Z"
spec:
  targetRef: {kind: MeshSubset, tags: {a: "*"}}
  to: [{targetRef: {kind: MeshService, name: x}, default: {idleTimeout: 60s}}]
---
apiVersion: kuma.io/v1alpha1
kind: Dataplane
metadata: {name: d, namespace: shop, labels: {k8s.kuma.io/namespace: shop, kuma.io/mesh: prod}}
spec:
  networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: x}}]}
`)
	if errs != "" {
		t.Fatal(errs)
	}
	if diff := cmp.Diff(universal, kubernetes, withoutPositions); diff != "" {
		t.Error(diff)
	}
	want := resource.ID{Kind: "MeshTimeout", Mesh: "prod", Namespace: "shop", Name: "p"}
	if got := universal.Policies[0].ID; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The Kubernetes spelling has the namespace in a field; the universal spelling
// prints it as a label.
func TestNamespaceIsPrinted(t *testing.T) {
	set, errs := decode(t, `
{apiVersion: kuma.io/v1alpha1, kind: MeshTLS, metadata: {name: a, namespace: shop, labels: {k8s.kuma.io/namespace: other, b: c}}, spec: {rules: []}}
---
{apiVersion: kuma.io/v1alpha1, kind: MeshTLS, metadata: {name: b, labels: {k8s.kuma.io/namespace: other}}, spec: {rules: []}}
---
{apiVersion: kuma.io/v1alpha1, kind: MeshTLS, metadata: {name: c, namespace: shop}, spec: {rules: []}}
`)
	if errs != "" {
		t.Fatal(errs)
	}
	for _, p := range set.Policies {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, errs := decode(t, string(data))
		if errs != "" {
			t.Fatal(errs)
		}
		if strings.Contains(string(data), `"labels":{}`) {
			t.Errorf("labels that are not there are printed: %s", data)
		}
		if got := again.Policies[0]; got.ID != p.ID || got.HomeNamespace() != p.HomeNamespace() && p.Namespace != "" || got.Labels.Value("b") != p.Labels.Value("b") {
			t.Errorf("%+v is read again as %+v", p.ID, got.ID)
		}
	}
}

func meshNames(set *resource.Set) []string {
	var names []string
	for _, m := range set.Meshes {
		names = append(names, m.Name)
	}
	return names
}

// A Mesh has many fields that are not used here, in either spelling.
func TestMeshDocuments(t *testing.T) {
	set, errs := decode(t, "type: Mesh\nname: a\nmtls: {enabledBackend: ca}\nnetworking: {outbound: {passthrough: true}}\n---\napiVersion: kuma.io/v1alpha1\nkind: Mesh\nmetadata: {name: b}\nspec: {mtls: {}}\n")
	if errs != "" {
		t.Fatal(errs)
	}
	if diff := cmp.Diff([]string{"a", "b"}, meshNames(set)); diff != "" {
		t.Error(diff)
	}
	_, errs = decode(t, "type: Mesh\nname: a\nmlts: {}\n")
	if want := `in.yaml:3:1: mlts: unknown field`; !strings.HasPrefix(errs, want) {
		t.Errorf("got %s, want %s", errs, want)
	}
}

// A printed policy decodes to an equal one.
func TestPoliciesRoundTrip(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(t.Context(), "../../testdata/demo")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range set.Policies {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	again, errs := decode(t, b.String())
	if errs != "" {
		t.Fatal(errs)
	}
	ignoreLabels := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Labels" }, cmp.Ignore())
	if diff := cmp.Diff(set.Policies, again.Policies, withoutPositions, ignoreLabels); diff != "" {
		t.Error(diff)
	}
}

func TestTargetRefErrors(t *testing.T) {
	for name, c := range map[string]struct{ ref, want string }{
		"unknown kind":        {`{kind: MeshSubste, tags: {a: b}}`, `4:21: spec.targetRef.kind: unknown kind "MeshSubste"; did you mean "MeshSubset"?`},
		"gateway route":       {`{kind: MeshGatewayRoute, name: r}`, `4:21: spec.targetRef.kind: a top-level targetRef of MeshTimeout cannot be MeshGatewayRoute, because no resource of a proxy is made for its routes alone; use MeshGateway for the dataplanes of a gateway, or attach the policy to a MeshHTTPRoute`},
		"kind left out":       {`{name: web}`, `4:14: spec.targetRef.kind: required field is missing; one of Mesh, Dataplane, MeshSubset, MeshGateway, MeshService, MeshServiceSubset, MeshHTTPRoute, MeshTCPRoute`},
		"unknown field":       {`{kind: Mesh, nmae: x}`, `4:27: spec.targetRef.nmae: unknown field; did you mean "name"?`},
		"other mesh by name":  {`{kind: Mesh, name: other}`, `4:33: spec.targetRef.name: must be the policy's mesh "default", not "other"; leave it out`},
		"other mesh":          {`{kind: MeshService, name: x, mesh: other}`, `4:49: spec.targetRef.mesh: must be the policy's mesh "default", not "other"; leave it out`},
		"name missing":        {`{kind: MeshService}`, `4:14: spec.targetRef.name: required field is missing for kind MeshService`},
		"any service":         {`{kind: MeshService, name: "*"}`, `4:40: spec.targetRef.name: bad service name "*"; kind Mesh selects every service`},
		"tags missing":        {`{kind: MeshServiceSubset, name: x}`, `4:14: spec.targetRef.tags: required field is missing for kind MeshServiceSubset`},
		"foreign tags":        {`{kind: MeshService, name: x, tags: {a: b}}`, `4:49: spec.targetRef.tags: does not belong to kind MeshService; remove it`},
		"foreign labels":      {`{kind: Mesh, labels: {a: b}}`, `4:35: spec.targetRef.labels: does not belong to kind Mesh; remove it`},
		"foreign sectionName": {`{kind: MeshService, name: x, sectionName: http}`, `4:56: spec.targetRef.sectionName: does not belong to kind MeshService; remove it`},
		"foreign proxyTypes":  {`{kind: Dataplane, proxyTypes: [Sidecar]}`, `4:44: spec.targetRef.proxyTypes: does not belong to kind Dataplane; remove it`},
		"foreign namespace":   {`{kind: MeshService, name: x, namespace: y}`, `4:54: spec.targetRef.namespace: does not belong to kind MeshService; remove it`},
		"unknown proxy type":  {`{kind: Mesh, proxyTypes: [Sidecart]}`, `4:40: spec.targetRef.proxyTypes[0]: unknown value "Sidecart"; did you mean "Sidecar"?`},
		"labels and name":     {`{kind: Dataplane, name: x, labels: {a: b}}`, `4:49: spec.targetRef.labels: a Dataplane is selected by name or by labels, not by both; use one of them`},
		"bad tag key":         {`{kind: MeshSubset, tags: {"a b": c}}`, `4:40: spec.targetRef.tags["a b"]: bad tag key "a b"; a tag's key has letters, digits, '.', '_', ':', '/' and '-'`},
		"bad tag value":       {`{kind: MeshSubset, tags: {a: "*x"}}`, `4:43: spec.targetRef.tags.a: bad tag value "*x"; a tag's value has letters, digits, '.', '_', ':' and '-', or is * for any`},
		"port without quotes": {`{kind: Dataplane, sectionName: 80}`, `4:45: spec.targetRef.sectionName: must be a string, not the number 80; write it in quotes: "80"`},
		"several at once":     {`{kind: MeshService, tags: {a: b}, labels: {}}`, "4:14: spec.targetRef.name: required field is missing for kind MeshService\nin.yaml:4:40: spec.targetRef.tags: does not belong to kind MeshService; remove it\nin.yaml:4:56: spec.targetRef.labels: does not belong to kind MeshService; remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := decode(t, "type: MeshTimeout\nname: p\nspec:\n  targetRef: "+c.ref+"\n  to: []\n")
			if want := "in.yaml:" + c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestPolicyErrors(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"unknown kind":                 {"type: MeshTimeot\nname: p\nspec: {}", `in.yaml:1:7: type: unknown kind "MeshTimeot"; did you mean "MeshTimeout"?`},
		"no resource":                  {"name: values\nreplicas: 3", `in.yaml:1:1: the document is no resource: it has neither a type nor a kind; leave it out: exclude it, or give files or directories of resources only`},
		"apiVersion of no resource":    {"apiVersion: v2\nname: chart", `in.yaml:1:1: the document is no resource: it has neither a type nor a kind; leave it out: exclude it, or give files or directories of resources only`},
		"a list":                       {"- {type: Mesh, name: a}", `in.yaml:1:1: must be a mapping, not a list; write each resource as a document of its own, after a line of ---`},
		"type with metadata":           {"type: MeshTLS\nmetadata: {name: p}\nspec: {rules: []}", `in.yaml:1:1: type: belongs to the universal spelling, but other fields to that of Kubernetes; write type, mesh and name, or apiVersion, kind and metadata`},
		"kind in the place of type":    {"mesh: default\nkind: MeshTLS\nname: p\nspec: {rules: []}", `in.yaml:2:1: kind: belongs to the spelling of Kubernetes, which has apiVersion and metadata too; write type, mesh and name, or apiVersion, kind and metadata`},
		"fields outside of the spec":   {"type: MeshTimeout\nname: p\ntargetRef: {kind: Mesh}", "in.yaml:1:1: spec: required field is missing; write targetRef below it\nin.yaml:3:1: targetRef: unknown field; one of \"type\", \"mesh\", \"name\", \"labels\", \"spec\", \"networking\""},
		"no type":                      {"name: a\nspec: {rules: []}", `in.yaml:1:1: type: required field is missing`},
		"no name":                      {"type: MeshTimeout\nspec: {rules: []}", `in.yaml:1:1: name: required field is missing`},
		"empty name":                   {"type: MeshTimeout\nname: ''\nspec: {rules: []}", `in.yaml:2:7: name: a resource's name must not be empty`},
		"no spec":                      {"type: MeshTimeout\nname: p", `in.yaml:1:1: spec: required field is missing`},
		"route as target":              {"type: MeshTLS\nname: p\nspec: {targetRef: {kind: MeshHTTPRoute, name: r}}", `in.yaml:3:26: spec.targetRef.kind: a top-level targetRef of MeshTLS cannot be MeshHTTPRoute; one of Mesh, Dataplane, MeshSubset, MeshGateway, MeshService, MeshServiceSubset`},
		"array of another kind":        {"type: MeshRetry\nname: p\nspec: {rules: []}", `in.yaml:3:15: spec.rules: MeshRetry has no rules; it has to`},
		"default in addition to rules": {"type: MeshTimeout\nname: p\nspec: {rules: [], default: {idleTimeout: 1s}}", `in.yaml:3:28: spec.default: default and rules are both present; it means one rule without matches`},
		"default in addition to from":  {"type: MeshTimeout\nname: p\nspec: {from: [], default: {idleTimeout: 1s}}", `in.yaml:3:14: spec.from: from and rules are both present; rules take the place of from`},
		"default of a to kind":         {"type: MeshRetry\nname: p\nspec: {default: {}}", `in.yaml:3:17: spec.default: MeshRetry has no default; it has to`},
		"no default":                   {"type: MeshTrace\nname: p\nspec: {}", `in.yaml:3:7: spec.default: required field is missing`},
		"item without default":         {"type: MeshRetry\nname: p\nspec: {to: [{targetRef: {}}]}", `in.yaml:3:13: spec.to[0].default: required field is missing`},
		"matches not allowed":          {"type: MeshTLS\nname: p\nspec: {rules: [{matches: [], default: {}}]}", `in.yaml:3:26: spec.rules[0].matches: rules of MeshTLS have no matches; remove it`},
		"networking":                   {"type: MeshTLS\nname: p\nspec: {rules: []}\nnetworking: {}", `in.yaml:4:13: networking: belongs to a Dataplane; remove it`},
		"wrong apiVersion":             {"apiVersion: v1\nkind: MeshTLS\nmetadata: {name: p}\nspec: {rules: []}", `in.yaml:1:13: apiVersion: unknown value "v1"; did you mean "kuma.io/v1alpha1"?`},
		"no kind":                      {"type: ''\nname: p\nspec: {}", `in.yaml:1:7: type: a resource's kind must not be empty; write one such as MeshTimeout`},
		"no kind, Kubernetes":          {"apiVersion: kuma.io/v1alpha1\nkind: ''\nmetadata: {name: p}\nspec: {}", `in.yaml:2:7: kind: a resource's kind must not be empty; write one such as MeshTimeout`},
		"foreign apiVersion":           {"apiVersion: apps/v1\nkind: MeshTLS\nmetadata: {name: p}\nspec: {rules: []}", `in.yaml:1:13: apiVersion: unknown value "apps/v1"; one of "kuma.io/v1alpha1"`},
		"no API version":               {"apiVersion: kuma.io\nkind: Deployment\nmetadata: {name: p}", `in.yaml:1:13: apiVersion: bad apiVersion "kuma.io"; write GROUP/VERSION, such as kuma.io/v1alpha1`},
		"misspelt, Kubernetes":         {"apiVersion: kuma.io/v1alpha1\nkind: MeshTimeot\nmetadata: {name: p}\nspec: {}", `in.yaml:2:7: kind: unknown kind "MeshTimeot"; did you mean "MeshTimeout"?`},
		"kind of another house":        {"type: Ingress\nname: p\nspec: {}", `in.yaml:1:7: type: unknown kind "Ingress"; did you mean "ZoneIngress"?`},
		"tag of a backend":             {"type: MeshTCPRoute\nname: p\nspec: {to: [{targetRef: {kind: MeshService, name: a}, rules: [{default: {backendRefs: [{kind: MeshServiceSubset, name: b, tags: {a: '*', c d: e, f: g h}}]}}]}]}", "in.yaml:3:138: spec.to[0].rules[0].default.backendRefs[0].tags[\"c d\"]: bad tag key \"c d\"; a tag's key has letters, digits, '.', '_', ':', '/' and '-'\nin.yaml:3:149: spec.to[0].rules[0].default.backendRefs[0].tags.f: bad tag value \"g h\"; a tag's value has letters, digits, '.', '_', ':' and '-', or is * for any"},
		"odd mesh in a label":          {"{apiVersion: kuma.io/v1alpha1, kind: MeshTLS, metadata: {name: a, labels: {kuma.io/mesh: \"a b\"}}, spec: {rules: []}}", `in.yaml:1:90: metadata.labels["kuma.io/mesh"]: must have no blanks and no control characters, not "a b"`},
		"odd name":                     {"{type: MeshTLS, name: \"a\\n\", spec: {rules: []}}", `in.yaml:1:23: name: must have no blanks and no control characters, not "a\n"`},
		"duplicate":                    {"type: MeshTLS\nname: p\nspec: {rules: []}\n---\ntype: MeshTLS\nname: p\nspec: {rules: []}", `in.yaml:5:1: name: duplicate MeshTLS "p" in mesh "default"; the first one is at in.yaml:1:1`},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := decode(t, c.doc)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDataplaneErrors(t *testing.T) {
	for name, c := range map[string]struct{ networking, want string }{
		"no address":          {`{}`, `3:13: networking.address: required field is missing`},
		"no port":             {`{address: 1.1.1.1, inbound: [{tags: {kuma.io/service: x}}]}`, `3:42: networking.inbound[0].port: required field is missing`},
		"no service":          {`{address: 1.1.1.1, inbound: [{port: 1, tags: {a: b}}]}`, `3:58: networking.inbound[0].tags.kuma.io/service: required tag is missing`},
		"port out of range":   {`{address: 1.1.1.1, inbound: [{port: 0, tags: {kuma.io/service: x}}]}`, `3:49: networking.inbound[0].port: bad port 0; a port is a number from 1 to 65535`},
		"any value":           {`{address: a, outbound: [{port: 1, tags: {a: "*"}}]}`, `3:57: networking.outbound[0].tags.a: bad tag value "*"; a tag's value has letters, digits, '.', '_', ':' and '-'`},
		"gateway and inbound": {`{address: 1.1.1.1, gateway: {}, inbound: [{port: 1, tags: {kuma.io/service: x}}]}`, `3:41: networking.gateway: gateway and inbound are both present; a gateway has no inbounds`},
		"state":               {`{address: 1.1.1.1, inbound: [{port: 1, tags: {kuma.io/service: x}, state: notReady}]}`, `3:87: networking.inbound[0].state: unknown value "notReady"; did you mean "NotReady"?`},
		"health":              {`{address: 1.1.1.1, inbound: [{port: 1, tags: {kuma.io/service: x}, health: true}]}`, `3:88: networking.inbound[0].health: must be a mapping, not true`},
		"probe":               {`{address: 1.1.1.1, inbound: [{port: 1, tags: {kuma.io/service: x}, serviceProbe: {interval: 0s}}]}`, `3:105: networking.inbound[0].serviceProbe.interval: must be longer than 0s`},
		"redirect port":       {`{address: a, transparentProxying: {redirectPortInbound: 70000}}`, `3:69: networking.transparentProxying.redirectPortInbound: bad port 70000; a port is a number from 1 to 65535, or 0 for none`},
		"IP family":           {`{address: a, transparentProxying: {ipFamilyMode: ipv4}}`, `3:62: networking.transparentProxying.ipFamilyMode: unknown value "ipv4"; did you mean "IPv4"?`},
		"no backend":          {`{address: a, outbound: [{backendRef: {kind: MeshService}}]}`, `3:50: networking.outbound[0].backendRef.name: required field is missing; or give labels`},
		"two backends":        {`{address: a, outbound: [{backendRef: {kind: MeshService, name: a, labels: {b: c}}}]}`, `3:87: networking.outbound[0].backendRef.labels: a backend is found by name or by labels, not by both; use one of them`},
		"backend kind":        {`{address: a, outbound: [{backendRef: {kind: MeshServic, name: a}}]}`, `3:57: networking.outbound[0].backendRef.kind: unknown value "MeshServic"; did you mean "MeshService"?`},
		"listener type":       {`{address: a, listeners: [{type: ZoneIngres, port: 1}]}`, `3:45: networking.listeners[0].type: unknown value "ZoneIngres"; did you mean "ZoneIngress"?`},
		"admin":               {`{address: a, admin: {prot: 1}}`, `3:34: networking.admin.prot: unknown field; did you mean "port"?`},
		"at two places":       {"{address: a}\nspec: {networking: {address: b}}", `4:20: spec.networking: networking is both at the top level and in spec; remove one`},
		"probes":              {"{address: a}\nprobes: {endpoints: [{inboundPort: 1, inboundPath: a, path: /a}]}", `4:52: probes.endpoints[0].inboundPath: must be a path that starts with /`},
		"metrics":             {"{address: a}\nmetrics: {conf: {a: ~}}", `4:21: metrics.conf.a: must not be null; leave the field out instead`},
		"envoy":               {"{address: a}\nspec: {envoy: {xdsTransportProtocolVariant: SOTW}}", `4:45: spec.envoy.xdsTransportProtocolVariant: unknown value "SOTW"; one of "DEFAULT", "DELTA_GRPC", "GRPC"`},
		"gateway type":        {`{address: a, gateway: {type: BULTIN}}`, `3:42: networking.gateway.type: unknown value "BULTIN"; did you mean "BUILTIN"?`},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := decode(t, "type: Dataplane\nname: d\nnetworking: "+c.networking)
			want := strings.Replace("in.yaml:"+c.want, "tags.kuma.io/service", `tags["kuma.io/service"]`, 1)
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// Listeners that Envoy refuses do not make a load fail (SPEC 11.1).
func TestBadListenersAreWarnings(t *testing.T) {
	for name, c := range map[string]struct{ networking, want string }{
		"host name":            {`{address: a, inbound: [{port: 1, tags: {kuma.io/service: x}}]}`, `3:23: networking.address: "a" is a host name, and the inbounds listen at it, so no proxy can serve the dataplane; write an IP address; a host name can be the advertisedAddress`},
		"inbound's host name":  {`{address: 1.1.1.1, inbound: [{port: 1, address: a, tags: {kuma.io/service: x}}]}`, `3:61: networking.inbound[0].address: "a" is a host name, which no listener can have, so no proxy can serve the dataplane; write an IP address`},
		"two listeners":        {`{address: 127.0.0.1, inbound: [{port: 1, servicePort: 2, tags: {kuma.io/service: x}}], outbound: [{port: 1, tags: {a: b}}]}`, `3:111: networking.outbound[0]: listens at 127.0.0.1:1, like inbound[0], so no proxy can serve the dataplane; give one of them another port or address`},
		"its own workload":     {`{address: 127.0.0.1, inbound: [{port: 1, tags: {kuma.io/service: x}}]}`, `3:44: networking.inbound[0]: the listener has the address of its own workload, 127.0.0.1:1, so no proxy can serve the dataplane; give it another servicePort, serviceAddress or address`},
		"all addresses":        {`{address: 0.0.0.0, inbound: [{port: 1, tags: {kuma.io/service: x}}]}`, `3:42: networking.inbound[0]: the listener at 0.0.0.0:1 has the address of its own workload too, 127.0.0.1, so no proxy can serve the dataplane; give it another servicePort, serviceAddress or address`},
		"all of IPv6":          {`{address: 1.1.1.1, inbound: [{port: 1, address: "::", serviceAddress: "::1", tags: {kuma.io/service: x}}]}`, `3:42: networking.inbound[0]: the listener at [::]:1 has the address of its own workload too, ::1, so no proxy can serve the dataplane; give it another servicePort, serviceAddress or address`},
		"all, of other family": {`{address: 1.1.1.1, inbound: [{port: 1, address: "::", tags: {kuma.io/service: x}}]}`, ``},
		"all, and elsewhere":   {`{address: 0.0.0.0, inbound: [{port: 1, serviceAddress: 1.1.1.1, tags: {kuma.io/service: x}}]}`, ``},
		"all, and other port":  {`{address: 0.0.0.0, inbound: [{port: 1, servicePort: 2, tags: {kuma.io/service: x}}]}`, ``},
		"transparent proxying": {`{address: 127.0.0.1, transparentProxying: {redirectPortOutbound: 1}, inbound: [{port: 1, tags: {kuma.io/service: x}}]}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			set, errs := decode(t, "type: Dataplane\nname: d\nnetworking: "+c.networking)
			if errs != "" {
				t.Fatal(errs)
			}
			var got []string
			for _, w := range set.Warnings {
				got = append(got, strings.TrimPrefix(w.Error(), "in.yaml:"))
			}
			if got := strings.Join(got, "\n"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestLoadTree(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, "tree", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("b/z.yml", "type: Mesh\nname: z")
	write("a.json", `{"type": "Mesh", "name": "a"}`)
	write("notes.txt", "not a resource")
	write(".hidden/c.yaml", "type: Mesh\nname: hidden")
	write(".d.yaml", "type: Mesh\nname: hidden")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "tree"), link); err != nil {
		t.Fatal(err)
	}
	loader := resource.Loader{Kinds: kinds.All(), Stdin: strings.NewReader("type: Mesh\nname: stdin")}
	set, err := loader.Load(t.Context(), link, resource.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "stdin", "z"}, meshNames(set)); diff != "" {
		t.Error(diff)
	}
	twice := filepath.Join(dir, "tree", "a.json")
	_, err = loader.Load(t.Context(), filepath.Join(dir, "tree"), filepath.Join(dir, "tree", "b", "..", "a.json"))
	if want := twice + ": is given twice; " + filepath.Join(dir, "tree") + " has it already"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := loader.Load(t.Context(), filepath.Join(dir, "nowhere")); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("got error %v", err)
	}
	write("bad.yaml", "type: Mash\nname: a")
	_, err = loader.Load(t.Context(), filepath.Join(dir, "nowhere"), filepath.Join(dir, "tree"))
	want := filepath.Join(dir, "nowhere") + ": cannot be read: no such file or directory; give a file, a directory or -\n" +
		filepath.Join(dir, "tree") + `/bad.yaml:1:7: type: unknown kind "Mash"; did you mean "Mesh"?`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if set, err := loader.Load(t.Context(), filepath.Join(dir, "tree")); err == nil || set != nil {
		t.Errorf("with an error: got %v, %v", set, err)
	}
	small := resource.Loader{Kinds: kinds.All(), Limits: strict.Limits{Bytes: 10, Depth: 5, Nodes: 100}}
	if _, err := small.Load(t.Context(), filepath.Join(dir, "tree", "a.json")); err == nil || !strings.Contains(err.Error(), "larger than the limit of 10 bytes") {
		t.Errorf("over the limit: got error %v", err)
	}
}

// A large file is decoded in pieces. The set is the same for any order of the
// documents.
func TestLoadLargeFileInAnyOrder(t *testing.T) {
	docs := make([]string, 3000)
	for i := range docs {
		docs[i] = fmt.Sprintf("type: MeshTimeout\nname: p%04d\nspec:\n  to:\n    - targetRef: {kind: MeshService, name: svc-%d}\n      default: {connectionTimeout: %ds}\n", i, i, 1+i)
	}
	first, errs := decode(t, strings.Join(docs, "---\n"))
	if errs != "" {
		t.Fatal(errs)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	second, errs := decode(t, strings.Join(docs, "---\n"))
	if errs != "" {
		t.Fatal(errs)
	}
	if len(first.Policies) != len(docs) {
		t.Fatalf("%d policies", len(first.Policies))
	}
	if diff := cmp.Diff(first, second, withoutPositions); diff != "" {
		t.Error(diff)
	}
	// Positions count from the start of the file, not from the start of the
	// piece.
	docs[2500] = strings.Replace(docs[2500], "default", "defualt", 1)
	_, errs = decode(t, strings.Join(docs, "---\n"))
	if want := fmt.Sprintf("in.yaml:%d:7: spec.to[0].defualt", 2500*7+6); !strings.Contains(errs, want) {
		t.Errorf("got %s, want it to have %s", errs, want)
	}
}

// A directory that cannot be read does not hide others. No user can read paths
// of more than a few thousand bytes.
func TestLoadGoesOnBehindUnreadableDirectory(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		name := strings.Repeat("a", 200)
		if err := root.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
		below, err := root.OpenRoot(name)
		if err != nil {
			t.Fatal(err)
		}
		root.Close()
		root = below
	}
	root.Close()
	bad := filepath.Join(dir, "b.yaml")
	if err := os.WriteFile(bad, []byte("type: Mash\nname: a"), 0o644); err != nil {
		t.Fatal(err)
	}
	loader := resource.Loader{Kinds: kinds.All()}
	_, err = loader.Load(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "aaa: cannot be read: file name too long") || !strings.Contains(err.Error(), bad+":1:7: ") {
		t.Errorf("got %v", err)
	}
}

func TestKRI(t *testing.T) {
	d := resource.Dataplane{Meta: resource.Meta{
		ID:     resource.ID{Mesh: "my_mesh", Namespace: "", Name: "50%"},
		Labels: resource.NewTags(map[string]string{resource.ZoneTag: "east"}),
	}}
	if got, want := d.KRI("http_1"), "kri_dp_my%5Fmesh_east__50%25_http%5F1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestProtocol(t *testing.T) {
	for _, c := range []struct {
		protocol, tag string
		want          bool
	}{
		{"", "", false}, {"http", "", true}, {"http2", "", true}, {"grpc", "", true}, {"tcp", "http", false}, {"", "http", true}, {"", "kafka", false},
	} {
		in := resource.Inbound{Protocol: c.protocol}
		if c.tag != "" {
			in.Tags = resource.NewTags(map[string]string{resource.ProtocolTag: c.tag})
		}
		if got := in.IsHTTP(); got != c.want {
			t.Errorf("protocol %q, tag %q: got %v", c.protocol, c.tag, got)
		}
	}
}

// A mistake in one part of a document does not hide mistakes in other parts.
func TestErrorsDoNotHideOthers(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		want []string // the beginnings of the lines
	}{
		"top and spec": {
			"type: MeshTimeout\nfoo: 1\nspec:\n  bar: 1\n  to: [{default: {idleTimeout: 5}}]",
			[]string{"1:1: name: required", "2:1: foo: unknown", "4:3: spec.bar: unknown", "5:32: spec.to[0].default.idleTimeout: bad duration"},
		},
		"targetRefs and items": {
			"type: MeshTimeout\nname: p\nspec:\n  targetRef: {kind: Mesh, nmae: x, tags: {}}\n  to: [{foo: 1, targetRef: {kind: Msh, tags: {a: ä}}, default: {idleTimeout: 5}}, {targetRef: {}}]",
			[]string{
				"4:27: spec.targetRef.nmae: unknown", "4:42: spec.targetRef.tags: does not belong", "5:9: spec.to[0].foo: unknown",
				"5:35: spec.to[0].targetRef.kind: unknown kind", "5:50: spec.to[0].targetRef.tags.a: bad tag value",
				"5:78: spec.to[0].default.idleTimeout: bad duration", "5:83: spec.to[1].default: required",
			},
		},
		"a targetRef's field is not missing if it is bad": {
			"type: MeshTimeout\nname: p\nspec:\n  targetRef: {kind: MeshSubset, tags: 5}\n  to: [{targetRef: {kind: MeshService, name: 5}, default: {idleTimeout: 1s}}]",
			[]string{"4:39: spec.targetRef.tags: must be a mapping", "5:46: spec.to[0].targetRef.name: must be a string"},
		},
		"permission entries": {
			"type: MeshTrafficPermission\nname: p\nspec:\n  rules:\n  - {default: {allow: [{}, {spiffeId: {type: Exact, value: a}}], deny: [{spifeId: 1}]}, bar: 1}",
			[]string{
				"5:24: spec.rules[0].default.allow[0]: an empty match", "5:60: spec.rules[0].default.allow[1].spiffeId.value: bad SPIFFE ID",
				"5:74: spec.rules[0].default.deny[0].spifeId: unknown", "5:89: spec.rules[0].bar: unknown",
			},
		},
		"default, rules and from": {
			"type: MeshTimeout\nname: p\nspec:\n  from: [{default: {idleTimeout: 5}}]\n  rules: [{default: {idleTimeout: 6}}]\n  default: {idleTimeout: 7}",
			[]string{"4:9: spec.from: from and rules", "4:34: ", "5:35: ", "6:12: spec.default: default and rules", "6:26: "},
		},
		"inbounds": {
			"type: Dataplane\nname: d\nnetworking:\n  address: ''\n  gateway: {}\n  inbound: [{port: 0, tags: {v: 'v 1'}}, {tags: {kuma.io/service: 1}}]",
			[]string{
				"4:12: networking.address: must not be empty", "5:12: networking.gateway: gateway and inbound",
				"6:20: networking.inbound[0].port: bad port", `6:29: networking.inbound[0].tags["kuma.io/service"]: required tag`,
				"6:33: networking.inbound[0].tags.v: bad tag value", "6:42: networking.inbound[1].port: required",
				`6:67: networking.inbound[1].tags["kuma.io/service"]: must be a string`,
			},
		},
		"a repeated name": {
			"type: MeshRetry\nname: p\nspec: {foo: 1}\n---\ntype: MeshRetry\nname: p\nspec: {bar: 1}",
			[]string{"3:8: spec.foo", "5:1: name: duplicate", "7:8: spec.bar"},
		},
		"other fields of a Mesh": {
			"type: Mesh\nname: m\nmtls: {backends: [{type: ~, type: a, name: x}]}\ntracing: {a: ~}\n---\napiVersion: kuma.io/v1alpha1\nkind: Mesh\nmetadata: {name: ''}\nspec: {a: ~}",
			[]string{"3:26: mtls.backends[0].type: must not be null", "3:29: mtls.backends[0]: duplicate field", "4:14: tracing.a: must not be null", "8:18: metadata.name: a resource's name", `9:8: spec.a: unknown field; one of "mtls", `},
		},
		"items of lists": {
			"items:\n- {type: MeshHealthCheck, name: a, spec: {to: []}}\n- {type: MeshRetri, name: a, spec: {}}\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: kuma.io/v1alpha1, kind: MeshRetry, metadata: {name: b}, spec: {too: []}}\n- {apiVersion: kuma.io/v1alpha1, kind: MeshRetryList, metadata: {name: b}, itemz: []}\n- 5",
			[]string{
				"3:10: items[1].type: unknown kind", "8:79: items[0].spec.too: unknown field", "9:3: items[1].items: required field is missing",
				"9:76: items[1].itemz", "10:3: items[2]: must be a mapping",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := decode(t, c.doc)
			lines := strings.Split(got, "\n")
			for i, want := range c.want {
				if i >= len(lines) || !strings.HasPrefix(lines[i], "in.yaml:"+want) {
					t.Fatalf("got\n%s\nwant error %d at %s", got, i, want)
				}
			}
			if len(lines) != len(c.want) {
				t.Errorf("got\n%s\nwant %d errors", got, len(c.want))
			}
		})
	}
}
