package meshloadbalancingstrategy

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshLoadBalancingStrategy for an outbound.
//
//confgen:conf hash schema
type Conf struct {
	LocalityAwareness *LocalityAwareness `json:"localityAwareness,omitzero"`
	// LoadBalancer is RoundRobin if it is nil.
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitzero"`
	// HashPolicies are the hash policies of RingHash and Maglev, unless they
	// have their own.
	HashPolicies []HashPolicy `json:"hashPolicies,omitzero"`
}
