package rbac

import (
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Handshake is the decision about clients as far as a TLS handshake can make it, which is
// by one URI SAN of the certificate. It denies what the permissions deny, with one
// exception: if a certificate has several SPIFFE IDs, any of them is compared.
type Handshake struct {
	// Accept are the URI SANs that are accepted. A client must have one of them; if there
	// are none, every client is refused.
	Accept []*matcherv3.StringMatcher
	// Refused are the entries and items that a handshake cannot express. It refuses the
	// clients that they are about.
	Refused []Refused
}

// Refused is an entry or item that a handshake cannot express.
type Refused struct {
	permission.Place
	Reason string
}

// The reasons of [Refused].
const (
	deniesByName  = "denies by the server name, which a TLS handshake does not compare: it denies these clients with every server name"
	allowsByName  = "allows by the server name, which a TLS handshake does not compare: it allows no client"
	partlyDenied  = "allows clients although another entry denies some of them; a TLS handshake cannot express that: it allows no client"
	allowsByTags  = "allows by several tags, but a TLS handshake compares only one: it allows no client"
	deniesUnnamed = "denies by the server name, which a TLS handshake does not compare: it denies every client"
)

// NewHandshake returns the decision of a TLS handshake by the permissions of a TCP
// inbound whose workload sends the first byte (SPEC 7.5b).
func NewHandshake(p *permission.Permissions) Handshake {
	h := Handshake{}
	switch {
	case p.Rules != nil:
		h.addEntries(p.Rules.Entries())
	case p.Clients != nil:
		h.addItems(p.Clients.Items())
	}
	return h
}

func (h *Handshake) refuse(at permission.Place, reason string) {
	h.Refused = append(h.Refused, Refused{at, reason})
}

func (h *Handshake) addEntries(entries []permission.Entry) {
	var denied []*conf.SpiffeIDMatch
	for i := range entries {
		e := &entries[i]
		if e.List != permission.Deny {
			continue
		}
		switch {
		case e.Match.SpiffeID == nil && e.Match.SNI != nil:
			h.refuse(e.Place, deniesUnnamed)
			return
		case e.Match.SpiffeID == nil:
			return // every client is denied
		case e.Match.SNI != nil:
			h.refuse(e.Place, deniesByName)
		}
		denied = append(denied, e.Match.SpiffeID)
	}
	for i := range entries {
		e := &entries[i]
		if e.List == permission.Deny {
			continue
		}
		switch covered, partly := overlap(e.Match.SpiffeID, denied); {
		case e.Match.SNI != nil:
			h.refuse(e.Place, allowsByName)
		case covered:
		case partly:
			h.refuse(e.Place, partlyDenied)
		case e.Match.SpiffeID.Type == conf.SpiffeIDExact:
			h.accept(textExact, e.Match.SpiffeID.Value)
		default:
			h.accept(textRegex, belowID(e.Match.SpiffeID))
		}
	}
}

// overlap reports whether all of the SPIFFE IDs that m matches are denied, and whether some
// are.
func overlap(m *conf.SpiffeIDMatch, denied []*conf.SpiffeIDMatch) (covered, partly bool) {
	if m == nil {
		return false, len(denied) > 0
	}
	for _, d := range denied {
		if request.SpiffeIDCovers(d, m) {
			return true, true
		}
		partly = partly || request.SpiffeIDCovers(m, d)
	}
	return false, partly
}

// addItems adds `from` items, the highest priority first.
func (h *Handshake) addItems(items []permission.Client) {
	var denied []resource.Tags
	for i := range items {
		item := &items[i]
		if item.Action == meshtrafficpermission.Deny {
			denied = append(denied, item.Tags)
			continue
		}
		switch covered, partly := overlapOfTags(item.Tags, denied); {
		case covered:
		case partly:
			h.refuse(item.Place, partlyDenied)
		case len(item.Tags) > 1:
			h.refuse(item.Place, allowsByTags)
		case len(item.Tags) == 1:
			h.accept(textRegex, tagRegex(item.Tags[0]))
		default:
			h.accept(textAny, "")
		}
	}
}

// overlapOfTags reports whether all clients with the tags are denied, and whether some may
// be.
func overlapOfTags(tags resource.Tags, denied []resource.Tags) (covered, partly bool) {
	for _, d := range denied {
		if tags.Contains(d) {
			return true, true
		}
		meet := true
		for _, tag := range d {
			value, present := tags.Get(tag.Key)
			meet = meet && (!present || value == tag.Value || value == resource.AnyValue || tag.Value == resource.AnyValue)
		}
		partly = partly || meet
	}
	return false, partly
}

func (h *Handshake) accept(how textHow, value string) {
	m := message.Exactly(value)
	if how != textExact {
		if how == textAny {
			value = `\C*`
		}
		m.MatchPattern = &matcherv3.StringMatcher_SafeRegex{SafeRegex: message.Regex(value)}
	}
	h.Accept = append(h.Accept, m)
}
