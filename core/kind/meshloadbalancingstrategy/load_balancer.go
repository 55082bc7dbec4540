package meshloadbalancingstrategy

import (
	"math/big"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// LoadBalancer is how an endpoint is chosen: a type with its settings. A
// policy that changes the type drops the settings of the other one (SPEC 6).
type LoadBalancer struct {
	Type         LoadBalancerType `json:"type" policyMerge:"discriminator"`
	RoundRobin   *RoundRobin      `json:"roundRobin,omitzero"`
	LeastRequest *LeastRequest    `json:"leastRequest,omitzero"`
	RingHash     *RingHash        `json:"ringHash,omitzero"`
	Random       *Random          `json:"random,omitzero"`
	Maglev       *Maglev          `json:"maglev,omitzero"`
}

// LoadBalancerType names the arm of a [LoadBalancer].
type LoadBalancerType string

// The types of load balancers.
const (
	RoundRobinType   LoadBalancerType = "RoundRobin"
	LeastRequestType LoadBalancerType = "LeastRequest"
	RingHashType     LoadBalancerType = "RingHash"
	RandomType       LoadBalancerType = "Random"
	MaglevType       LoadBalancerType = "Maglev"
)

// Enum returns the words.
func (LoadBalancerType) Enum() []string {
	return conf.Words(RoundRobinType, LeastRequestType, RingHashType, RandomType, MaglevType)
}

// RoundRobin takes the endpoints in turn.
type RoundRobin struct{}

// Random takes any endpoint.
type Random struct{}

// LeastRequest takes the one with the fewest open requests of some that are
// chosen at random.
type LeastRequest struct {
	// ChoiceCount is how many are chosen at random; not set means 2.
	ChoiceCount *uint32 `json:"choiceCount,omitzero"`
	// ActiveRequestBias is how much open requests count where endpoints have
	// weights; not set means 1, and 0 is round robin.
	ActiveRequestBias *conf.IntOrString `json:"activeRequestBias,omitzero"`
}

// Validate checks the bounds.
func (l *LeastRequest) Validate(at *diag.At) {
	if l.ChoiceCount != nil && *l.ChoiceCount < 2 {
		at.Field("choiceCount").Errorf("use type Random for one choice", "must be at least 2")
	}
	if l.ActiveRequestBias != nil && l.ActiveRequestBias.Float() < 0 {
		at.Field("activeRequestBias").Errorf("", "must not be negative")
	}
}

// RingHash takes the next endpoint on a ring of hashes.
type RingHash struct {
	// HashFunction is XXHash if it is not set.
	HashFunction *HashFunction `json:"hashFunction,omitzero"`
	// MinRingSize is 1024 entries if it is not set, MaxRingSize 8,000,000.
	MinRingSize  *RingSize    `json:"minRingSize,omitzero"`
	MaxRingSize  *RingSize    `json:"maxRingSize,omitzero"`
	HashPolicies []HashPolicy `json:"hashPolicies,omitzero"`
}

// Validate checks that there is a size between the bounds.
func (r *RingHash) Validate(at *diag.At) {
	if r.MinRingSize != nil && r.MaxRingSize != nil && *r.MinRingSize > *r.MaxRingSize {
		at.Field("minRingSize").Errorf("", "must not be greater than maxRingSize (%d)", *r.MaxRingSize)
	}
}

// RingSize is a number of entries of a ring.
type RingSize uint32

const maxRingSize = 8_000_000 // Envoy's bound

// Validate checks the bounds.
func (s RingSize) Validate(at *diag.At) {
	if s == 0 || s > maxRingSize {
		at.Errorf("", "must be from 1 to %d", maxRingSize)
	}
}

// HashFunction is how endpoints are put onto a ring.
type HashFunction string

// The functions.
const (
	XXHash      HashFunction = "XXHash"
	MurmurHash2 HashFunction = "MurmurHash2"
)

// Enum returns the words.
func (HashFunction) Enum() []string { return conf.Words(XXHash, MurmurHash2) }

// Maglev takes the endpoint of a table at the hash.
type Maglev struct {
	// TableSize is 65537 if it is not set.
	TableSize    *TableSize   `json:"tableSize,omitzero"`
	HashPolicies []HashPolicy `json:"hashPolicies,omitzero"`
}

// TableSize is a number of entries of a Maglev table, a prime.
type TableSize uint32

const maxTableSize = 5_000_011 // Envoy's bound

// Validate checks the bounds, and that the number is prime: Envoy refuses a
// listener with any other.
func (s TableSize) Validate(at *diag.At) {
	switch {
	case s == 0 || s > maxTableSize:
		at.Errorf("", "must be from 1 to %d", maxTableSize)
	case !big.NewInt(int64(s)).ProbablyPrime(0): // exact for numbers of 64 bits
		at.Errorf("leave it out for 65537", "must be a prime number")
	}
}
