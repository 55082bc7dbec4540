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
	`cmd/meshmatch|cmd/meshmatch/replicas|core/app/benchworld`,
	`core/app/internal/world`,
	`cmd/meshmatch/cli`,
	`bench/peers|bench/peers/kuma`, // modules of their own
	`core/xds/e2e/demo`,
	`core/xds/e2e(/envoytest|/hello|/patches|/driver|/serving|/stories|/worlds)?`,
	`core/serve/pages/e2e/screenshots`,
	`core/serve/pages/e2e|core/serve/pages/e2e/browser`,
	`core/serve`,
	`core/serve/pages`,
	`core/serve/inspectapi|core/serve/pages/layered`,
	`core/serve/proxied`,
	`core/source/etcd|core/source/etcd/etcdtest|core/source/kubernetes`,
	`core/source/sourcetest`,
	`core/source`,

	// Helpers of tests, which no other package imports.
	`core/oracle|core/variant/oracle`,
	`core/internal/oracle`,
	`core/source/kubernetes/kubetest`,
	`core/(coretest|enforce/enforcetest|kind/kindtest|permission/permissiontest|rules/rulestest|xds/server/xdstest|internal/golden)|fuzz`,
	`core/resource/resourcetest`,
	`fuzz/naive`,

	// Envoy and gRPC.
	`core/xds/relay`,
	`core/xds/server`,
	`core/xds/bootstrap`,
	`core/xds/snapshot|core/xds/translators`,
	`core/xds/sds`,
	`core/xds`,
	`core/xds/rbac|core/xds/seal`,
	`core/xds/message`,
	`core/xds/wire`,

	// What is computed, and what it is computed from.
	`core/migrate|core/crd`,
	`core/inspect/(check|diff|placement|traffic|why)`,
	`core/inspect|core/variant`,
	`core/inspect/find|core/variant/constraint`,
	`core/inspect/internal/(requests|ruleviews|targets|words)`,
	`core/replay`,
	`core/access`,
	`core`,
	`core/internal/mesh`,
	`core/internal/blocks`,
	`core/internal/match`,
	`core/collector|core/destination|core/permission|bench/shape`,
	`core/semantics`,
	`core/request|core/rules`,
	`core/enforce|core/enforce/rollout`,
	`core/enforce/ocm|core/identity|core/identity/ca`,
	`core/kind/kinds`,
	`core/kind/mesh[a-z]+`,
	`core/internal/envoyapi/internal/generate`,
	`core/internal/envoyapi`,
	`core/internal/envoyapi/internal/descriptors`,
	`core/resource`,
	`core/conf/spiffe|core/internal/content|core/resource/specs`,
	`core/conf`,
	`core/internal/regex/language`,
	`core/diag/report|core/strict|core/internal/regex(/automaton)?`,
	`core/diag|core/effect|core/partition|core/internal/(choices|hashtable|loglimit|sorted|weakcache)|index`,

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
