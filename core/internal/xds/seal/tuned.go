package seal

import clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

// tunedFields are the fields of a cluster that decide neither its endpoints nor the certificate that it presents.
var tunedFields = names(
	"alt_stat_name", "circuit_breakers", "cleanup_interval", "close_connections_on_host_health_failure", "connect_timeout",
	"ignore_health_on_host_removal", "outlier_detection", "per_connection_buffer_limit_bytes", "preconnect_policy",
	"track_cluster_stats", "track_timeout_budgets", "upstream_connection_options", "wait_for_warm_on_init",
)

// IsTuned reports whether a changed cluster has the endpoints and the certificate that it had before.
func IsTuned(before, after *clusterv3.Cluster) bool {
	free := tunedFields
	if len(after.GetOutlierDetection().GetMonitors()) > 0 {
		free = free.without("outlier_detection") // monitors are extensions
	}
	return len(differences(before, after, free)) == 0
}
