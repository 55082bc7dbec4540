package meshloadbalancingstrategy_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshloadbalancingstrategy.Kind(), `
type: MeshLoadBalancingStrategy
mesh: default
name: everything
spec:
  targetRef: {kind: MeshHTTPRoute, name: info}
  to:
    - targetRef: {kind: Mesh, name: default}
      default:
        localityAwareness:
          disabled: false
          localZone:
            affinityTags: [{key: k8s.io/node, weight: 9000}, {key: k8s.io/az, weight: 1}]
          crossZone:
            failover:
              - from: {zones: [east, west]}
                to: {type: Only, zones: [south]}
              - to: {type: AnyExcept, zones: [north]}
              - to: {type: Any}
              - to: {type: None}
            failoverThreshold: {percentage: "25.5"}
        loadBalancer:
          type: RingHash
          ringHash:
            hashFunction: MurmurHash2
            minRingSize: 1
            maxRingSize: 8000000
            hashPolicies:
              - {type: Header, header: {name: x-session}, terminal: true}
              - {type: Cookie, cookie: {name: session, ttl: 0s, path: /shop}}
              - {type: Connection, connection: {sourceIP: true}}
              - {type: QueryParameter, queryParameter: {name: user}}
              - {type: FilterState, filterState: {key: envoy.key}}
        hashPolicies: [{type: Header, header: {name: x-user}}]
    - targetRef: {kind: MeshService, name: a}
      default: {loadBalancer: {type: Maglev, maglev: {tableSize: 65537, hashPolicies: []}}}
    - targetRef: {kind: MeshService, name: b}
      default: {loadBalancer: {type: LeastRequest, leastRequest: {choiceCount: 2, activeRequestBias: "1.3"}}}
    - targetRef: {kind: MeshService, name: c}
      default: {loadBalancer: {type: RoundRobin, roundRobin: {}}}
    - targetRef: {kind: MeshService, name: d}
      default: {loadBalancer: {type: Random, random: {}}}
    - targetRef: {kind: MeshService, name: e}
      default: {loadBalancer: {type: Maglev}, localityAwareness: {localZone: {affinityTags: [{key: a}, {key: b}]}}}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshloadbalancingstrategy.Kind(), map[string]kindtest.Case{
		"unknown algorithm": {
			Conf: `{loadBalancer: {type: ROUND_ROBIN}}`,
			Want: `p.yaml:2:23: spec.to[0].default.loadBalancer.type: unknown value "ROUND_ROBIN"; did you mean "RoundRobin"?`,
		},
		"settings of another algorithm": {
			Conf: `{loadBalancer: {type: Maglev, ringHash: {}}}`,
			Want: `p.yaml:2:41: spec.to[0].default.loadBalancer.ringHash: is not allowed with type "Maglev"; remove it or change the type`,
		},
		"one choice": {
			Conf: `{loadBalancer: {type: LeastRequest, leastRequest: {choiceCount: 1}}}`,
			Want: `p.yaml:2:65: spec.to[0].default.loadBalancer.leastRequest.choiceCount: must be at least 2; use type Random for one choice`,
		},
		"negative bias": {
			Conf: `{loadBalancer: {type: LeastRequest, leastRequest: {activeRequestBias: "-0.1"}}}`,
			Want: `p.yaml:2:71: spec.to[0].default.loadBalancer.leastRequest.activeRequestBias: must not be negative`,
		},
		"ring too large": {
			Conf: `{loadBalancer: {type: RingHash, ringHash: {maxRingSize: 8000001}}}`,
			Want: `p.yaml:2:57: spec.to[0].default.loadBalancer.ringHash.maxRingSize: must be from 1 to 8000000`,
		},
		"no ring between the bounds": {
			Conf: `{loadBalancer: {type: RingHash, ringHash: {minRingSize: 8, maxRingSize: 4}}}`,
			Want: `p.yaml:2:57: spec.to[0].default.loadBalancer.ringHash.minRingSize: must not be greater than maxRingSize (4)`,
		},
		"table too large": {
			Conf: `{loadBalancer: {type: Maglev, maglev: {tableSize: 5000012}}}`,
			Want: `p.yaml:2:51: spec.to[0].default.loadBalancer.maglev.tableSize: must be from 1 to 5000011`,
		},
		"table not prime": {
			Conf: `{loadBalancer: {type: Maglev, maglev: {tableSize: 65536}}}`,
			Want: `p.yaml:2:51: spec.to[0].default.loadBalancer.maglev.tableSize: must be a prime number; leave it out for 65537`,
		},
		"policy without its arm": {
			Conf: `{hashPolicies: [{type: Header}]}`,
			Want: `p.yaml:2:17: spec.to[0].default.hashPolicies[0].header: is required for type "Header"`,
		},
		"connection without its arm": {
			Conf: `{hashPolicies: [{type: Connection}]}`,
			Want: `p.yaml:2:17: spec.to[0].default.hashPolicies[0].connection: is required for type "Connection"; write {sourceIP: true}`,
		},
		"cookie's path": {
			Conf: `{hashPolicies: [{type: Cookie, cookie: {name: a, path: shop}}]}`,
			Want: `p.yaml:2:56: spec.to[0].default.hashPolicies[0].cookie.path: must be a path that starts with /`,
		},
		"empty names": {
			Conf: `{hashPolicies: [{type: Cookie, cookie: {name: ""}}, {type: QueryParameter, queryParameter: {name: ""}}, {type: FilterState, filterState: {key: ""}}]}`,
			Want: "p.yaml:2:47: spec.to[0].default.hashPolicies[0].cookie.name: must not be empty\n" +
				"p.yaml:2:99: spec.to[0].default.hashPolicies[1].queryParameter.name: must not be empty\n" +
				`p.yaml:2:144: spec.to[0].default.hashPolicies[2].filterState.key: must not be empty`,
		},
		"some tags with a weight": {
			Conf: `{localityAwareness: {localZone: {affinityTags: [{key: a, weight: 1}, {key: b}]}}}`,
			Want: `p.yaml:2:70: spec.to[0].default.localityAwareness.localZone.affinityTags[1].weight: all tags must have a weight, or none`,
		},
		"tag without a key": {
			Conf: `{localityAwareness: {localZone: {affinityTags: [{key: ""}]}}}`,
			Want: `p.yaml:2:55: spec.to[0].default.localityAwareness.localZone.affinityTags[0].key: bad tag key ""; a tag's key has letters, digits, '.', '_', ':', '/' and '-'`,
		},
		"failover at no share": {
			Conf: `{localityAwareness: {crossZone: {failoverThreshold: {percentage: "0.0"}}}}`,
			Want: `p.yaml:2:66: spec.to[0].default.localityAwareness.crossZone.failoverThreshold.percentage: must be greater than 0; leave failover out to stay in the zone`,
		},
		"zones without names": {
			Conf: `{localityAwareness: {crossZone: {failover: [{from: {zones: [""]}, to: {type: Only, zones: [a, ""]}}]}}}`,
			Want: `p.yaml:2:61: spec.to[0].default.localityAwareness.crossZone.failover[0].from.zones[0]: must not be empty` + "\n" +
				`p.yaml:2:95: spec.to[0].default.localityAwareness.crossZone.failover[0].to.zones[1]: must not be empty`,
		},
		"zones where none are needed": {
			Conf: `{localityAwareness: {crossZone: {failover: [{to: {type: Any, zones: [a]}}]}}}`,
			Want: `p.yaml:2:69: spec.to[0].default.localityAwareness.crossZone.failover[0].to.zones: are not allowed with type "Any"; remove them`,
		},
		"zones missing": {
			Conf: `{localityAwareness: {crossZone: {failover: [{to: {type: Only}}]}}}`,
			Want: `p.yaml:2:50: spec.to[0].default.localityAwareness.crossZone.failover[0].to.zones: must not be empty for type "Only"`,
		},
		"from nowhere": {
			Conf: `{localityAwareness: {crossZone: {failover: [{from: {zones: []}, to: {type: Any}}]}}}`,
			Want: `p.yaml:2:60: spec.to[0].default.localityAwareness.crossZone.failover[0].from.zones: must not be empty; leave from out for all zones`,
		},
		"threshold": {
			Conf: `{localityAwareness: {crossZone: {failoverThreshold: {percentage: 101}}}}`,
			Want: `p.yaml:2:66: spec.to[0].default.localityAwareness.crossZone.failoverThreshold.percentage: must be from 0 to 100`,
		},
	})
}

func TestDefaults(t *testing.T) {
	kindtest.Completed(t, meshloadbalancingstrategy.Kind(), map[string]kindtest.Case{
		"short form of a source address": {
			Conf: `{hashPolicies: [{type: SourceIP, terminal: true}]}`,
			Want: `{"hashPolicies":[{"type":"SourceIP","terminal":true}]}`,
		},
	})
}
