package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A build has no access to a state, except by the methods of its reader. Each of them records
// what it returns, so no list of what a snapshot depends on is written by hand:
//
//  1. The build of a snapshot asks its reader, and the snapshot keeps the reads.
//  2. [Snapshot.holds] compares the reads with a later state (inputs.go).
//  3. With Options.Audit, a snapshot whose reads hold is built again. A difference is a
//     panic: something was read by another way.
//
// The dataplane and its configs are the arguments of a build; see basis.

// reads are what the build of some parts has asked a reader for.
type reads struct {
	inputs inputSet
	sets   []destinationSet // the endpoints of destinations
	// services are those of the destinations.
	services serviceBits
}

// destinationSet is a destination with the endpoints that it had.
type destinationSet struct {
	destination *destination
	set         *endpointSet
}

func (r *reads) hash(before uint64) uint64 { return hashOf(hashOf(before, r.inputs), r.sets...) }

func (r *reads) equal(o *reads) bool { return r.inputs == o.inputs && slices.Equal(r.sets, o.sets) }

// reader gives a build the inputs of a state, and records each of them.
type reader struct {
	state     *State
	mesh      *meshState
	dataplane *resource.Dataplane
	reads     *reads // of the parts that are being built
}

// identity returns the identity of the dataplane, nil if it has none.
func (r *reader) identity() (*identity.Identity, error) {
	r.reads.inputs |= identityInput
	return r.mesh.identities.IdentityOf(r.dataplane)
}

// clientTrustDomain returns the trust domain of all clients that the dataplane, which has an
// identity, accepts; "" if there may be several.
func (r *reader) clientTrustDomain() string {
	r.reads.inputs |= trustDomainInput
	return r.mesh.clientTrustDomain(r.dataplane)
}

// trusts returns the MeshTrusts of the mesh.
func (r *reader) trusts() []*resource.MeshTrust {
	r.reads.inputs |= trustsInput
	return r.mesh.trusts
}

// open reports that no permission is applied to the dataplane (SPEC 17.1).
func (r *reader) open() bool {
	r.reads.inputs |= openInput
	return r.mesh.isOpen(r.dataplane)
}

// passthroughOff reports that the mesh turns passthrough off.
func (r *reader) passthroughOff() bool {
	r.reads.inputs |= passthroughInput
	return r.mesh.passthroughOff
}

// collectors returns the collectors of the mesh.
func (r *reader) collectors() *collector.Directory {
	r.reads.inputs |= collectorsInput
	return r.mesh.collectors
}

// destinations returns the destinations of the mesh that are resources.
func (r *reader) destinations() *destinations.Directory {
	r.reads.inputs |= destinationsInput
	return r.mesh.destinations
}

// outbounds returns the outbounds of the dataplane to resources. The snapshot must keep them
// as the outbounds of its targets.
func (r *reader) outbounds() []destinations.Outbound {
	r.reads.inputs |= outboundsInput
	return r.state.view.DestinationOutbounds(r.dataplane)
}

// target returns the destination of an outbound to a resource. It depends on the outbound,
// and on the Secrets of an external service, which are compared with its endpoints.
func (r *reader) target(o *destinations.Outbound) *destination {
	return r.mesh.target(r.state.builder, o, enforce.ZoneOf(r.dataplane))
}

// endpoints returns the endpoints of a destination.
func (r *reader) endpoints(d *destination) *endpointSet {
	set := r.mesh.endpoints(r.state.builder, d)
	if read := (destinationSet{d, set}); !slices.Contains(r.reads.sets, read) {
		r.reads.sets = append(r.reads.sets, read)
		r.reads.services |= d.serviceBit(r.state.builder.seed)
	}
	return set
}

// exposures returns what the listeners of a zone proxy lead to. The snapshot must keep them.
func (r *reader) exposures() []exposure {
	r.reads.inputs |= exposuresInput
	return r.mesh.exposures(r.state.builder, r.dataplane)
}

// configsOf returns the configs of a dataplane that other policies may select than the
// reader's. They may depend on everything: the snapshot must keep the view.
func (r *reader) configsOf(other *resource.Dataplane) []*results.Config {
	r.reads.inputs |= viewInput
	return r.state.view.Configs(other, r.state.builder.scope)
}

// configsAs returns the configs of the dataplane in another form, which the same policies
// select. They depend on what its own configs depend on.
func (r *reader) configsAs(form *resource.Dataplane) []*results.Config {
	r.reads.inputs |= configsInput
	return r.state.view.Configs(form, r.state.builder.scope)
}

// configsWith returns the configs that the dataplane would have with other outbounds.
func (r *reader) configsWith(outbounds []resource.Outbound) []*results.Config {
	with := *r.dataplane
	with.Outbounds = outbounds
	return r.configsAs(&with)
}

// foundConfs returns the confs that other outbounds to resources, which are not empty, would
// have.
func (r *reader) foundConfs(configs []*results.Config, outbounds []destinations.Outbound) *targetConfs {
	r.reads.inputs |= configsInput
	return r.state.kindConfs(r.dataplane, configs).targetsOf(outbounds)
}

// passthroughConfs returns the confs of passthrough. The snapshot must keep them in its basis.
func (r *reader) passthroughConfs(configs []*results.Config) map[string]*results.Effective {
	r.reads.inputs |= passingInput
	return r.state.passthroughConfs(r.dataplane, configs)
}

// view returns the view of the state, to be kept, not to be read.
func (r *reader) view() *core.View { return r.state.view }
