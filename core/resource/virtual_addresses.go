package resource

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// VirtualAddresses is the Config (on Kubernetes the ConfigMap) kuma-MESH-dns-vips, in
// which Kuma 2 keeps the virtual addresses of the services of a mesh. Its mesh comes
// from this name.
type VirtualAddresses struct {
	ObjectOf[specs.VirtualAddresses]
}

const vipsPrefix, vipsSuffix = "kuma-", "-dns-vips"

// meshOfVirtualAddresses returns the mesh in the name of a Config, or false if the
// Config does not contain virtual addresses.
func meshOfVirtualAddresses(name string) (mesh string, ok bool) {
	mesh, begins := strings.CutPrefix(name, vipsPrefix)
	mesh, ends := strings.CutSuffix(mesh, vipsSuffix)
	return mesh, begins && ends && mesh != ""
}

// universalConfig decodes a Config in the universal spelling, and reports whether it
// contains virtual addresses.
func (d *decoder) universalConfig(in *strict.Value) bool {
	mesh, ok := meshOfVirtualAddresses(in.Field("name").Text())
	if !ok {
		return false
	}
	meta := universalMeta(in)
	meta.Kind, meta.Mesh = ConfigKind, mesh
	d.object(objectKinds[ConfigKind], meta, objectParts{
		at: in.At(), spec: in, except: append([]string{"type", "mesh", "name", "labels"}, liveFields...), created: in.Field("creationTime"),
	})
	return true
}

// configMap decodes a ConfigMap, and reports whether it contains virtual addresses.
func (d *decoder) configMap(in *strict.Value) bool {
	metadata := in.Field("metadata")
	if metadata == nil || !in.Has("data") {
		return false
	}
	mesh, ok := meshOfVirtualAddresses(metadata.Field("name").Text())
	if !ok {
		return false
	}
	meta := kubernetesMeta(in.At(), ConfigKind, metadata)
	meta.Mesh = mesh
	d.kubernetesObject(objectKinds[ConfigKind], meta, in, in.Field("data"))
	return true
}
