package rbac

import "strings"

// effect is what a filter that is no RBAC filter can do to a request.
type effect struct {
	refuses bool // it can refuse one that later filters would allow
	changes bool // it can change what later filters compare
}

// effects has what the filters do that are known; any other does both.
var effects = map[string]effect{
	"router": {}, "tcp_proxy": {}, "fault": {}, "local_ratelimit": {}, "ratelimit": {}, "compressor": {}, "decompressor": {},
	"grpc_web": {}, "grpc_stats": {}, "set_filter_state": {}, "set_metadata": {}, "stateful_session": {}, "connection_limit": {},
	"health_check": {}, "bandwidth_limit": {}, "adaptive_concurrency": {}, "admission_control": {}, "cors": {}, "buffer": {},
	"sni_cluster": {}, "echo": {}, "direct_response": {}, "stats": {}, "peer_metadata": {}, "alpn": {}, "metadata_exchange": {}, "istio_stats": {},
	"mysql_proxy": {}, "redis_proxy": {}, "kafka_broker": {}, "mongo_proxy": {}, "grpc_field_extraction": {}, "on_demand": {},
	"csrf": {refuses: true}, "basic_auth": {refuses: true}, "jwt_authn": {refuses: true, changes: true}, "oauth2": {refuses: true, changes: true},
	"api_key_auth": {refuses: true}, "geoip": {changes: true}, "header_mutation": {changes: true}, "header_to_metadata": {changes: true},
}

// effectOf returns what a filter of a type can do.
func effectOf(kind string) effect {
	parts := strings.Split(kind, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		if e, known := effects[parts[i]]; known {
			return e
		}
	}
	return effect{refuses: true, changes: true}
}
