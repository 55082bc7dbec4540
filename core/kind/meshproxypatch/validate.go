package meshproxypatch

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that there is a modification. Lists are concatenated, so an empty
// list cannot even reset.
func (c *Conf) Validate(at *diag.At) {
	if len(c.AppendModifications) == 0 {
		at.Field("appendModifications").Errorf(diag.EmptyValue, "give a modification, or remove the policy", "must not be empty")
	}
}

// Validate checks that exactly one field is set.
func (m *Modification) Validate(at *diag.At) {
	found := ""
	for _, field := range []struct {
		name    string
		present bool
	}{
		{"cluster", m.Cluster != nil}, {"listener", m.Listener != nil}, {"networkFilter", m.NetworkFilter != nil},
		{"httpFilter", m.HTTPFilter != nil}, {"virtualHost", m.VirtualHost != nil},
	} {
		switch {
		case !field.present:
		case found != "":
			at.Field(field.name).Errorf(diag.BothPresent, "write two modifications", "is given in addition to %s", found)
		default:
			found = field.name
		}
	}
	if found == "" {
		at.Errorf(diag.EmptyValue, "give one of cluster, listener, networkFilter, httpFilter and virtualHost", "a modification must change something")
	}
}

// Validate checks that the operation allows the fields.
func (m *ClusterMod) Validate(at *diag.At) {
	m.Value.checkType(at.Field("value"), "envoy.config.cluster.v3.Cluster")
	validateContent(at, m.Operation, m.Value, m.JSONPatches)
	validateNoMatch(at, "match", m.Operation, m.Match != nil)
}

// Validate checks that the operation allows the fields.
func (m *ListenerMod) Validate(at *diag.At) {
	fields := m.Value.checkType(at.Field("value"), "envoy.config.listener.v3.Listener")
	if m.Operation == AddResource {
		validateHasAny(at, fields, "a listener that is added needs an address", "give address, with a socketAddress",
			"address", "internalListener", "internal_listener", "apiListener", "api_listener")
	}
	validateContent(at, m.Operation, m.Value, m.JSONPatches)
	validateNoMatch(at, "match", m.Operation, m.Match != nil)
}

// Validate checks that the operation allows the fields. Add adds a virtual host to route
// configurations, so only the name of a virtual host cannot be matched.
func (m *VirtualHostMod) Validate(at *diag.At) {
	m.Value.checkType(at.Field("value"), "envoy.config.route.v3.VirtualHost")
	validateContent(at, m.Operation, m.Value, m.JSONPatches)
	if m.Match != nil {
		validateNoMatch(at.Field("match"), "name", m.Operation, m.Match.Name != nil)
	}
}

// Validate checks that the operation allows the fields.
func (m *NetworkFilterMod) Validate(at *diag.At) {
	validateFilter(at, m, "envoy.config.listener.v3.Filter")
}

// Validate checks that the operation allows the fields.
func (m *HTTPFilterMod) Validate(at *diag.At) {
	validateFilter(at, (*NetworkFilterMod)(m), "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter")
}

// validateFilter checks a modification of filters of a message type.
func validateFilter(at *diag.At, m *NetworkFilterMod, message string) {
	fields := m.Value.checkType(at.Field("value"), message)
	validateContent(at, m.Operation, m.Value, m.JSONPatches)
	switch m.Operation {
	case PatchFilter, AddFilterBefore, AddFilterAfter:
		if m.Match == nil || m.Match.Name == nil {
			at.Field("match").Field("name").Errorf(diag.MissingField, "", "is required for %q", m.Operation)
		}
	}
	// Envoy finds the code of a filter by the type of its config, not by its name.
	if m.Operation != RemoveFilter && m.Operation != PatchFilter {
		validateHasAny(at, fields, "a filter that is added needs a config", "give typedConfig, with the @type of the extension",
			"typedConfig", "typed_config", "configDiscovery", "config_discovery")
	}
}

// Validate checks the tags.
func (m *ListenerMatch) Validate(at *diag.At) {
	conf.ValidateSelector(at.Field("tags"), m.Tags)
}

// Validate checks the tags.
func (m *FilterMatch) Validate(at *diag.At) {
	conf.ValidateSelector(at.Field("listenerTags"), m.ListenerTags)
}

// operation is a [ResourceOperation] or a [FilterOperation].
type operation interface{ Enum() []string }

// validateContent checks the content of an operation: Remove has neither a value nor
// patches, Patch has one of them, and the other operations have a value.
func validateContent(at *diag.At, operation operation, value *EnvoyResource, patches []JSONPatch) {
	word := fmt.Sprint(operation)
	if !slices.Contains(operation.Enum(), word) {
		return // reported at its place
	}
	patch, remove := word == string(PatchResource), word == string(RemoveResource)
	switch {
	case remove && value != nil:
		at.Field("value").Errorf(diag.FieldNotAllowed, "remove it", `is not allowed with "Remove"`)
	case patch && value != nil && patches != nil:
		at.Field("jsonPatches").Errorf(diag.BothPresent, "use one of them", "value and jsonPatches are both present")
	case patch && value == nil && len(patches) == 0:
		at.Field("value").Errorf(diag.MissingField, "or give jsonPatches", `is required for "Patch"`)
	case !patch && patches != nil:
		at.Field("jsonPatches").Errorf(diag.FieldNotAllowed, "remove them", `are only allowed with "Patch"`)
	case !patch && !remove && value == nil:
		at.Field("value").Errorf(diag.MissingField, "", "is required to add a resource")
	}
}

func validateNoMatch(at *diag.At, field string, operation ResourceOperation, present bool) {
	if operation == AddResource && present {
		at.Field(field).Errorf(diag.FieldNotAllowed, "remove it", `is not allowed with "Add": nothing is matched`)
	}
}

// validateHasAny checks that a value has at least one of some fields. Fields are nil if there is
// no value, or none that can be read.
func validateHasAny(at *diag.At, fields map[string]conf.JSON, what, hint string, names ...string) {
	if fields == nil {
		return
	}
	for _, name := range names {
		if _, has := fields[name]; has {
			return
		}
	}
	at.Field("value").Errorf(diag.BadEnvoyResource, hint, "%s", what)
}
