package snapshot

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// outboundParts are the parts of a snapshot that belong to its outbounds. Dataplanes
// with the same outbounds and confs have the same parts: then they are one pointer.
type outboundParts struct {
	parts []*built
	sets  []destinationSet
	// The following are made from parts and sets.
	api       []*wire.Resource // see Snapshot.API
	endpoints []*wire.Resource // sorted by name
}

func (p *outboundParts) hash() uint64 { return hashOf(hashOf(0, p.parts...), p.sets...) }

func (p *outboundParts) equal(o *outboundParts) bool {
	return slices.Equal(p.parts, o.parts) && slices.Equal(p.sets, o.sets)
}

// outboundParts returns the shared parts of the snapshot.
func (sb *snapshotBuilder) outboundParts() *outboundParts {
	p := &sb.shared
	return sb.bundles.get(p, func() *outboundParts {
		done := &outboundParts{parts: slices.Clone(p.parts), sets: slices.Clone(p.sets), api: slices.Clone(p.api)}
		slices.SortFunc(done.api, func(a, b *wire.Resource) int { return cmp.Compare(a.Name, b.Name) })
		done.endpoints = slices.Clone(sb.resources[wire.EndpointType])
		return done
	})
}

// secretKey identifies the secrets of a dataplane. Most dataplanes that read them from
// files have equal ones.
type secretKey struct{ first, second *wire.Resource }

// secretPart returns the part that secrets are.
func (b *Builder) secretPart(secrets []*wire.Resource, warnings []xds.Warning) *built {
	made := func() *built { return &built{resources: secrets, warnings: warnings} }
	if len(secrets) != 2 || len(warnings) > 0 {
		return made()
	}
	return b.secretParts.Get(secretKey{secrets[0], secrets[1]}, made)
}
