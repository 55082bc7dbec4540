package core_test

import (
	"regexp"
	"slices"
	"testing"
)

// order has the packages of this module from the top to the bottom; packages of one line
// do not import each other. A package imports packages below it only, so data flow from
// files to proxies and never back. A pattern matches whole paths.
var order = []string{
	// The application: modules of their own.
	`cmd/(meshmatch|benchgate)|core/app/(benchworld|packaging/release)|core/app/internal/(replicas|peers|peers/kuma)`,
	`core/app/internal/oracle`,
	`core/app`,
	`core/app/internal/benchworld`,
	`core/app/internal/fleet`,
	`core/app/internal/world`,
	`core/app/internal/cli`,
	`core/app/internal/e2e/demo`,
	`core/app/internal/e2e(/hello|/patches|/driver|/serving|/solver|/stories|/worlds)?`,
	`core/app/internal/serve/pages/e2e/screenshots`,
	`core/app/internal/serve/pages/e2e(/browser)?`,
	`core/app/internal/serve`,
	`core/app/internal/serve/admission`,
	`core/app/internal/serve/pages`,
	`core/app/internal/serve/(inspectapi|bounded|pages/layered)`,
	`core/app/internal/serve/proxied`,
	`core/app/internal/source/(etcd|kubernetes)`,
	`core/app/internal/source/sourcetest`,
	`core/app/internal/source`,
	`core/app/internal/source/kubernetes/kubetest`,
	`core/app/internal/source/etcd/etcdtest`,
	`core/app/internal/relay`,
	`core/app/internal/kept`,

	// Helpers of tests, which no other package imports.
	`core/internal/(coretest|kindtest|permissiontest|resultstest|golden|xds/xdstest|xds/envoytest|enforce/enforcetest|oracle|variant/oracle)`,
	`fuzz`,
	`core/internal/resourcetest`,
	`fuzz/naive|core/internal/choices`,

	// Answers.
	`core/app/internal/migrate|core/app/internal/crd`,
	`core/app/internal/policyvariants`,
	`core/app/internal/inspect/(check|diff|traffic|why|audit)`,
	`core/app/internal/inspect/audit/rbac`,
	`core/app/internal/inspect/audit/dump`,
	`core/app/internal/inspect/placement`,
	`core/app/internal/inspect`,
	`core/app/internal/inspect/find`,
	`core/app/internal/inspect/internal/(requests|ruleviews|targets|words)`,
	`core/app/internal/replay`,
	`core/app/internal/(report|webhook|exported)`,

	// Envoy and gRPC.
	`core/xds/server`,
	`core/xds/server/internal/guard`,
	`core/internal/xds/(bootstrap|streams)`,
	`core/xds/(snapshot|translators)`,
	`core/internal/xds/sds`,
	`core/xds`,
	`core/internal/xds/(rbac|seal|memo)`,
	`core/internal/xds/message`,
	`core/xds/wire`,

	// What is computed, and what it is computed from.
	`core/internal/variant`,
	`core/internal/variant/constraint`,
	`core/internal/access`,
	`core`,
	`core/internal/mesh`,
	`core/internal/blocks`,
	`core/internal/match`,
	`core/internal/(collector|destination)|core/permission|core/internal/shape`,
	`core/internal/items`,
	`core/internal/semantics`,
	`core/internal/request|core/results`,
	`core/internal/matched`,
	`core/internal/enforce(/rollout)?`,
	`core/internal/(enforce/ocm|identity|identity/ca)`,
	`core/kind/kinds`,
	`core/kind/mesh[a-z]+`,
	`core/internal/envoyapi/internal/generate`,
	`core/internal/envoyapi/internal/news`,
	`core/internal/envoyapi|core/internal/xds/capability`,
	`core/internal/envoyapi/internal/descriptors`,
	`core/resource`,
	`core/internal/spiffe|core/internal/specs`,
	`core/internal/content`,
	`core/conf|core/internal/template`,
	`core/internal/regex/(automaton|language)`,
	`core/internal/strict|core/internal/regex`,
	`core/diag|core/internal/(effect|partition)|core/internal/(hashtable|lists|loglimit|sorted|weakcache|xds/fields)|index|core/internal/regular`,

	// What does not depend on meshes.
	`cmd/confgen|cmd/benchgate/internal/chart`,
	`gen|bench/gate`,
	`core/internal/usage|gen/laws`,
	`gen/internal/(build|emit|scenario|random|schema)`,
	`gen/internal/(ir|load|shapes)`,
	`gen/internal/diag|gen/internal/shapes/shared|gen/merge`,
}

// TestOrder compares the imports of each package with the order.
func TestOrder(t *testing.T) {
	patterns := make([]*regexp.Regexp, len(order))
	for i, line := range order {
		patterns[i] = regexp.MustCompile(`^(` + line + `)$`)
	}
	lineOf := func(path string) int {
		return slices.IndexFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(path) })
	}
	found := make([]bool, len(order))
	for path, imports := range importGraph(t) {
		own := lineOf(path)
		if own < 0 {
			t.Errorf("package %s is not in the order: add it there, above all that it imports", path)
			continue
		}
		found[own] = true
		for imported := range imports {
			if line := lineOf(imported); line >= 0 && line <= own {
				t.Errorf("%s imports %s, which is not below it", path, imported)
			}
		}
	}
	for i, line := range order {
		if !found[i] {
			t.Errorf("there is no package %s", line)
		}
	}
}
