package proxytemplate

//go:generate go tool confgen

// Conf is the conf of a ProxyTemplate. Each list replaces the list of policies with
// lower priority; an empty list removes its elements.
//
//confgen:conf schema
type Conf struct {
	// Imports are the names of the templates that the modifications change.
	Imports []string `json:"imports,omitzero"`
	// Modifications are applied in order.
	Modifications []Modification `json:"modifications,omitzero"`
}

// Modification changes resources of one type.
type Modification struct {
	Cluster  *Change `json:"cluster,omitzero"`
	Listener *Change `json:"listener,omitzero"`
}

// Change is an operation. Value is the resource as YAML, for add and patch.
type Change struct {
	Operation Operation `json:"operation"`
	Value     *string   `json:"value,omitzero"`
}

// Operation is add, remove or patch.
type Operation string

// Enum returns the allowed values.
func (Operation) Enum() []string { return []string{"add", "remove", "patch"} }
