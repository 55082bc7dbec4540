package proxytemplate

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a ProxyTemplate sets for a proxy. Both lists replace those of
// other policies; an empty one empties them.
//
//confgen:conf
type Conf struct {
	// Imports are the names of templates to begin with.
	Imports []string `json:"imports,omitzero"`
	// Modifications are done one after the other.
	Modifications []Modification `json:"modifications,omitzero"`
}

// Modification changes resources of one type.
type Modification struct {
	Cluster  *Change `json:"cluster,omitzero"`
	Listener *Change `json:"listener,omitzero"`
}

// Change is what is done, with the resource as YAML where one is needed.
type Change struct {
	Operation Operation `json:"operation"`
	Value     *string   `json:"value,omitzero"`
}

// Operation is add, remove or patch.
type Operation string

// Enum returns the words.
func (Operation) Enum() []string { return []string{"add", "remove", "patch"} }
