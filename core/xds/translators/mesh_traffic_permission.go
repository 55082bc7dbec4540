package translators

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshTrafficPermission translates MeshTrafficPermission: the RBAC filter of each
// inbound, which denies every client if no policy selects the inbound.
func meshTrafficPermission() xds.Translator {
	return xds.Translator{Kind: permission.KindName, Inbound: unseenPermissions, Chain: permissions}
}

// unseenPermissions warns of entries and items that never match a client of the
// inbound.
func unseenPermissions(i *xds.Inbound, in xds.InboundConf) {
	switch {
	case i.PermissionsNotApplied:
		i.Warnings = append(i.Warnings, xds.Warning{
			Code: diag.OpenInbound, Place: i.Place, Inspected: true,
			Message: fmt.Sprintf("every client is allowed, because %s; %s", permission.OpenReason, permission.OpenHint),
		})
		return
	case in.InboundConfig == nil:
		return
	}
	sees := i.Visibility()
	for _, item := range in.Unmerged {
		rule := item.Conf.(*meshtrafficpermission.RuleConf)
		for _, l := range []struct {
			list    permission.List
			matches []conf.Match
		}{{permission.Deny, rule.Deny}, {permission.Allow, rule.Allow}, {permission.AllowWithShadowDeny, rule.AllowWithShadowDeny}} {
			for j := range l.matches {
				match, field := &l.matches[j], fmt.Sprintf("/%s/%d", l.list, j)
				if !sees.Requests {
					var unseen string
					if match, unseen = permission.SeenByTCP(l.list, match); unseen != "" {
						i.WarnInspected(permission.UnseenCode(l.list), item.Policy, item.Index, field, unseen)
					}
				}
				if match == nil {
					continue
				}
				if reason := unseenEntry(l.list, match, sees); reason != "" {
					i.WarnPolicy(diag.UnseenEntry, item.Policy, item.Index, field, "%s", reason)
				}
			}
		}
	}
	warnUnseenTags(i, in, "it selects no client")
}

// unseenEntry returns why an entry has no effect, and what follows, "" if it has one.
func unseenEntry(list permission.List, m *conf.Match, sees xds.Visibility) string {
	sees = visibleTo(list, sees)
	reason := sees.Unseen(m)
	switch {
	case reason == "":
		return ""
	case list == permission.Deny && sees.Reserved(m):
		return reason + ": every client is denied"
	}
	return reason + ": it never matches"
}

// visibleTo returns what the entries of a list see. Those that deny see SPIFFE IDs of
// all trust domains: a client with such an ID is denied, though the ID is not trusted.
func visibleTo(list permission.List, sees xds.Visibility) xds.Visibility {
	if list == permission.Deny {
		sees.TrustDomain = ""
	}
	return sees
}

// permissions adds the filter of a filter chain, unless no permission is applied.
func permissions(c *xds.Chain, in xds.InboundConf) {
	if c.PermissionsNotApplied {
		return
	}
	all := permission.ForInbound(in.Config, c.Dataplane, c.Index)
	seen := visiblePermissions(all, c.Visibility())
	filter, err := rbac.New(seen, c.RequestForm(), "inbound.")
	if err != nil {
		c.WarnPlace(diag.PastLimit, "every client is denied: %s: %v", permission.KindName, err)
	}
	if err != nil || deniesReserved(all, c.Visibility()) {
		filter = rbac.DenyAll(all.Protocol, c.RequestForm(), "inbound.")
	}
	if c.TLS != nil && !c.Plaintext && c.RequestForm() != rbac.RulesForm { // gRPC compares each URI SAN by itself
		c.AddNetworkFilter(rbac.CommaFilterName, rbac.CommaFilter())
		add := c.AddNetworkFilter
		if all.Protocol == request.HTTP {
			add = c.AddHTTPFilter
		}
		add(rbac.SeveralFilterName, rbac.SeveralFilter(all.Protocol))
	}
	if all.Protocol == request.TCP {
		c.AddNetworkFilter(filter.Name, filter.Config)
		c.Decide()
		connectAfterDecision(c, in, seen, err != nil)
		return
	}
	c.AddPermissionFilter(filter)
	c.Decide()
}

// visiblePermissions returns permissions without what never matches a client.
func visiblePermissions(p *permission.Permissions, sees xds.Visibility) *permission.Permissions {
	return p.Reduce(func(e *permission.Entry) bool {
		return visibleTo(e.List, sees).Unseen(e.Match) == ""
	}, func(c *permission.Client) bool {
		return sees.UnseenTags(c.Tags) == ""
	})
}

// deniesReserved reports whether an entry that denies asks for a header that is not
// compared: then it is not known which clients it denies.
func deniesReserved(p *permission.Permissions, sees xds.Visibility) bool {
	return p.Rules != nil && slices.ContainsFunc(p.Rules.Entries(), func(e permission.Entry) bool {
		return e.List == permission.Deny && sees.Reserved(e.Match)
	})
}
