package translators

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

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

// permissions adds the RBAC filter of a filter chain, unless no permission is applied. The filter
// denies every client if no policy selects the inbound.
func permissions(c *xds.Chain, in xds.InboundConf) {
	if c.PermissionsNotApplied {
		return
	}
	key := decisionKey{in.Config, c.Index, request.ProtocolOf(c.Dataplane, c.Index), c.Visibility(), c.RequestForm()}
	d := memo.Weakly(c.Memo, key, func() *decision { return newDecision(c, in, key) })
	if d.err != nil {
		c.WarnPlace(diag.PastLimit, "every client is denied: %s: %v", permission.KindName, d.err)
	}
	// A translator may replace the bytes, which others have too.
	filter := rbac.Filter{Name: d.filter.Name, Config: &anypb.Any{TypeUrl: d.filter.Config.TypeUrl, Value: d.filter.Config.Value}}
	if c.TLS != nil && !c.Plaintext && c.RequestForm() != rbac.RulesForm { // gRPC compares each URI SAN by itself
		c.AddNetworkFilter(rbac.CommaFilterName, rbac.CommaFilter())
		add := c.AddNetworkFilter
		if key.protocol == request.HTTP {
			add = c.AddHTTPFilter
		}
		add(rbac.SeveralFilterName, rbac.SeveralFilter(key.protocol))
	}
	if key.protocol == request.TCP {
		c.AddNetworkFilter(filter.Name, filter.Config)
		c.Decide()
		connectAfterDecision(c, in, d.seen, d.err != nil)
		return
	}
	c.AddPermissionFilter(filter)
	c.Decide()
}

// decisionKey is what the filter of a filter chain depends on: equal inbounds of all dataplanes
// have one.
type decisionKey struct {
	config   *results.Config
	index    int // of the inbound
	protocol request.Protocol
	sees     xds.Visibility
	form     rbac.Form
}

// decision is the filter of a filter chain, and the permissions that it was made from.
type decision struct {
	seen   *permission.Permissions
	filter rbac.Filter
	err    error // [rbac.ErrTooLarge]; then the filter denies all
}

func newDecision(c *xds.Chain, in xds.InboundConf, key decisionKey) *decision {
	all := permission.ForInbound(in.Config, c.Dataplane, c.Index)
	d := &decision{seen: visiblePermissions(all, key.sees)}
	d.filter, d.err = rbac.New(d.seen, key.form, "inbound.")
	if d.err != nil || deniesReserved(all, key.sees) {
		d.filter = rbac.DenyAll(all.Protocol, key.form, "inbound.")
	}
	return d
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
