package meshfaultinjection_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshfaultinjection"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshfaultinjection.Kind(), `
type: MeshFaultInjection
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  from:
    - targetRef: {kind: MeshServiceSubset, name: web, tags: {version: v2}}
      default:
        http:
          - abort: {httpStatus: 500, percentage: 50}
            delay: {value: 5s, percentage: "50.5"}
          - responseBandwidth: {limit: 50 Mbps, percentage: 0}
`, `
type: MeshFaultInjection
mesh: default
name: no-faults
spec:
  targetRef: {kind: Mesh, name: default}
  rules:
    - matches: [{headers: [{name: x-no-fault, value: "1"}]}]
      default: {http: []}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshfaultinjection.Kind(), map[string]kindtest.Case{
		"status that Envoy does not abort with": {
			Conf: `{http: [{abort: {httpStatus: 199, percentage: 1}}]}`,
			Want: `p.yaml:2:30: spec.rules[0].default.http[0].abort.httpStatus: must be a status from 200 to 599`,
		},
		"no delay": {
			Conf: `{http: [{delay: {value: 0s, percentage: 1}}]}`,
			Want: `p.yaml:2:25: spec.rules[0].default.http[0].delay.value: must be longer than 0s`,
		},
		"nothing": {
			Conf: `{http: [{}]}`,
			Want: `p.yaml:2:9: spec.rules[0].default.http[0]: a fault must do something; give at least one of abort, delay and responseBandwidth`,
		},
		"no status": {
			In:   "from",
			Conf: `{http: [{abort: {httpStatus: 99, percentage: 1}}]}`,
			Want: `p.yaml:2:30: spec.from[0].default.http[0].abort.httpStatus: must be an HTTP status, from 100 to 599`,
		},
		"percentage missing": {
			Conf: `{http: [{delay: {value: 1s}}]}`,
			Want: `p.yaml:2:17: spec.rules[0].default.http[0].delay.percentage: required field is missing`,
		},
		"more than all": {
			Conf: `{http: [{delay: {value: 1s, percentage: "100.1"}}]}`,
			Want: `p.yaml:2:41: spec.rules[0].default.http[0].delay.percentage: must be from 0 to 100`,
		},
		"no number": {
			Conf: `{http: [{delay: {value: 1s, percentage: half}}]}`,
			Want: `p.yaml:2:41: spec.rules[0].default.http[0].delay.percentage: must be a whole number or a decimal number in quotes, not "half"`,
		},
		"bandwidth without a unit": {
			Conf: `{http: [{responseBandwidth: {limit: "50", percentage: 1}}]}`,
			Want: `p.yaml:2:37: spec.rules[0].default.http[0].responseBandwidth.limit: bad bandwidth "50"; write a whole number with kbps, Mbps or Gbps, such as 50kbps`,
		},
		"no bandwidth": {
			Conf: `{http: [{responseBandwidth: {limit: 0kbps, percentage: 1}}]}`,
			Want: `p.yaml:2:37: spec.rules[0].default.http[0].responseBandwidth.limit: bad bandwidth "0kbps"; write a whole number with kbps, Mbps or Gbps, such as 50kbps`,
		},
	})
}

func TestBandwidth(t *testing.T) {
	for text, want := range map[meshfaultinjection.Bandwidth]uint64{
		"50kbps": 50, "3 Mbps": 3000, "2Gbps": 2_000_000, "50": 0,
	} {
		if got := text.KilobitsPerSecond(); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}
