package requests

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Limits returns limits for the questions about permissions of an answer. A question
// may take a second, and all of them together a few seconds, times n. Beyond that, the
// answer is unknown. 8,000 entries for 500 identities, 2,000 of them with distinct
// expressions, take 14 million steps and 0.3 s.
func Limits(n int) access.Limits { return access.Shared(1<<24, n<<25) }

// Space describes the requests that an inbound can receive.
type Space struct {
	Protocol request.Protocol
	Plain    bool
	NoTags   bool   // certificates have no tags
	Domain   string // "": any
	// Classic means that a SPIFFE ID has a service of the client and no other name, as the
	// `mtls` of a Mesh gives them. The domain is the mesh.
	Classic bool
}

func (s Space) Access() *access.Space {
	space := &access.Space{Protocol: s.Protocol, Plain: s.Plain, NoTags: s.NoTags}
	if s.Domain != "" {
		space.TrustDomains = []string{s.Domain}
	}
	return space
}

func (s Space) Compare(o Space) int {
	return cmp.Or(cmp.Compare(s.Protocol, o.Protocol), strings.Compare(s.Domain, o.Domain), strings.Compare(fmt.Sprint(s.Plain, s.NoTags, s.Classic), fmt.Sprint(o.Plain, o.NoTags, o.Classic)))
}

// Inputs contains the inputs of an inbound's permissions. Dataplanes
// share configs.
type Inputs struct {
	Config   *results.Config // nil: no permission selects the dataplane
	Inbound  int
	Protocol request.Protocol
	Open     bool // no permission is applied
}

func InputsOf(config *results.Config, d *resource.Dataplane, inbound int, open bool) Inputs {
	if open {
		config = nil
	}
	return Inputs{config, inbound, request.ProtocolOf(d, inbound), open}
}

// SpaceOf returns which clients the inbounds of a dataplane can have.
func SpaceOf(view *core.View, d *resource.Dataplane) Space {
	identities := view.Identities(d.Mesh)
	id, err := identities.IdentityOf(d)
	if IsClassic(view, d) {
		return Space{Domain: d.Mesh, Classic: true}
	}
	if err != nil || id == nil { // `check` reports the error
		return Space{Plain: true}
	}
	return Space{
		NoTags: id.Source.Spec.Provider.Type != spiffe.Extension, // as Kuma's, with the SPIFFE ID alone
		Domain: identity.ClientTrustDomain(id, identities, view.Trusts(d.Mesh)),
	}
}

// Shown returns a request as an inbound sees it, and the parts that the client cannot show to
// it: without TLS a client has no certificate and sends no server name (SPEC 13.1). Every
// answer about one request is about what this function returns, decided by what
// [Space.Visible] returns.
func (s Space) Shown(r *request.Request) (shown *request.Request, hidden []string) {
	seen := *r
	if s.Classic {
		s.completeClient(&seen)
	}
	if s.Plain && seen.SpiffeID != "" {
		seen.SpiffeID, hidden = "", append(hidden, "SPIFFE ID")
	}
	if (s.Plain || s.NoTags) && len(seen.Tags) > 0 {
		seen.Tags, hidden = nil, append(hidden, "tags")
	}
	if s.Plain && seen.SNI != "" {
		seen.SNI, hidden = "", append(hidden, "server name")
	}
	return &seen, hidden
}

// completeClient adds the service to a client with an ID alone, and the ID to one with a service
// alone: its certificate shows both.
func (s Space) completeClient(r *request.Request) {
	prefix, service := "spiffe://"+s.Domain+"/", r.Tags.Value(resource.ServiceTag)
	switch of, ok := strings.CutPrefix(r.SpiffeID, prefix); {
	case r.SpiffeID == "" && service != "":
		r.SpiffeID = prefix + service
	case ok && service == "":
		tags := map[string]string{resource.ServiceTag: of}
		for _, t := range r.Tags {
			tags[t.Key] = t.Value
		}
		r.Tags = resource.NewTags(tags)
	}
}

// Visible returns permissions without the entries that no client can match. Entries that deny
// see SPIFFE IDs of each trust domain, because a CA could vouch for one of another (SPEC 11.6).
func (s Space) Visible(p *permission.Permissions) *permission.Permissions {
	if !s.Plain && !s.NoTags && s.Domain == "" {
		return p
	}
	return p.Reduce(func(e *permission.Entry) bool {
		id := e.Match.SpiffeID
		switch {
		case s.Plain:
			return id == nil && e.Match.SNI == nil
		case id == nil || e.List == permission.Deny:
			return true
		}
		return s.Domain == "" || request.MatchesDomain(id, s.Domain)
	}, func(c *permission.Client) bool { return !s.Plain && !s.NoTags || len(c.Tags) == 0 })
}

// Trusts reports whether a SPIFFE ID is of a trust domain that clients can have. A client
// without one is trusted.
func (s Space) Trusts(id string) bool {
	return id == "" || s.Domain == "" || request.MatchesDomain(&conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: id}, s.Domain)
}

// ConfigIn returns the config of MeshTrafficPermission, or nil if no
// permission selects the dataplane.
func ConfigIn(configs []*results.Config) *results.Config {
	for _, config := range configs {
		if config.Kind.Name == permission.KindName {
			return config
		}
	}
	return nil
}

// PermissionsOf returns the permissions of an inbound by a config, if permissions are
// applied.
func PermissionsOf(config *results.Config, d *resource.Dataplane, inbound int, applied bool) *permission.Permissions {
	if !applied {
		return permission.Open(d, inbound)
	}
	return permission.ForInbound(config, d, inbound)
}

// ConfigOf returns the config of MeshTrafficPermission for a dataplane of the
// view, or nil if the engine does not have this kind.
func ConfigOf(view *core.View, d *resource.Dataplane) *results.Config {
	config, _ := view.Config(d, permission.KindName, core.Enforced)
	return config
}

// Deciding returns the entries that decide about a request, or about one in the shadow
// decision, each with a request, and whether any request is allowed. It returns nil if that
// is unknown.
func Deciding(p *permission.Permissions, limits access.Limits) (decides map[permission.Place]*access.Witness, allows bool) {
	decides = map[permission.Place]*access.Witness{}
	for i, list := range ListsOf(p) {
		regions, err := access.Regions(&access.Space{Protocol: p.Protocol}, list, nil, limits)
		if err != nil {
			return nil, true
		}
		for _, region := range regions {
			allows = allows || i == 0 && region.Allow
			if region.By != nil {
				if decides[*region.By] == nil {
					decides[*region.By] = region.Witness
				}
			}
		}
	}
	return decides, allows
}

// ListsOf returns the list for the decision and, if the shadow decision can differ, the
// list for the shadow decision.
func ListsOf(p *permission.Permissions) []*access.List {
	lists := []*access.List{access.ListOf(p)}
	if p.Rules != nil && p.Rules.HasShadow() || p.Clients != nil && p.Clients.HasShadow() {
		lists = append(lists, access.ShadowListOf(p))
	}
	return lists
}
