package destination

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The server name (SNI) of a connection selects the destination at a zone proxy (SPEC
// 17.4). It has two forms:
//
//	sni.SHORT.MESH[.ZONE[.NAMESPACE]].NAME.SECTION
//	aHASH.NAME[.NAMESPACE].PORT.MESH.SHORT
//
// The first form has the parts of the KRI with the display name. The second one is the form of
// Kuma 2. HASH is FNV-1a of 64 bits of "NAME[.NAMESPACE];MESH;" in hexadecimal, and only a
// MeshService has a namespace in it.

const maxLabel, maxServerName = 63, 253

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// serverName returns the server name of a port in the first form. It returns false if a
// part of the name is not a DNS label, or if the name is too long.
func serverName(d resource.Destination, port resource.DestinationPort) (string, bool) {
	m := d.Identity()
	labels := []string{"sni", shortNames[items.KindOf(d)].kri, m.Mesh}
	if zone := m.Zone(); zone != "" {
		labels = append(labels, zone)
		if namespace := m.HomeNamespace(); namespace != "" {
			labels = append(labels, namespace)
		}
	}
	labels = append(labels, m.DisplayName(), port.SectionName())
	for _, label := range labels {
		if !dnsLabel.MatchString(label) {
			return "", false
		}
	}
	name := strings.Join(labels, ".")
	return name, len(name) <= maxServerName
}

// hashedServerName returns the server name of a port in the form of Kuma 2.
func hashedServerName(d resource.Destination, port resource.DestinationPort) string {
	m := d.Identity()
	name := m.DisplayName()
	if namespace := m.HomeNamespace(); namespace != "" && items.KindOf(d) == resource.TargetMeshService {
		name += "." + namespace
	}
	hash := fnv.New64a()
	_, _ = fmt.Fprintf(hash, "%s;%s;", name, m.Mesh) // never fails
	return fmt.Sprintf("a%x.%s.%d.%s.%s", hash.Sum(nil), shortened(name), port.Number, shortened(m.Mesh), shortNames[items.KindOf(d)].kuma2)
}

// shortened cuts a name as Kuma 2 does.
func shortened(name string) string {
	if len(name) < maxLabel {
		return name
	}
	return name[:maxLabel-1] + "x"
}

// shortNames are the names of the kinds in server names.
var shortNames = map[resource.TargetKind]struct{ kri, kuma2 string }{
	resource.TargetMeshService:          {"msvc", "ms"},
	resource.TargetMeshExternalService:  {"extsvc", "mes"},
	resource.TargetMeshMultiZoneService: {"mzsvc", "mzms"},
}
