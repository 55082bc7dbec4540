package meshloadbalancingstrategy

import (
	"math/big"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// LoadBalancer determines how an endpoint is chosen: a type with its settings. A
// policy that changes the type drops the settings of the previous type (SPEC 6).
type LoadBalancer struct {
	Type         LoadBalancerType `json:"type" policyMerge:"discriminator"`
	RoundRobin   *RoundRobin      `json:"roundRobin,omitzero"`
	LeastRequest *LeastRequest    `json:"leastRequest,omitzero"`
	RingHash     *RingHash        `json:"ringHash,omitzero"`
	Random       *Random          `json:"random,omitzero"`
	Maglev       *Maglev          `json:"maglev,omitzero"`
}

// LoadBalancerType is the name of the arm of a [LoadBalancer].
type LoadBalancerType string

// The types of load balancers.
const (
	RoundRobinType   LoadBalancerType = "RoundRobin"
	LeastRequestType LoadBalancerType = "LeastRequest"
	RingHashType     LoadBalancerType = "RingHash"
	RandomType       LoadBalancerType = "Random"
	MaglevType       LoadBalancerType = "Maglev"
)

// Enum returns the allowed values.
func (LoadBalancerType) Enum() []string {
	return conf.Words(RoundRobinType, LeastRequestType, RingHashType, RandomType, MaglevType)
}

// RoundRobin uses the endpoints in turn.
type RoundRobin struct{}

// Random uses a random endpoint.
type Random struct{}

// LeastRequest chooses several endpoints at random and uses the one with the fewest
// open requests.
//
//confgen:openapi {"allOf": [{"properties": {"choiceCount": {"minimum": 2}}}, {"properties": {"activeRequestBias": {"minimum": 0}}}]}
type LeastRequest struct {
	// ChoiceCount is the number of endpoints chosen at random; nil means 2.
	ChoiceCount *uint32 `json:"choiceCount,omitzero"`
	// ActiveRequestBias is the weight of open requests if endpoints have weights; nil
	// means 1, and 0 means round robin.
	ActiveRequestBias *conf.IntOrString `json:"activeRequestBias,omitzero"`
}

// Validate checks the bounds.
func (l *LeastRequest) Validate(at *diag.At) {
	if l.ChoiceCount != nil && *l.ChoiceCount < 2 {
		at.Field("choiceCount").Errorf(diag.OutOfRange, "use type Random for one choice", "must be at least 2")
	}
	if l.ActiveRequestBias != nil && l.ActiveRequestBias.Float() < 0 {
		at.Field("activeRequestBias").Errorf(diag.OutOfRange, "", "must not be negative")
	}
}

// RingHash uses the next endpoint on a ring of hashes.
type RingHash struct {
	// HashFunction is XXHash if it is nil.
	HashFunction *HashFunction `json:"hashFunction,omitzero"`
	// MinRingSize is 1024 entries if it is nil, MaxRingSize 8,000,000.
	MinRingSize  *RingSize    `json:"minRingSize,omitzero"`
	MaxRingSize  *RingSize    `json:"maxRingSize,omitzero"`
	HashPolicies []HashPolicy `json:"hashPolicies,omitzero"`
}

// Validate checks that the minimum is not greater than the maximum.
func (r *RingHash) Validate(at *diag.At) {
	if r.MinRingSize != nil && r.MaxRingSize != nil && *r.MinRingSize > *r.MaxRingSize {
		at.Field("minRingSize").Errorf(diag.OutOfRange, "", "must not be greater than maxRingSize (%d)", *r.MaxRingSize)
	}
}

// RingSize is a number of entries of a ring.
//
//confgen:openapi {"minimum": 1, "maximum": 8000000}
type RingSize uint32

const maxRingSize = 8_000_000 // Envoy's limit

// Validate checks the bounds.
func (s RingSize) Validate(at *diag.At) {
	if s == 0 || s > maxRingSize {
		at.Errorf(diag.OutOfRange, "", "must be from 1 to %d", maxRingSize)
	}
}

// HashFunction determines the positions of endpoints on a ring.
type HashFunction string

// The functions.
const (
	XXHash      HashFunction = "XXHash"
	MurmurHash2 HashFunction = "MurmurHash2"
)

// Enum returns the allowed values.
func (HashFunction) Enum() []string { return conf.Words(XXHash, MurmurHash2) }

// Maglev uses the endpoint in the entry of a table for the hash.
type Maglev struct {
	// TableSize is 65537 if it is nil.
	TableSize    *TableSize   `json:"tableSize,omitzero"`
	HashPolicies []HashPolicy `json:"hashPolicies,omitzero"`
}

// TableSize is a number of entries of a Maglev table, a prime.
//
//confgen:openapi {"minimum": 1, "maximum": 5000011}
type TableSize uint32

const maxTableSize = 5_000_011 // Envoy's limit

// Validate checks the bounds, and that the number is prime: Envoy rejects a cluster
// with any other number.
func (s TableSize) Validate(at *diag.At) {
	switch {
	case s == 0 || s > maxTableSize:
		at.Errorf(diag.OutOfRange, "", "must be from 1 to %d", maxTableSize)
	case !big.NewInt(int64(s)).ProbablyPrime(0): // exact for numbers of 64 bits
		at.Errorf(diag.OutOfRange, "leave it out for 65537", "must be a prime number")
	}
}
