package serve

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// access decides by the SPIFFE IDs of clients (SPEC 12.1). It implements
// [server.Access].
type access struct{ relays []string }

// Node reports whether the client has the SPIFFE ID of the dataplane, or is a relay.
func (a *access) Node(state server.State, client *server.Client, id string) bool {
	if a.isRelay(client) {
		return true
	}
	p := state.(*publication)
	d := p.dataplane(id)
	if d == nil {
		return true // there is nothing to have; it waits
	}
	own, err := p.view.Identities(d.Mesh).Of(d)
	return err == nil && own != nil && own.SPIFFEID == client.Identity
}

// Parameters reports whether the parameters are those of a dataplane with the SPIFFE ID
// of the client, by one of its inbounds. They must be complete: a tag that is left out
// would choose what the dataplane does not get.
func (a *access) Parameters(state server.State, client *server.Client, parameters map[string]string) bool {
	if a.isRelay(client) {
		return true
	}
	for _, d := range state.(*publication).bySPIFFEID()[client.Identity] {
		for i := range max(1, len(d.Inbounds)) {
			if maps.Equal(variant.ParametersOf(d, i), parameters) {
				return true
			}
		}
	}
	return false
}

func (a *access) isRelay(client *server.Client) bool {
	return client.Identity != "" && slices.Contains(a.relays, client.Identity)
}

// bySPIFFEID returns the dataplanes of a view by their SPIFFE IDs.
func bySPIFFEID(view *core.View) map[string][]*resource.Dataplane {
	dataplanes := map[string][]*resource.Dataplane{}
	for _, mesh := range view.Meshes() {
		identities := view.Identities(mesh)
		for _, d := range view.Dataplanes(mesh) {
			if own, err := identities.Of(d); err == nil && own != nil {
				dataplanes[own.SPIFFEID] = append(dataplanes[own.SPIFFEID], d)
			}
		}
	}
	return dataplanes
}

// identify returns the SPIFFE ID of the client of a call over TLS.
func identify(ctx context.Context) (string, error) {
	p, ok := peer.FromContext(ctx)
	if ok {
		if info, isTLS := p.AuthInfo.(credentials.TLSInfo); isTLS && len(info.State.VerifiedChains) > 0 {
			if id := spiffeIDOf(info.State.PeerCertificates[0]); id != "" {
				return id, nil
			}
			return "", status.Error(codes.Unauthenticated, "the client certificate has no SPIFFE ID, or several")
		}
	}
	return "", status.Error(codes.Unauthenticated, "there is no client certificate")
}
