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
	`cmd/meshmatch|core/app/internal/replicas|core/app/benchworld`,
	`core/app/internal/world`,
	`core/app/internal/cli`,
	`core/app/internal/peers|core/app/internal/peers/kuma`, // modules of their own
	`core/app/internal/e2e/demo`,
	`core/app/internal/e2e(/envoytest|/hello|/patches|/driver|/serving|/stories|/worlds)?`,
	`core/app/internal/serve/pages/e2e/screenshots`,
	`core/app/internal/serve/pages/e2e|core/app/internal/serve/pages/e2e/browser`,
	`core/app/internal/serve`,
	`core/app/internal/serve/pages`,
	`core/app/internal/serve/inspectapi|core/app/internal/serve/pages/layered`,
	`core/app/internal/serve/proxied`,
	`core/app/internal/source/etcd|core/app/internal/source/etcd/etcdtest|core/app/internal/source/kubernetes`,
	`core/app/internal/source/sourcetest`,
	`core/app/internal/source`,

	// Helpers of tests, which no other package imports.
	`core/app/internal/oracle|core/internal/variant/oracle`,
	`core/internal/oracle`,
	`core/app/internal/source/kubernetes/kubetest`,
	`core/(coretest|enforce/enforcetest|kind/kindtest|permission/permissiontest|rules/rulestest|xds/server/xdstest|internal/golden)|fuzz`,
	`core/internal/resourcetest`,
	`fuzz/naive`,

	// Envoy and gRPC.
	`core/app/internal/relay`,
	`core/xds/server`,
	`core/internal/xds/bootstrap`,
	`core/xds/snapshot|core/xds/translators`,
	`core/internal/xds/sds`,
	`core/xds`,
	`core/internal/xds/rbac|core/internal/xds/seal`,
	`core/internal/xds/message`,
	`core/xds/wire`,

	// What is computed, and what it is computed from.
	`core/app/internal/migrate|core/app/internal/crd`,
	`core/app/internal/inspect/(check|diff|placement|traffic|why)`,
	`core/app/internal/inspect|core/internal/variant`,
	`core/app/internal/inspect/find|core/internal/variant/constraint`,
	`core/app/internal/inspect/internal/(requests|ruleviews|targets|words)`,
	`core/app/internal/replay`,
	`core/internal/access`,
	`core`,
	`core/internal/mesh`,
	`core/internal/blocks`,
	`core/internal/match`,
	`core/internal/collector|core/internal/destination|core/permission|bench/shape`,
	`core/internal/semantics`,
	`core/internal/request|core/results`,
	`core/internal/enforce|core/internal/enforce/rollout`,
	`core/internal/enforce/ocm|core/internal/identity|core/internal/identity/ca`,
	`core/kind/kinds`,
	`core/kind/mesh[a-z]+`,
	`core/internal/envoyapi/internal/generate`,
	`core/internal/envoyapi`,
	`core/internal/envoyapi/internal/descriptors`,
	`core/resource`,
	`core/internal/spiffe|core/internal/content|core/internal/specs`,
	`core/conf`,
	`core/internal/regex/language`,
	`core/app/internal/report|core/internal/strict|core/internal/regex(/automaton)?`,
	`core/diag|core/internal/effect|core/internal/partition|core/internal/(choices|hashtable|loglimit|sorted|weakcache)|index`,

	// What does not depend on meshes.
	`cmd/confgen|cmd/benchgate`,
	`gen|bench/gate`,
	`bench|bench/usage|cmd/benchgate/internal/chart|gen/laws`,
	`gen/internal/(build|emit|scenario|random|schema)`,
	`gen/internal/(ir|load|shapes)`,
	`gen/internal/diag|gen/internal/shapes/shared`,
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
