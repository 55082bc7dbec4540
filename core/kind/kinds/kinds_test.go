package kinds_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// row is a kind as in SPEC 2.4, with its short name from SPEC 10.
type row struct {
	Short  string
	Arrays string // to, from, rules, rules+matches, default
	Routes bool   // a top-level targetRef may be a route
	To     string // the allowed targetRefs of an item of `to`
}

const (
	outbounds = "Mesh, " + services + ", MeshHTTPRoute"
	services  = "MeshService, MeshServiceSubset, MeshExternalService, MeshMultiZoneService"
	clients   = "Mesh, MeshSubset, MeshService, MeshServiceSubset"
	top       = "Mesh, Dataplane, MeshSubset, MeshGateway, MeshService, MeshServiceSubset"
	routes    = top + ", MeshHTTPRoute, MeshTCPRoute"
)

var table = map[string]row{
	"MeshTimeout":               {"mt", "to from rules+matches", true, outbounds},
	"MeshRetry":                 {"mr", "to", true, outbounds},
	"MeshCircuitBreaker":        {"mcb", "to from rules", false, outbounds},
	"MeshHealthCheck":           {"mhc", "to", false, outbounds},
	"MeshRateLimit":             {"mrl", "from rules+matches", true, ""},
	"MeshFaultInjection":        {"mfi", "from rules+matches", false, ""},
	"MeshAccessLog":             {"mal", "to from rules+matches", true, outbounds},
	"MeshTrace":                 {"mtr", "default", false, ""},
	"MeshMetric":                {"mm", "default", false, ""},
	"MeshProxyPatch":            {"mpp", "default", false, ""},
	"MeshLoadBalancingStrategy": {"mlbs", "to", true, outbounds},
	"MeshTrafficPermission":     {"mtp", "from rules", false, ""},
	"MeshHTTPRoute":             {"mhttpr", "to", false, services},
	"MeshTCPRoute":              {"mtcpr", "to", false, services},
	"MeshTLS":                   {"mtls", "from rules", false, ""},
	"MeshPassthrough":           {"mp", "default", false, ""},
}

func TestKinds(t *testing.T) {
	all := kinds.All()
	got := map[string]row{}
	var gateway []string
	for _, kind := range all.All() {
		r := row{Short: kind.Short, Arrays: arrays(kind)}
		switch kind.Top.String() {
		case top:
		case routes:
			r.Routes = true
		default:
			t.Errorf("%s: a top-level targetRef may be %s", kind.Name, kind.Top)
		}
		if kind.To != nil {
			r.To = kind.To.Targets.String()
		}
		if kind.From != nil && kind.From.Targets.String() != clients {
			t.Errorf("%s: from may be %s, want %s", kind.Name, kind.From.Targets, clients)
		}
		if kind.Gateway != nil {
			gateway = append(gateway, kind.Name)
		}
		got[kind.Name] = r
		if all.Lookup(kind.Name) != kind {
			t.Errorf("%s is not found by its name", kind.Name)
		}
	}
	if want := []string{"MeshFaultInjection", "MeshHTTPRoute", "MeshRateLimit", "MeshTCPRoute"}; !slices.Equal(gateway, want) {
		t.Errorf("`to` for the listeners of gateways: %v, want %v", gateway, want)
	}
	if diff := cmp.Diff(table, got); diff != "" {
		t.Errorf("-SPEC 2.4 +kinds:\n%s", diff)
	}
}

func arrays(kind *resource.Kind) string {
	var names []string
	for _, array := range []struct {
		name    string
		section *resource.Section
	}{{"to", kind.To}, {"from", kind.From}, {"rules", kind.Rules}, {"default", kind.Default}} {
		if array.section == nil {
			continue
		}
		if array.section.Matches {
			array.name += "+matches"
		}
		names = append(names, array.name)
	}
	return strings.Join(names, " ")
}

// Some kinds have Confs that are not under `default`, or that are not merged.
func TestInlineAndUnmergedSections(t *testing.T) {
	var inline, unmerged []string
	for _, kind := range kinds.BuiltIn() {
		for _, section := range []*resource.Section{kind.To, kind.From, kind.Rules, kind.Default} {
			if section != nil && section.Inline {
				inline = append(inline, kind.Name)
			}
			if section != nil && section.Unmerged {
				unmerged = append(unmerged, kind.Name)
			}
		}
	}
	if want := []string{"MeshHTTPRoute", "MeshTCPRoute"}; !slices.Equal(inline, want) {
		t.Errorf("inline: %v, want %v", inline, want)
	}
	if want := []string{"MeshTrafficPermission"}; !slices.Equal(unmerged, want) {
		t.Errorf("unmerged: %v, want %v", unmerged, want)
	}
}

// An array or targetRef that SPEC 2.4 does not allow for a kind is an error. The error
// lists the allowed ones.
func TestForeignArraysAndTargets(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	for name, c := range map[string]struct{ spec, want string }{
		"to of a kind without": {`MeshTLS, spec: {to: []}`, `f:1:52: spec.to: MeshTLS has no to; it has from, rules`},
		"to without a gateway": {
			`MeshRateLimit, spec: {targetRef: {kind: MeshService, name: a}, to: []}`,
			`f:1:99: spec.to: only a policy that includes gateways has to; write a top-level targetRef of kind Mesh or MeshSubset that admits gateways, or of kind MeshGateway; or use from, rules`,
		},
		"a service behind a gateway": {
			`MeshRateLimit, spec: {targetRef: {kind: MeshGateway, name: a}, to: [{targetRef: {kind: MeshService, name: b}, default: {local: {http: {disabled: true}}}}]}`,
			`f:1:119: spec.to[0].targetRef.kind: a targetRef in to of MeshRateLimit cannot be MeshService; one of Mesh`,
		},
		"all and one of a gateway": {
			`MeshHTTPRoute, spec: {targetRef: {kind: MeshGateway, name: a}, to: [{rules: []}, {targetRef: {kind: MeshService, name: b}, rules: []}]}`,
			`f:1:132: spec.to[1].targetRef.kind: a targetRef in to of MeshHTTPRoute cannot be MeshService; one of Mesh`,
		},
		"from of a kind without":    {`MeshRetry, spec: {from: []}`, `f:1:56: spec.from: MeshRetry has no from; it has to`},
		"rules of a kind without":   {`MeshTrace, spec: {rules: [], default: {}}`, `f:1:57: spec.rules: MeshTrace has no rules; it has default`},
		"default of a kind without": {`MeshHealthCheck, spec: {default: {}}`, `f:1:65: spec.default: MeshHealthCheck has no default; it has to`},
		"matches of a kind without": {`MeshTLS, spec: {rules: [{matches: [], default: {}}]}`, `f:1:66: spec.rules[0].matches: rules of MeshTLS have no matches; remove it`},
		"a route of a kind without": {
			`MeshHealthCheck, spec: {targetRef: {kind: MeshHTTPRoute, name: a}, to: []}`,
			`f:1:74: spec.targetRef.kind: a top-level targetRef of MeshHealthCheck cannot be MeshHTTPRoute; one of ` + top,
		},
		"a route to the mesh": {
			`MeshHTTPRoute, spec: {to: [{rules: []}]}`,
			`f:1:59: spec.to[0].targetRef.kind: a targetRef in to of MeshHTTPRoute cannot be Mesh; one of ` + services,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loader.Decode(t.Context(), resource.Input{Name: "f", Data: []byte(`{name: a, mesh: default, type: ` + c.spec + `}`)})
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
