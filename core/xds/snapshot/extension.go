package snapshot

import (
	"bytes"
	"hash/maphash"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// extension is an extension resource. It keeps its content in the pool: names differ by
// dataplane, but most dataplanes of a mesh have equal permissions.
type extension struct {
	wire.Resource
	shared *extensionContent
}

// extensionContent is what extensions that differ only in their names share.
type extensionContent struct {
	body    []byte
	version string
}

func (c *extensionContent) hash() uint64                   { return maphash.Bytes(poolSeed, c.body) }
func (c *extensionContent) equal(o *extensionContent) bool { return bytes.Equal(c.body, o.body) }

// extension returns the resource of an extension of one dataplane: the one of the
// dataplane's previous snapshot, if that is equal.
func (b *Builder) extension(m *corev3.TypedExtensionConfig, before *built) *wire.Resource {
	b.resources.builds.Add(1)
	like := &extensionContent{body: message.Marshal(&corev3.TypedExtensionConfig{TypedConfig: m.TypedConfig})}
	shared := b.contents.get(like, func() *extensionContent {
		b.resources.made.Add(1)
		like.version = wire.VersionOf(like.body)
		return like
	})
	if before != nil {
		for _, known := range before.resources {
			if known.Type == wire.ExtensionType && known.Name == m.Name && known.Version == shared.version {
				return known
			}
		}
	}
	e := &extension{shared: shared}
	e.Resource = wire.Resource{Type: wire.ExtensionType, Name: m.Name, Version: shared.version, Body: shared.body}
	return &e.Resource
}

// refersTo reports whether a resource of a type uses another one by its name: a listener an
// extension, or a cluster a secret. It compares bytes, because decoding each listener would
// cost more than building it: the name of a resource is encoded as in what refers to it, with
// its length.
func refersTo(resources []*wire.Resource, from wire.Type, name string) bool {
	encoded := (&wire.Resource{Type: wire.ExtensionType, Name: name}).Append(nil)
	return slices.ContainsFunc(resources, func(r *wire.Resource) bool {
		return r.Type == from && bytes.Contains(r.Body, encoded)
	})
}
