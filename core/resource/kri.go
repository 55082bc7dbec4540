package resource

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ID is the identity of a resource (SPEC 1.2). Kind is a name such as
// MeshTimeout or Dataplane.
type ID struct {
	Kind      string
	Mesh      string
	Namespace string
	Name      string
}

// Meta contains the fields that every resource has.
type Meta struct {
	ID
	Labels Tags          // unlike the values of tags, label values are free text
	Pos    diag.Position // of the document; zero if the resource was not read from a file
}

// Identity returns the Meta of a resource that contains it.
func (m *Meta) Identity() *Meta { return m }

// Zone returns the zone in which the resource was made, or "".
func (m *Meta) Zone() string { return m.Labels.Value(ZoneTag) }

var kriEscaper = strings.NewReplacer("%", "%25", "_", "%5F")

// kri returns the Kuma resource identifier
// kri_<short>_<mesh>_<zone>_<namespace>_<name>_<section>; empty parts stay
// empty, and in a part _ is %5F and % is %25 (SPEC 10).
func kri(short string, m *Meta, section string) string {
	var b strings.Builder
	b.WriteString("kri")
	for _, part := range [...]string{short, m.Mesh, m.Zone(), m.Namespace, m.Name, section} {
		b.WriteByte('_')
		b.WriteString(kriEscaper.Replace(part))
	}
	return b.String()
}

// DisplayKRI returns a KRI of the resource with its display name and the namespace where
// it was made. They replace the name and namespace of its identity.
func (m *Meta) DisplayKRI(kri string) string {
	name, namespace := m.DisplayName(), m.HomeNamespace()
	if name == m.Name && namespace == m.Namespace {
		return kri
	}
	parts := strings.Split(kri, "_")
	parts[4], parts[5] = kriEscaper.Replace(namespace), kriEscaper.Replace(name)
	return strings.Join(parts, "_")
}

var kriUnescaper = strings.NewReplacer("%5F", "_", "%25", "%")

// ParseDataplaneKRI returns the identity and the zone of the dataplane that a KRI
// names. It returns false for a KRI of another kind or of an inbound, and for any
// other text.
func ParseDataplaneKRI(kri string) (id ID, zone string, ok bool) {
	parts := strings.Split(kri, "_")
	if len(parts) != 7 || parts[0] != "kri" || parts[1] != dataplaneShort || parts[6] != "" {
		return ID{}, "", false
	}
	for i, part := range parts {
		if strings.Contains(part, "%") {
			parts[i] = kriUnescaper.Replace(part)
		}
	}
	return ID{DataplaneKind, parts[2], parts[4], parts[5]}, parts[3], true
}
