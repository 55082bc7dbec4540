package meshloadbalancingstrategy

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a MeshLoadBalancingStrategy sets for an outbound.
//
//confgen:conf hash
type Conf struct {
	LocalityAwareness *LocalityAwareness `json:"localityAwareness,omitzero"`
	// LoadBalancer is RoundRobin if it is nil.
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitzero"`
	// HashPolicies are what RingHash and Maglev hash, unless they have their
	// own policies.
	HashPolicies []HashPolicy `json:"hashPolicies,omitzero"`
}
