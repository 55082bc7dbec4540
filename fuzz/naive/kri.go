package naive

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// kri returns kri_<short>_<mesh>_<zone>_<namespace>_<name>_ (SPEC 10).
func kri(short string, meta *resource.Meta) string {
	zone, _ := lookup(meta.Labels, "kuma.io/zone")
	parts := []string{short, meta.Mesh, zone, meta.Namespace, meta.Name, ""}
	for i, part := range parts {
		part = strings.ReplaceAll(part, "%", "%25")
		parts[i] = strings.ReplaceAll(part, "_", "%5F")
	}
	return "kri_" + strings.Join(parts, "_")
}

// kri returns the KRI of a resource in answers: in Kuma it has the display name and the
// namespace where the resource was made.
func (m *mesh) kri(short string, meta *resource.Meta) string {
	if !m.kumaLike() {
		return kri(short, meta)
	}
	shown := *meta
	shown.Name, shown.Namespace = displayName(meta), madeIn(meta)
	return kri(short, &shown)
}

func policyKRI(p *resource.Policy) string { return kri(p.Type.Short, &p.Meta) }

func (m *mesh) policyKRI(p *resource.Policy) string { return m.kri(p.Type.Short, &p.Meta) }
