package migrate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/migrate"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// mesh has two dataplanes with SPIFFE IDs of their own, and a service.
const mesh = `
{type: MeshIdentity, mesh: default, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: '/{{ label "app" }}'}, provider: {type: Spire, spire: {}}}}
---
{type: Dataplane, mesh: default, name: web-1, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, version: v1}}]}}
---
{type: Dataplane, mesh: default, name: api-1, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: api, version: v2}}]}}
---
{type: MeshService, mesh: default, name: api, spec: {selector: {dataplaneLabels: {matchLabels: {app: api}}}, ports: [{port: 80, appProtocol: http}]}}
`

// Each row is a row of core/KUMA.md, "What Kuma 3 changes": the finding, the document that
// Kuma 3 reads differently, and what `migrate` writes in its place (SPEC 17.5).
func TestRewrites(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   diag.Code
		path   string
		before string // the last document is rewritten
		after  string // of the document; empty if it is left as it is
	}{
		{
			"MM5101: a name becomes the label of the display name", diag.TargetNotInKuma3, "spec.targetRef",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, name: web-1}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {kuma.io/display-name: web-1}}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
		},
		{
			"MM5101: tags become labels that select the same dataplanes", diag.TargetNotInKuma3, "spec.targetRef",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: MeshSubset, tags: {version: v1}}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {version: v1}}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
		},
		{
			"MM5101: proxyTypes that exclude no dataplane are removed", diag.TargetNotInKuma3, "spec.targetRef",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: Mesh, proxyTypes: [Sidecar]}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
		},
		{
			"MM5101: tags that would select others as labels become another label", diag.TargetNotInKuma3, "spec.targetRef",
			`{type: Dataplane, mesh: default, name: db-1, labels: {app: db, version: v1}, networking: {address: 10.0.0.3, inbound: [{port: 80}]}}
---
{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: MeshSubset, tags: {version: v1}}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}`,
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: web}}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
		},
		{
			"MM5101: proxyTypes that exclude dataplanes become labels", diag.TargetNotInKuma3, "spec.targetRef",
			`{type: Dataplane, mesh: default, name: edge-1, labels: {app: edge}, networking: {address: 10.0.0.3, gateway: {tags: {kuma.io/service: edge}}}}
---
{type: MeshTrace, mesh: default, name: p, spec: {targetRef: {kind: Mesh, proxyTypes: [Gateway]}, default: {tags: [{name: a, literal: b}]}}}`,
			"{type: MeshTrace, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: edge}}, default: {tags: [{name: a, literal: b}]}}}",
		},
		{
			"MM5101: MeshGateway is left", diag.TargetNotInKuma3, "spec.targetRef",
			"{type: MeshRetry, mesh: default, name: p, spec: {targetRef: {kind: MeshGateway, name: edge}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
			"",
		},
		{
			"MM5102: the name of a destination becomes labels", diag.ReferenceNotInKuma3, "spec.to[0].targetRef",
			"{type: MeshRetry, mesh: default, name: p, spec: {to: [{targetRef: {kind: MeshService, name: api}, default: {http: {numRetries: 1}}}]}}",
			"{type: MeshRetry, mesh: default, name: p, spec: {to: [{targetRef: {kind: MeshService, labels: {kuma.io/display-name: api}}, default: {http: {numRetries: 1}}}]}}",
		},
		{
			"MM5102: the name of a backend becomes labels", diag.ReferenceNotInKuma3, "spec.to[0].rules[0].default.backendRefs[0]",
			"{type: MeshTCPRoute, mesh: default, name: p, spec: {to: [{targetRef: {kind: MeshService, labels: {kuma.io/display-name: api}}, rules: [{default: {backendRefs: [{kind: MeshService, name: api, port: 80}]}}]}]}}",
			"{type: MeshTCPRoute, mesh: default, name: p, spec: {to: [{targetRef: {kind: MeshService, labels: {kuma.io/display-name: api}}, rules: [{default: {backendRefs: [{kind: MeshService, labels: {kuma.io/display-name: api}, port: 80}]}}]}]}}",
		},
		{
			"MM5102: a name that finds no destination is left", diag.ReferenceNotInKuma3, "spec.to[0].targetRef",
			"{type: MeshRetry, mesh: default, name: p, spec: {to: [{targetRef: {kind: MeshService, name: gone}, default: {http: {numRetries: 1}}}]}}",
			"",
		},
		{
			"MM5103: from becomes rules", diag.FromNotInKuma3, "spec.from",
			"{type: MeshTimeout, mesh: default, name: p, spec: {from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}",
			"{type: MeshTimeout, mesh: default, name: p, spec: {rules: [{default: {idleTimeout: 1s}}]}}",
		},
		{
			"MM5103: an item that selects clients is left in kinds whose from is no rules", diag.FromNotInKuma3, "spec.from",
			"{type: MeshFaultInjection, mesh: default, name: p, spec: {from: [{targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}}]}}",
			"",
		},
		{
			"MM5103: clients of a permission become their SPIFFE IDs", diag.FromNotInKuma3, "spec.from",
			"{type: MeshTrafficPermission, mesh: default, name: p, spec: {from: [{targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {action: Allow}}]}}",
			"{type: MeshTrafficPermission, mesh: default, name: p, spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://td/web'}}]}}]}}",
		},
		{
			"MM5103: a permission for some dataplanes of one SPIFFE ID is left", diag.FromNotInKuma3, "spec.from",
			`{type: Dataplane, mesh: default, name: web-2, labels: {app: web}, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: web, version: v3}}]}}
---
{type: MeshTrafficPermission, mesh: default, name: p, spec: {from: [{targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {action: Allow}}]}}`,
			"",
		},
		{
			"MM5104: the tag of the protocol becomes the protocol, and tags become labels", diag.TagsNotInKuma3, "networking.inbound[0].protocol",
			"{type: Dataplane, mesh: default, name: p, networking: {address: 10.0.0.3, inbound: [{port: 80, tags: {kuma.io/service: p, kuma.io/protocol: http}}]}}",
			"{type: Dataplane, mesh: default, name: p, labels: {kuma.io/service: p}, networking: {address: 10.0.0.3, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: p, kuma.io/protocol: http}}]}}",
		},
		{
			"MM5104: dataplaneTags become dataplaneLabels", diag.TagsNotInKuma3, "spec.selector.dataplaneTags",
			"{type: MeshService, mesh: default, name: p, spec: {selector: {dataplaneTags: {version: v1}}, ports: [{port: 80}]}}",
			"{type: MeshService, mesh: default, name: p, spec: {selector: {dataplaneLabels: {matchLabels: {version: v1}}}, ports: [{port: 80}]}}",
		},
		{
			"MM5104: tags of inbounds that differ become no label", diag.TagsNotInKuma3, "networking",
			"{type: Dataplane, mesh: default, name: p, networking: {address: 10.0.0.3, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: p, version: v1}}, {port: 81, protocol: http, tags: {kuma.io/service: p, version: v2}}]}}",
			"{type: Dataplane, mesh: default, name: p, labels: {kuma.io/service: p}, networking: {address: 10.0.0.3, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: p, version: v1}}, {port: 81, protocol: http, tags: {kuma.io/service: p, version: v2}}]}}",
		},
		{
			"MM5104: dataplaneTags that would select others as labels are left", diag.TagsNotInKuma3, "spec.selector.dataplaneTags",
			`{type: Dataplane, mesh: default, name: db-1, labels: {app: db, version: v1}, networking: {address: 10.0.0.3, inbound: [{port: 80}]}}
---
{type: MeshService, mesh: default, name: p, spec: {selector: {dataplaneTags: {version: v1}}, ports: [{port: 80}]}}`,
			"",
		},
		{
			"MM5105: hashPolicies move beside the load balancer", diag.FieldNotInKuma3, "spec.to[0].default.loadBalancer.maglev.hashPolicies",
			"{type: MeshLoadBalancingStrategy, mesh: default, name: p, spec: {to: [{targetRef: {kind: Mesh}, default: {loadBalancer: {type: Maglev, maglev: {tableSize: 7, hashPolicies: [{type: SourceIP}]}}}}]}}",
			"{type: MeshLoadBalancingStrategy, mesh: default, name: p, spec: {to: [{targetRef: {kind: Mesh}, default: {hashPolicies: [{type: SourceIP}], loadBalancer: {type: Maglev, maglev: {tableSize: 7}}}}]}}",
		},
		{
			"MM5105: a certificate gets the form of Kuma 3", diag.FieldNotInKuma3, "spec.tls.verification.caCert",
			"{type: MeshExternalService, mesh: default, name: p, spec: {match: {type: HostnameGenerator, port: 443, protocol: tcp}, endpoints: [{address: a.example, port: 443}], tls: {enabled: true, verification: {caCert: {secret: ca}}}}}",
			"{type: MeshExternalService, mesh: default, name: p, spec: {match: {type: HostnameGenerator, port: 443, protocol: tcp}, endpoints: [{address: a.example, port: 443}], tls: {enabled: true, verification: {caCert: {type: Secret, secretRef: {kind: Secret, name: ca}}}}}}",
		},
		{
			"MM5105: healthyPanicThreshold of MeshHealthCheck is left", diag.FieldNotInKuma3, "spec.to[0].default.healthyPanicThreshold",
			"{type: MeshHealthCheck, mesh: default, name: p, spec: {to: [{targetRef: {kind: Mesh}, default: {interval: 1s, healthyPanicThreshold: 50}}]}}",
			"",
		},
		{
			"MM5106: mtls of a Mesh whose dataplanes have no identity is left", diag.MTLSNotInKuma3, "mtls",
			"{type: Mesh, name: p, mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}}",
			"",
		},
		{
			"MM5107: a ZoneIngress is left", diag.KindNotInKuma3, "",
			"{type: ZoneIngress, name: p, networking: {address: 10.0.0.9, port: 10001, advertisedAddress: 1.1.1.1, advertisedPort: 10001}}",
			"",
		},
		{
			"MM5108: a name that is no DNS label is left", diag.ValueNotInKuma3, "name",
			"{type: MeshRetry, mesh: default, name: p.q, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 1}}}]}}",
			"",
		},
		{
			"MM5109: a permission that would open an inbound is left", diag.OpensInKuma3, "spec.from",
			`{type: MeshTrafficPermission, mesh: default, name: a, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}}
---
{type: MeshTrafficPermission, mesh: default, name: p, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}`,
			"",
		},
		{
			"17.5: rules beside to move to a policy of their own", diag.FromNotInKuma3, "spec.from",
			"{type: MeshTimeout, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: web}}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2s}}], from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}",
			`{type: MeshTimeout, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: web}}, to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2s}}]}}
---
{type: MeshTimeout, mesh: default, name: p-rules, spec: {targetRef: {kind: Dataplane, labels: {app: web}}, rules: [{default: {idleTimeout: 1s}}]}}`,
		},
		{
			"17.5: to of the default MeshTimeout moves to the default policy of Kuma 3", diag.FromNotInKuma3, "spec.from",
			"{type: MeshTimeout, mesh: default, name: mesh-timeout-all-default, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2s}}], from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}",
			`{type: MeshTimeout, mesh: default, name: mesh-timeout-all-default, spec: {rules: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshTimeout, mesh: default, name: mesh-timeout-to-all-default, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2s}}]}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := migrated(t, mesh+"---\n"+c.before)
			if !slices.ContainsFunc(result.Findings, func(f diag.Diagnostic) bool { return f.Code == c.code && f.Path == c.path }) {
				t.Errorf("no finding %s at %q among %v", c.code, c.path, result.Findings)
			}
			var got, want []any
			for _, d := range result.Documents {
				if d.Name == "p" || d.Name == "p-rules" || d.Kind == "MeshTimeout" {
					got = append(got, decoded(t, string(d.Source)))
				}
			}
			for text := range strings.SplitSeq(c.after, "\n---\n") {
				if text != "" {
					want = append(want, decoded(t, text))
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rewritten documents (-want +got):\n%s", diff)
			}
		})
	}
}

// migrated returns what `migrate` answers about documents.
func migrated(t *testing.T, documents string) *migrate.Result {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), KeepSources: true}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(documents)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: semantics.Kuma}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	result, err := migrate.Kuma3(t.Context(), loader, view, set)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func decoded(t *testing.T, text string) (value any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
