package inspect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/access"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// accessLimits returns limits for the questions about permissions of an answer. A question
// may take a second, and all of them together a few seconds, times n. Beyond that, the
// answer is unknown. 8,000 entries for 500 identities, 2,000 of them with distinct
// expressions, take 14 million steps and 0.3 s.
func accessLimits(n int) access.Limits { return access.Shared(1<<24, n<<25) }

// spaceOf describes the requests that an inbound can receive.
type spaceOf struct {
	protocol request.Protocol
	plain    bool
	domain   string // "": any
}

func (s spaceOf) space() *access.Space {
	space := &access.Space{Protocol: s.protocol, Plain: s.plain}
	if s.domain != "" {
		space.TrustDomains = []string{s.domain}
	}
	return space
}

func (s spaceOf) compare(o spaceOf) int {
	return cmp.Or(cmp.Compare(s.protocol, o.protocol), strings.Compare(s.domain, o.domain), strings.Compare(fmt.Sprint(s.plain), fmt.Sprint(o.plain)))
}

// permissionsOf contains the inputs of an inbound's permissions. Dataplanes
// share configs.
type permissionsOf struct {
	config   *rules.Config // nil: no permission selects the dataplane
	inbound  int
	protocol request.Protocol
	open     bool // no permission is applied
}

func newPermissionsOf(config *rules.Config, d *resource.Dataplane, inbound int, open bool) permissionsOf {
	if open {
		config = nil
	}
	return permissionsOf{config, inbound, request.ProtocolOf(&d.Inbounds[inbound]), open}
}

// clientsOf returns which clients the inbounds of a dataplane can have.
func clientsOf(view *core.View, d *resource.Dataplane) spaceOf {
	identities := view.Identities(d.Mesh)
	id, err := identities.Of(d)
	if err != nil || id == nil { // `check` reports the error
		return spaceOf{plain: true}
	}
	return spaceOf{domain: identity.ClientTrustDomain(id, identities, view.Trusts(d.Mesh))}
}

// permissionsIn returns the config of MeshTrafficPermission, or nil if no
// permission selects the dataplane.
func permissionsIn(configs []*rules.Config) *rules.Config {
	for _, config := range configs {
		if config.Kind.Name == permission.KindName {
			return config
		}
	}
	return nil
}

// permissionsFor returns the permissions of an inbound by a config, if permissions are
// applied.
func permissionsFor(config *rules.Config, d *resource.Dataplane, inbound int, applied bool) *permission.Permissions {
	if !applied {
		return permission.Open(d, inbound)
	}
	return permission.ForInbound(config, d, inbound)
}

// permissionConfig returns the config of MeshTrafficPermission for a dataplane of the
// view, or nil if the engine does not have this kind.
func permissionConfig(view *core.View, d *resource.Dataplane) *rules.Config {
	config, _ := view.Config(d, permission.KindName, core.Enforced)
	return config
}

// deciding returns the entries that decide about a request, or about one in the shadow
// decision, each with a request, and whether any request is allowed. It returns nil if that
// is unknown.
func deciding(p *permission.Permissions, limits access.Limits) (decides map[permission.Place]*access.Witness, allows bool) {
	decides = map[permission.Place]*access.Witness{}
	for i, list := range listsOf(p) {
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

// listsOf returns the list for the decision and, if the shadow decision can differ, the
// list for the shadow decision.
func listsOf(p *permission.Permissions) []*access.List {
	lists := []*access.List{access.ListOf(p)}
	if p.Rules != nil && p.Rules.HasShadow() || p.Clients != nil && p.Clients.HasShadow() {
		lists = append(lists, access.ShadowListOf(p))
	}
	return lists
}
