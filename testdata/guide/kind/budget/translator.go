package budget

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// Translator applies RequestBudget to clusters.
func Translator() xds.Translator {
	return xds.Translator{
		Kind: "RequestBudget",
		Cluster: func(c *xds.Cluster, e *results.Effective) {
			budget := results.MustConfOf[Conf](e)
			if budget == nil || budget.Retries == nil || budget.Retries.Percent == nil {
				return
			}
			c.Message.CircuitBreakers = &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
				RetryBudget: &clusterv3.CircuitBreakers_Thresholds_RetryBudget{
					BudgetPercent: &typev3.Percent{Value: float64(*budget.Retries.Percent)},
				},
			}}}
		},
		Ignored: []xds.IgnoredField{
			{Field: "/requests", Reason: "a proxy does not count the requests of the others"},
			{Field: "/per", Reason: "a proxy does not count the requests of the others"},
			{Field: "/retries/methods", Reason: "MeshRetry has the methods"},
		},
		IgnoredByGRPC: []xds.IgnoredField{{Field: "/retries", Reason: "gRPC has no budget of retries"}},
	}
}
