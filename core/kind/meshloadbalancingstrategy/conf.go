package meshloadbalancingstrategy

import "github.com/meshmatch/meshmatch/core/resource"

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

// InKuma3 leaves out the hash policies of a load balancer: in Kuma 3 they are beside it.
func (c *Conf) InKuma3() (resource.Conf, []string) {
	balancer := c.LoadBalancer
	if balancer == nil || (balancer.RingHash == nil || balancer.RingHash.HashPolicies == nil) && (balancer.Maglev == nil || balancer.Maglev.HashPolicies == nil) {
		return c, nil
	}
	next, balancing := *c, *balancer
	var pointers []string
	if ring := balancing.RingHash; ring != nil && ring.HashPolicies != nil {
		without := *ring
		without.HashPolicies = nil
		balancing.RingHash, pointers = &without, append(pointers, "/loadBalancer/ringHash/hashPolicies")
	}
	if table := balancing.Maglev; table != nil && table.HashPolicies != nil {
		without := *table
		without.HashPolicies = nil
		balancing.Maglev, pointers = &without, append(pointers, "/loadBalancer/maglev/hashPolicies")
	}
	next.LoadBalancer = &balancing
	return &next, pointers
}
