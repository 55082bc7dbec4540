package shape

import (
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
)

// A Merge is an input for merging: confs; a later one overrides an earlier one,
// field by field.
type Merge struct {
	Name   string
	Source string // the repository, the file and the commit that describe the input; "": this package
	Confs  []*meshtimeout.Conf
}

// Merges returns the merge examples of two other projects, and the first ten confs of the fleet.
// Timeouts replace the fields that MeshTimeout does not have. Envoy Gateway's other examples
// merge no timeouts, or the same ones, or lists by the names of their items, which confs of Kuma
// do not do. Of the examples of GEP-713, only this one merges field by field: in the others, one
// policy replaces another as a whole. GEP-2649, which was the page of inherited policies, has two
// with the precedence of defaults, from a gateway to its routes, and of overrides after them.
func Merges() []Merge {
	fleet := Merge{Name: "10 confs of the fleet"}
	for i := range 10 {
		fleet.Confs = append(fleet.Confs, Timeout(i))
	}
	return []Merge{
		{
			// A policy of the gateway and one of the route set timeouts.
			Name: "gateway and route", Source: "envoyproxy/gateway internal/utils/testdata/merge/backendtrafficpolicy at 123352b3dc65",
			Confs: []*meshtimeout.Conf{
				{ConnectionTimeout: seconds(15), IdleTimeout: seconds(16), HTTP: &meshtimeout.HTTP{MaxConnectionDuration: seconds(17)}},
				{ConnectionTimeout: seconds(15)},
			},
		},
		{
			Name: "gateway and override", Source: "envoyproxy/gateway internal/gatewayapi/testdata/backendtrafficpolicy-strategic-merge.in.yaml at 17996755dad5",
			Confs: []*meshtimeout.Conf{
				{ConnectionTimeout: seconds(15), IdleTimeout: seconds(16), HTTP: &meshtimeout.HTTP{MaxConnectionDuration: seconds(17)}},
				{ConnectionTimeout: seconds(10)},
			},
		},
		{
			// Policies of a route and of its gateway: the colours "dark" and "light" of p4,
			// and the override of "light" of p3.
			Name: "route and override", Source: "kubernetes-sigs/gateway-api geps/gep-713/index.md at 0219a6719b65, example 3",
			Confs: []*meshtimeout.Conf{
				{ConnectionTimeout: seconds(1), IdleTimeout: seconds(2)},
				{IdleTimeout: seconds(3)},
			},
		},
		{
			// Three fields of one policy's default and one of its override: those of its
			// gateway. The default of the route changes one of the three.
			Name: "gateway, route and override", Source: "kubernetes-sigs/gateway-api geps/gep-2649/index.md at 121d6c62f7f0, CDNCachingPolicy",
			Confs: []*meshtimeout.Conf{
				{HTTP: &meshtimeout.HTTP{RequestTimeout: seconds(1), StreamIdleTimeout: seconds(1), MaxStreamDuration: seconds(1)}},
				{HTTP: &meshtimeout.HTTP{MaxStreamDuration: seconds(2)}},
				{ConnectionTimeout: seconds(1)},
			},
		},
		{
			// The gateway's override beats the route's default in one field, and the route's
			// default the gateway's in the other one.
			Name: "defaults and override", Source: "kubernetes-sigs/gateway-api geps/gep-2649/index.md at 121d6c62f7f0, the figure of the hierarchy",
			Confs: []*meshtimeout.Conf{
				{ConnectionTimeout: seconds(1)},
				{ConnectionTimeout: seconds(2), IdleTimeout: seconds(2)},
				{IdleTimeout: seconds(3)},
			},
		},
		fleet,
	}
}

func seconds(n int) *conf.Duration {
	d := conf.Duration(time.Duration(n) * time.Second)
	return &d
}
