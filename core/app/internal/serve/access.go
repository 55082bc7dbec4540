package serve

import (
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// access decides by the SPIFFE IDs of clients (SPEC 12.1). It implements
// [server.Access].
type access struct{ relays, relaySecrets []string }

// Node reports whether the client has the SPIFFE ID of the dataplane, or is a relay.
func (a *access) Node(state server.State, client *server.Client, id string) bool {
	identity, every := a.identityOf(client)
	if every {
		return true
	}
	p := state.(*publication)
	d := p.view().DataplaneOf(id)
	if d == nil {
		return true // no resources exist; the client waits
	}
	own, err := p.view().Identities(d.Mesh).IdentityOf(d)
	return err == nil && own != nil && own.SPIFFEID == identity && !p.ambiguous()[own.TrustDomain]
}

// Parameters reports whether a dataplane with the client's SPIFFE ID has an inbound with
// exactly these parameters. Without one of its tags, they could select a resource that the
// dataplane does not get.
func (a *access) Parameters(state server.State, client *server.Client, parameters map[string]string) bool {
	identity, every := a.identityOf(client)
	return every || state.(*publication).owners().have(identity, parameters)
}

// Name reports whether a name is of the mesh of the client: its parameters describe a dataplane
// of that mesh, and choose resources of no other one. All dataplanes with one SPIFFE ID are in
// one mesh; see ambiguous.
func (a *access) Name(state server.State, client *server.Client, name string) bool {
	identity, every := a.identityOf(client)
	if every {
		return true
	}
	mesh, _, _ := strings.Cut(name, "/")
	own := state.(*publication).owners().dataplanes[identity]
	return len(own) > 0 && own[0].Mesh == mesh
}

// identityOf returns the identity that decides what a client may have, or whether it may have
// everything: a relay that speaks for no other client.
func (a *access) identityOf(client *server.Client) (identity string, every bool) {
	if !a.isRelay(client) {
		return client.Identity, false
	}
	return client.For, client.For == ""
}

// mayHaveSecrets reports whether a client may have private keys: a relay only if it is
// named for that.
func (a *access) mayHaveSecrets(client *server.Client) bool {
	return !a.isRelay(client) || slices.Contains(a.relaySecrets, client.Identity)
}

// speaksFor returns the SPIFFE ID of the client that a relay speaks for.
func speaksFor(metadata *structpb.Struct) string {
	return metadata.GetFields()[relay.ClientMetadata].GetStringValue()
}

func (a *access) isRelay(client *server.Client) bool {
	return client.Identity != "" && slices.Contains(a.relays, client.Identity)
}

// ambiguous returns the trust domains that several meshes share. A certificate of such a
// domain does not show the mesh of its owner, so it proves no identity (SPEC 12.1).
func ambiguous(view *core.View) map[string]bool {
	domains := map[string]bool{}
	for _, o := range check.TrustDomainOverlaps(view) {
		domains[o.TrustDomain] = true
	}
	return domains
}

// owners are the dataplanes of a view by their SPIFFE IDs. Many replicas of a service may
// share one ID, and a client may ask for many parameters. So the parameters of the replicas
// are formatted once for each ID, and compared as texts.
type owners struct {
	dataplanes map[string][]*resource.Dataplane
	parameters sync.Map // map[string]bool by SPIFFE ID: the parameters of its dataplanes
}

func ownersOf(view *core.View, ambiguous map[string]bool) *owners {
	o := &owners{dataplanes: map[string][]*resource.Dataplane{}}
	for _, mesh := range view.Meshes() {
		identities := view.Identities(mesh)
		for _, d := range view.Dataplanes(mesh) {
			if own, err := identities.IdentityOf(d); err == nil && own != nil && !ambiguous[own.TrustDomain] {
				o.dataplanes[own.SPIFFEID] = append(o.dataplanes[own.SPIFFEID], d)
			}
		}
	}
	return o
}

// have reports whether the parameters belong to a dataplane with a SPIFFE ID.
func (o *owners) have(id string, parameters map[string]string) bool {
	dataplanes := o.dataplanes[id]
	if len(dataplanes) == 0 {
		return false
	}
	known, ok := o.parameters.Load(id)
	if !ok {
		texts := map[string]bool{}
		for _, d := range dataplanes {
			for i := range max(1, len(d.Inbounds)) {
				texts[variant.FormatParameters(variant.ParametersOf(d, i))] = true
			}
		}
		known, _ = o.parameters.LoadOrStore(id, texts)
	}
	return known.(map[string]bool)[variant.FormatParameters(parameters)]
}

// identify returns the SPIFFE ID of the client of a call over TLS.
func identify(ctx context.Context) (string, error) {
	p, ok := peer.FromContext(ctx)
	if ok {
		if info, isTLS := p.AuthInfo.(clientInfo); isTLS {
			if id := spiffeIDOf(info.certificate); id != "" {
				return id, nil
			}
			return "", status.Error(codes.Unauthenticated, "the client certificate has no SPIFFE ID, or several")
		}
	}
	return "", status.Error(codes.Unauthenticated, "there is no client certificate")
}
