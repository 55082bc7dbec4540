package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// distinctSelectors is a mesh with policies that each select a tag of their own and set a
// field that no other one sets: n of them have 2^n effective confs.
func distinctSelectors(t *testing.T, n int) *core.View {
	t.Helper()
	documents := []string{
		`{type: Dataplane, mesh: default, name: backend, networking: {address: 10.0.1.1, inbound: [{port: 80, tags: {kuma.io/service: backend, kuma.io/protocol: http}}]}}`,
		`{type: Dataplane, mesh: default, name: client, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], outbound: [{port: 10001, tags: {kuma.io/service: backend}}]}}`,
		`{type: MeshCircuitBreaker, mesh: default, name: all, spec: {to: [{targetRef: {kind: Mesh}, default: {outlierDetection: {detectors: {totalFailures: {consecutive: 1}, gatewayFailures: {consecutive: 1}, localOriginFailures: {consecutive: 1}, failurePercentage: {threshold: 1}}}}}]}}`,
	}
	field := func(kind, key, conf string) {
		documents = append(documents, fmt.Sprintf(`{type: %s, mesh: default, name: %s, spec: {targetRef: {kind: MeshSubset, tags: {%s: "on"}}, to: [{targetRef: {kind: MeshService, name: backend}, default: %s}]}}`, kind, key, key, conf))
	}
	confs := []string{
		`{connectionLimits: {maxConnections: 1}}`, `{connectionLimits: {maxPendingRequests: 2}}`, `{connectionLimits: {maxRequests: 3}}`,
		`{connectionLimits: {maxRetries: 4}}`, `{connectionLimits: {maxConnectionPools: 5}}`,
		`{outlierDetection: {interval: 6s, detectors: {successRate: {}}}}`, `{outlierDetection: {baseEjectionTime: 7s, detectors: {successRate: {}}}}`, `{outlierDetection: {maxEjectionPercent: 8, detectors: {successRate: {}}}}`,
		`{outlierDetection: {splitExternalAndLocalErrors: true, detectors: {successRate: {}}}}`, `{outlierDetection: {detectors: {totalFailures: {consecutive: 9}}}}`,
		`{outlierDetection: {detectors: {gatewayFailures: {consecutive: 10}}}}`, `{outlierDetection: {detectors: {localOriginFailures: {consecutive: 11}}}}`,
		`{outlierDetection: {detectors: {failurePercentage: {threshold: 12}}}}`,
	}
	for i := range n {
		field("MeshCircuitBreaker", fmt.Sprintf("tag%02d", i), confs[i])
	}
	return coretest.View(t, strings.Join(documents, "\n---\n"))
}

// subset returns the parameters with the tags that the bits select.
func subset(bits uint) variant.Parameters {
	p := variant.Parameters{"kuma.io/service": "web"}
	for i := range 13 {
		if bits&(1<<i) != 0 {
			p[fmt.Sprintf("tag%02d", i)] = "on"
		}
	}
	return p
}

// Beyond 256 variants, the variant for parameters is the conjunction of all selectors, each
// of them negated if it does not hold. It is what a dataplane with the parameters gets, it
// is the same whoever asked before, and only what is asked for is built.
func TestManyVariantsAreNotCompiled(t *testing.T) {
	const name = "default/backend"
	for _, policies := range []int{8, 9, 13} {
		t.Run(fmt.Sprint(policies, " selectors"), func(t *testing.T) {
			view := distinctSelectors(t, policies)
			asked := make([]uint, 40)
			random := rand.New(rand.NewPCG(uint64(policies), 1))
			for i := range asked {
				asked[i] = random.UintN(1 << policies)
			}
			locate := func(order []uint) (map[uint]wire.Variant, int64) {
				builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
				state := builder.At(view)
				answers := map[uint]wire.Variant{}
				for _, bits := range order {
					v, ok := state.Locate(wire.ClusterType, name, subset(bits))
					if again, _ := state.Locate(wire.ClusterType, name, subset(bits)); !ok || again != v {
						t.Fatalf("%v: the variant is %v, then %v", subset(bits), v, again)
					}
					answers[bits] = v
				}
				if many := state.HasMany(wire.ClusterType, name); many != (1<<policies > 256) {
					t.Errorf("the cluster has more variants than are compiled: %t", many)
				}
				_, made := builder.Builds()
				return answers, made
			}
			answers, made := locate(asked)
			reversed := slices.Clone(asked)
			slices.Reverse(reversed)
			others, _ := locate(reversed)
			constraints := map[uint]variant.Constraint{}
			for bits, v := range answers {
				if o := others[bits]; o.Constraints != v.Constraints || o.Resource.Version != v.Resource.Version {
					t.Errorf("%v: the variant depends on the order of questions", subset(bits))
				}
				var m variant.Proto
				if err := proto.Unmarshal([]byte(v.Constraints), &m); err != nil {
					t.Fatal(err)
				}
				c, err := variant.FromProto(&m)
				if err != nil {
					t.Fatal(err)
				}
				if len(c.Keys()) != policies {
					t.Errorf("the constraint %s has the keys %v", c, c.Keys())
				}
				constraints[bits] = c
			}
			// At most one variant accepts the same parameters.
			for bits := range answers {
				for other, c := range constraints {
					if accepts := c.Accepts(subset(bits)); accepts != (bits == other) {
						t.Errorf("the constraint %s of %v accepts %v: %v", c, subset(other), subset(bits), accepts)
					}
				}
			}
			if most := int64(10 * len(asked)); policies > 9 && made > most {
				t.Errorf("%d messages were made for %d questions", made, len(answers))
			}
			d := view.Dataplane(resource.ID{Mesh: "default", Name: "client"})
			for bits := range answers {
				like := *d
				like.Inbounds = slices.Clone(d.Inbounds)
				like.Inbounds[0].Tags = resource.NewTags(subset(bits))
				compareLocators(t, snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view), &like, xds.Client{})
				break
			}
		})
	}
}
