package meshproxypatch

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the changes of a MeshProxyPatch to a proxy's Envoy
// configuration.
//
//confgen:conf schema
//confgen:openapi {"required": ["appendModifications"], "allOf": [{"properties": {"appendModifications": {"minItems": 1}}}]}
type Conf struct {
	// AppendModifications are applied in order; each policy appends its modifications
	// after the modifications of lower priority.
	AppendModifications []Modification `json:"appendModifications,omitzero"`
}

// Modification changes resources of one type: exactly one field is set.
//
//confgen:openapi {"oneOf": [{"required": ["cluster"]}, {"required": ["listener"]}, {"required": ["networkFilter"]}, {"required": ["httpFilter"]}, {"required": ["virtualHost"]}]}
type Modification struct {
	Cluster       *ClusterMod       `json:"cluster,omitzero"`
	Listener      *ListenerMod      `json:"listener,omitzero"`
	NetworkFilter *NetworkFilterMod `json:"networkFilter,omitzero"`
	HTTPFilter    *HTTPFilterMod    `json:"httpFilter,omitzero"`
	VirtualHost   *VirtualHostMod   `json:"virtualHost,omitzero"`
}

// ResourceOperation is an operation on clusters, listeners and virtual hosts.
type ResourceOperation string

// The operations on resources.
const (
	AddResource    ResourceOperation = "Add"
	RemoveResource ResourceOperation = "Remove"
	PatchResource  ResourceOperation = "Patch"
)

// Enum returns the allowed values.
func (ResourceOperation) Enum() []string {
	return conf.Words(AddResource, RemoveResource, PatchResource)
}

// FilterOperation is an operation on filters, which have an order.
type FilterOperation string

// The operations on filters. AddFilterBefore and AddFilterAfter insert next to the
// matched filter; if no filter matches, they do nothing.
const (
	RemoveFilter    FilterOperation = "Remove"
	PatchFilter     FilterOperation = "Patch"
	AddFilterFirst  FilterOperation = "AddFirst"
	AddFilterBefore FilterOperation = "AddBefore"
	AddFilterAfter  FilterOperation = "AddAfter"
	AddFilterLast   FilterOperation = "AddLast"
)

// Enum returns the allowed values.
func (FilterOperation) Enum() []string {
	return conf.Words(RemoveFilter, PatchFilter, AddFilterFirst, AddFilterBefore, AddFilterAfter, AddFilterLast)
}

// ClusterMod changes clusters.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"operation": {"enum": ["Remove"]}}}}, {"not": {"required": ["value"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add", "Remove"]}}}}, {"not": {"required": ["jsonPatches"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add"]}}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch"]}}}}, {"oneOf": [{"required": ["value"]}, {"required": ["jsonPatches"]}]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add"]}}}}, {"not": {"required": ["match"]}}]}]}
type ClusterMod struct {
	Match       *ClusterMatch     `json:"match,omitzero"`
	Operation   ResourceOperation `json:"operation"`
	Value       *EnvoyResource    `json:"value,omitzero"`
	JSONPatches []JSONPatch       `json:"jsonPatches,omitzero"`
}

// ClusterMatch selects clusters; nil matches all. Origin is the purpose of the
// cluster, such as inbound or outbound.
type ClusterMatch struct {
	Origin *string `json:"origin,omitzero"`
	Name   *string `json:"name,omitzero"`
}

// ListenerMod changes listeners.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"operation": {"enum": ["Remove"]}}}}, {"not": {"required": ["value"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add", "Remove"]}}}}, {"not": {"required": ["jsonPatches"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add"]}}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch"]}}}}, {"oneOf": [{"required": ["value"]}, {"required": ["jsonPatches"]}]}]}]}
type ListenerMod struct {
	Match       *ListenerMatch    `json:"match,omitzero"`
	Operation   ResourceOperation `json:"operation"`
	Value       *EnvoyResource    `json:"value,omitzero"`
	JSONPatches []JSONPatch       `json:"jsonPatches,omitzero"`
}

// ListenerMatch selects listeners.
type ListenerMatch struct {
	Origin *string           `json:"origin,omitzero"`
	Name   *string           `json:"name,omitzero"`
	Tags   map[string]string `json:"tags,omitzero"`
}

// VirtualHostMod changes virtual hosts.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"operation": {"enum": ["Remove"]}}}}, {"not": {"required": ["value"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add", "Remove"]}}}}, {"not": {"required": ["jsonPatches"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Add"]}}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch"]}}}}, {"oneOf": [{"required": ["value"]}, {"required": ["jsonPatches"]}]}]}]}
type VirtualHostMod struct {
	Match       *VirtualHostMatch `json:"match,omitzero"`
	Operation   ResourceOperation `json:"operation"`
	Value       *EnvoyResource    `json:"value,omitzero"`
	JSONPatches []JSONPatch       `json:"jsonPatches,omitzero"`
}

// VirtualHostMatch selects virtual hosts or, for Add, the route configurations to which
// a virtual host is added.
type VirtualHostMatch struct {
	Origin                 *string `json:"origin,omitzero"`
	Name                   *string `json:"name,omitzero"`
	RouteConfigurationName *string `json:"routeConfigurationName,omitzero"`
}

// NetworkFilterMod changes the network filters of listeners.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"operation": {"enum": ["Remove"]}}}}, {"not": {"required": ["value"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["AddFirst", "AddBefore", "AddAfter", "AddLast", "Remove"]}}}}, {"not": {"required": ["jsonPatches"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["AddFirst", "AddBefore", "AddAfter", "AddLast"]}}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch"]}}}}, {"oneOf": [{"required": ["value"]}, {"required": ["jsonPatches"]}]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch", "AddBefore", "AddAfter"]}}}}, {"required": ["match"], "properties": {"match": {"required": ["name"]}}}]}]}
type NetworkFilterMod struct {
	Match       *FilterMatch    `json:"match,omitzero"`
	Operation   FilterOperation `json:"operation"`
	Value       *EnvoyResource  `json:"value,omitzero"`
	JSONPatches []JSONPatch     `json:"jsonPatches,omitzero"`
}

// HTTPFilterMod changes the HTTP filters of listeners.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"operation": {"enum": ["Remove"]}}}}, {"not": {"required": ["value"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["AddFirst", "AddBefore", "AddAfter", "AddLast", "Remove"]}}}}, {"not": {"required": ["jsonPatches"]}}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["AddFirst", "AddBefore", "AddAfter", "AddLast"]}}}}, {"required": ["value"]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch"]}}}}, {"oneOf": [{"required": ["value"]}, {"required": ["jsonPatches"]}]}]}, {"anyOf": [{"not": {"properties": {"operation": {"enum": ["Patch", "AddBefore", "AddAfter"]}}}}, {"required": ["match"], "properties": {"match": {"required": ["name"]}}}]}]}
type HTTPFilterMod struct {
	Match       *FilterMatch    `json:"match,omitzero"`
	Operation   FilterOperation `json:"operation"`
	Value       *EnvoyResource  `json:"value,omitzero"`
	JSONPatches []JSONPatch     `json:"jsonPatches,omitzero"`
}

// FilterMatch selects filters by their name and listener.
type FilterMatch struct {
	Origin       *string           `json:"origin,omitzero"`
	Name         *string           `json:"name,omitzero"`
	ListenerName *string           `json:"listenerName,omitzero"`
	ListenerTags map[string]string `json:"listenerTags,omitzero"`
}
