package shapes

// Balancing has discriminated unions: by pointer, in a list by key and
// in a map.
//
//confgen:conf hash clone
type Balancing struct {
	LoadBalancer *LoadBalancer            `json:"loadBalancer,omitzero"`
	Zones        []Zone                   `json:"zones,omitzero" policyMerge:"mergeValuesByKey"`
	Balancers    []Balancer               `json:"balancers,omitzero" policyMerge:"mergeValuesByKey"`
	Ranked       []Zone                   `json:"ranked,omitzero" policyMerge:"mergeValuesByKey,highestFirst"`
	RankedPtrs   []*Zone                  `json:"rankedPtrs,omitzero" policyMerge:"mergeValuesByKey,highestFirst"`
	RankedBehind *Zones                   `json:"rankedBehind,omitzero" policyMerge:"mergeValuesByKey,highestFirst"`
	Services     map[string]LoadBalancer  `json:"services,omitzero"`
	Pointers     map[string]*LoadBalancer `json:"pointers,omitzero"`
	Factor       *float64                 `json:"factor,omitzero"`
}

// LoadBalancer is a union with arms of every kind.
type LoadBalancer struct {
	Type     BalancerType `json:"type" policyMerge:"discriminator"`
	RingHash *RingHash    `json:"ringHash,omitzero"`
	Random   *Empty       `json:"random,omitzero"`
	Plain    *string      `json:"plain,omitzero"`
	List     []string     `json:"list,omitzero"`
	Appended []string     `json:"appended,omitzero" policyMerge:"concat"`
	Behind   *Words       `json:"behind,omitzero" policyMerge:"concat"`
}

// BalancerType is the name of an arm.
type BalancerType string

// RingHash is an arm that merges field by field.
type RingHash struct {
	MinRingSize *uint32 `json:"minRingSize,omitzero"`
	MaxRingSize *uint32 `json:"maxRingSize,omitzero"`
}

// Zone is an element with a union.
type Zone struct {
	Name         string        `json:"name" policyMerge:"mergeKey"`
	LoadBalancer *LoadBalancer `json:"loadBalancer,omitzero"`
}

// Zones is a named list.
type Zones []Zone

// Balancer is an element that is itself a union.
type Balancer struct {
	Name     string       `json:"name" policyMerge:"mergeKey"`
	Type     BalancerType `json:"type" policyMerge:"discriminator"`
	RingHash *RingHash    `json:"ringHash,omitzero"`
	Plain    *string      `json:"plain,omitzero"`
}
