package xds

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Visibility is what the proxy sees of clients and requests, on one filter chain or on
// at least one chain of an inbound.
type Visibility struct {
	// Requests reports whether HTTP requests are visible; if not, only connections are.
	Requests bool
	// Certificate reports whether clients have a certificate.
	Certificate bool
	// ServerName reports whether the SNI of connections is visible.
	ServerName bool
	// GRPC reports that a gRPC server enforces the match. It rejects conditions on headers
	// whose names begin with "grpc-".
	GRPC bool
	// Tags reports whether certificates may contain tags of the client.
	Tags bool
	// TrustDomain is the only trust domain whose SPIFFE IDs are trusted; "" if there may
	// be several.
	TrustDomain string
}

// The reasons why a match can never apply.
const (
	noRequests     = "has HTTP conditions, which the TCP inbound cannot see"
	noCertificates = "asks for a SPIFFE ID, but clients have none: " + noTLS
	noServerName   = "asks for a server name, which the inbound cannot see"
	noGRPCHeader   = "asks for a header that gRPC reserves, which a gRPC server does not compare"
	notTrusted     = "asks for a SPIFFE ID of a trust domain for which the dataplane has no CA"
	noTags         = "asks for tags of clients, but the identity provider's certificates have none"
	noTagsPlain    = "asks for tags of clients, but clients have none: " + noTLS
	noTLS          = "the inbound has no TLS, because no MeshIdentity selects the dataplane"
)

// Unseen returns the reason why a match can never apply; "" if it can.
func (v Visibility) Unseen(m *conf.Match) string {
	switch {
	case !v.Requests && request.NeedsHTTP(m):
		return noRequests
	case !v.Certificate && m.SpiffeID != nil:
		return noCertificates
	case !v.ServerName && m.SNI != nil:
		return noServerName
	case v.Reserved(m):
		return noGRPCHeader
	case !v.trusts(m.SpiffeID):
		return notTrusted
	}
	return ""
}

// Reserved reports whether a match asks for a header that a gRPC server does not compare.
func (v Visibility) Reserved(m *conf.Match) bool {
	return v.GRPC && slices.ContainsFunc(m.Headers, func(h conf.HeaderMatch) bool {
		return strings.HasPrefix(strings.ToLower(string(h.Name)), "grpc-")
	})
}

// UnseenTags returns the reason why no client can have the tags; "" if one can.
func (v Visibility) UnseenTags(tags resource.Tags) string {
	switch {
	case len(tags) == 0 || v.Tags:
		return ""
	case !v.Certificate:
		return noTagsPlain
	}
	return noTags
}

// trusts reports whether a client with a matching SPIFFE ID can be authenticated. M may be
// nil.
func (v Visibility) trusts(m *conf.SpiffeIDMatch) bool {
	return m == nil || v.TrustDomain == "" || request.MatchesDomain(m, v.TrustDomain)
}

// Visibility returns what is visible on at least one chain of the inbound.
func (i *Inbound) Visibility() Visibility { return i.visibility(i.TLS == nil) }

// Visibility returns what is visible on the chain.
func (c *Chain) Visibility() Visibility { return c.visibility(c.Plaintext) }

func (i *Inbound) visibility(plaintext bool) Visibility {
	v := Visibility{Requests: i.Protocol.IsHTTP(), Certificate: !plaintext, GRPC: i.Client == ProxylessGRPC}
	switch {
	case v.GRPC: // it has no SNI
	case plaintext: // TLS between the client and the workload also has an SNI; it is inspected only beside TLS
		v.ServerName = !v.Requests && i.TLS != nil
	default:
		v.ServerName = true
	}
	if v.Certificate {
		v.Tags = i.Identity.Source.Spec.Provider.Type == spiffe.Extension
		v.TrustDomain = i.TrustDomain
	}
	return v
}
