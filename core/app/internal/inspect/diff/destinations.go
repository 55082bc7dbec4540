package diff

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Destination is what changes for a destination (SPEC 17.3), except for the confs of
// outbounds to it, which are in groups.
type Destination struct {
	KRI    string `json:"destination"`
	Action string `json:"action"` // added, removed or changed
	// Changes are the fields of the resource that differ, sorted. Of a destination that was
	// added or removed they are its ports, addresses and host names.
	Changes []DestinationField `json:"changes,omitempty"`
	// Endpoints are the dataplanes that a MeshService selects and that differ; nil: none.
	Endpoints *DestinationEndpoints `json:"endpoints,omitempty"`
	// Because are the resources that change how clients of other zones, or of external
	// services, reach the destination, sorted (SPEC 17.4): addresses and proxies of zones,
	// Secrets, and the first or last identities of the mesh.
	Because []Cause `json:"because,omitempty"`
	Name    string  `json:"-"` // KIND [NAMESPACE/]NAME
}

// DestinationField is a field of the resource of a destination.
type DestinationField struct {
	Field  string          `json:"field"`  // JSON pointer: labels, spec or status
	Before json.RawMessage `json:"before"` // null: it is not set
	After  json.RawMessage `json:"after"`
}

// DestinationEndpoints are KRIs of dataplanes, sorted.
type DestinationEndpoints struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"`
}

// Cause is a resource that was added, removed or changed.
type Cause struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// The actions of a [Destination].
const (
	DestinationAdded   = "added"
	DestinationRemoved = "removed"
	DestinationChanged = "changed"
)

// destinations returns what changes for the destinations of a mesh, sorted by identity.
func destinations(before, after *core.View, mesh string) (list []Destination) {
	var selectors [2]*destination.Selectors
	for i, view := range []*core.View{before, after} {
		selectors[i] = destination.NewSelectors(view.Semantics(), resource.ObjectsOf[*resource.MeshService](view.Objects(mesh)))
	}
	for _, c := range core.CompareDestinations(before, after) {
		if c.Mesh != mesh || !c.OwnResource && len(c.Endpoints)+len(c.Zones) == 0 {
			continue
		}
		was, _ := before.Object(c.Destination).(resource.Destination)
		is, _ := after.Object(c.Destination).(resource.Destination)
		d := Destination{Action: DestinationChanged, Endpoints: newEndpoints(before, after, selectors, &c)}
		shown, in := is, after
		switch {
		case was == nil:
			d.Action = DestinationAdded
		case is == nil:
			d.Action, shown, in = DestinationRemoved, was, before
		}
		meta := shown.Identity()
		d.KRI, d.Name = in.Semantics().KRI(shown.KRI(""), meta), meta.Kind+" "+meta.Qualified()
		d.Changes = destinationFields(was, is)
		for _, id := range c.Zones {
			if d.Action == DestinationChanged {
				d.Because = append(d.Because, Cause{id.Kind, id.Namespace, id.Name})
			}
		}
		if d.Action != DestinationChanged || d.Endpoints != nil || len(d.Changes)+len(d.Because) > 0 {
			list = append(list, d)
		}
	}
	return list
}

// newEndpoints returns the dataplanes that a change names, by what happened to them as
// endpoints; nil if there are none.
func newEndpoints(before, after *core.View, selectors [2]*destination.Selectors, c *core.DestinationChange) *DestinationEndpoints {
	if len(c.Endpoints) == 0 {
		return nil
	}
	kri := func(view *core.View, of *destination.Selectors, id resource.ID) string {
		d := view.Dataplane(id)
		selects := func(s *resource.MeshService) bool { return s.ID == c.Destination }
		if d == nil || !slices.ContainsFunc(of.ServicesOf(d), selects) {
			return ""
		}
		return inspect.DataplaneKRI(view, d)
	}
	e := &DestinationEndpoints{}
	for _, id := range c.Endpoints {
		was, is := kri(before, selectors[0], id), kri(after, selectors[1], id)
		switch {
		case was == "" && is != "":
			e.Added = append(e.Added, is)
		case was != "" && is == "":
			e.Removed = append(e.Removed, was)
		case is != "":
			e.Changed = append(e.Changed, is)
		}
	}
	for _, list := range [][]string{e.Added, e.Removed, e.Changed} {
		slices.Sort(list)
	}
	return e
}

// destinationFields returns the fields in which two versions of a destination differ; nil is
// none.
func destinationFields(was, is resource.Destination) []DestinationField {
	before, after := fieldsOf(was), fieldsOf(is)
	names := maps.Clone(before)
	maps.Copy(names, after)
	var list []DestinationField
	for _, field := range slices.SortedFunc(maps.Keys(names), inspect.ComparePointers) {
		a, b := before[field], after[field]
		if bytes.Equal(a, b) || (was == nil || is == nil) && !isAddress(field) {
			continue
		}
		if isSecret(field) {
			a, b = hidden(a), hidden(b)
		}
		list = append(list, DestinationField{field, a, b})
	}
	return list
}

// isAddress reports whether a field is a port, an address or a host name.
func isAddress(field string) bool {
	return strings.HasPrefix(field, "/status/") || strings.HasPrefix(field, "/spec/ports/") || strings.HasPrefix(field, "/spec/match/")
}

// isSecret reports whether a field may have a key, which no answer shows.
func isSecret(field string) bool {
	return strings.HasPrefix(field, "/spec/tls/verification/clientKey/")
}

func hidden(value json.RawMessage) json.RawMessage {
	if value == nil {
		return nil
	}
	return json.RawMessage(`"[not shown]"`)
}

// fieldsOf returns the leaves of the labels, the spec and the status of a destination, which
// may be nil, by their JSON pointers.
func fieldsOf(d resource.Destination) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	if d == nil {
		return fields
	}
	labels := map[string]string{}
	for _, label := range d.Identity().Labels {
		labels[label.Key] = label.Value
	}
	status := d.State()
	var spec any
	switch d := d.(type) {
	case *resource.MeshService:
		spec = d.Spec
	case *resource.MeshExternalService:
		spec = d.Spec
	case *resource.MeshMultiZoneService:
		spec = d.Spec
	}
	shown := map[string]any{"vips": status.VIPs, "hostnames": status.Hostnames, "meshServices": status.MeshServices}
	if status.TLSReady {
		shown["tlsReady"] = true
	}
	addFields(fields, "", content.Tree(map[string]any{"labels": labels, "spec": spec, "status": shown}))
	return fields
}

// addFields adds the leaves of a tree, except for empty lists and mappings.
func addFields(fields map[string]json.RawMessage, pointer string, tree any) {
	switch tree := tree.(type) {
	case nil:
	case map[string]any:
		for key, value := range tree {
			addFields(fields, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), value)
		}
	case []any:
		for i, value := range tree {
			addFields(fields, pointer+"/"+strconv.Itoa(i), value)
		}
	default:
		fields[pointer] = content.Encode(tree)
	}
}
