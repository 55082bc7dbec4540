package resource

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ID is the identity of a resource (SPEC 1.2). Kind is the type's name, such
// as MeshTimeout or Dataplane.
type ID struct {
	Kind      string
	Mesh      string
	Namespace string
	Name      string
}

// Meta is what every resource has.
type Meta struct {
	ID
	Labels Tags          // free text values; unlike tags they are not restricted
	Pos    diag.Position // of the document; zero where it was not read from a file
}

// Zone returns the zone that the resource was made in, or "".
func (m *Meta) Zone() string { return m.Labels.Value(ZoneTag) }

var kriEscaper = strings.NewReplacer("%", "%25", "_", "%5F")

// KRI returns the Kuma resource identifier
// kri_<short>_<mesh>_<zone>_<namespace>_<name>_<section>; empty parts stay
// empty, and in a part _ is %5F and % is %25 (SPEC 10).
func KRI(short string, m *Meta, section string) string {
	var b strings.Builder
	b.WriteString("kri")
	for _, part := range [...]string{short, m.Mesh, m.Zone(), m.Namespace, m.Name, section} {
		b.WriteByte('_')
		b.WriteString(kriEscaper.Replace(part))
	}
	return b.String()
}
