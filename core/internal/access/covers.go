package access

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// covers reports whether a holds for every request for which b holds. It compares
// condition by condition, so it may return false although a covers b.
func covers(a, b *Match) bool {
	return (a.SpiffeID == nil || b.SpiffeID != nil && request.SpiffeIDCovers(a.SpiffeID, b.SpiffeID)) &&
		(a.SNI == nil || b.SNI != nil && strings.EqualFold(string(*a.SNI), string(*b.SNI))) &&
		(a.Method == nil || b.Method != nil && *a.Method == *b.Method) &&
		(a.Path == nil || b.Path != nil && pathCovers(a.Path, b.Path)) &&
		b.Tags.Contains(a.Tags) &&
		a.coversHeaders(b)
}

// coversHeaders reports whether each condition on a header covers one of the other match. A
// condition in a wider scope covers an equal one in a narrower scope.
func (m *Match) coversHeaders(other *Match) bool {
	for i := range m.Headers {
		covered := false
		for k := range other.Headers {
			covered = covered || headerCovers(&m.Headers[i], &other.Headers[k]) &&
				(m.Headers[i].Value == nil || m.scopes[i] >= other.scopes[k])
		}
		if !covered {
			return false
		}
	}
	return true
}

// mayOverlap reports whether some request may meet both matches. It may return
// true although none does.
func mayOverlap(a, b *Match) bool {
	if a.SpiffeID != nil && b.SpiffeID != nil && !request.SpiffeIDCovers(a.SpiffeID, b.SpiffeID) && !request.SpiffeIDCovers(b.SpiffeID, a.SpiffeID) {
		return false
	}
	if a.SNI != nil && b.SNI != nil && !strings.EqualFold(string(*a.SNI), string(*b.SNI)) {
		return false
	}
	if a.Method != nil && b.Method != nil && *a.Method != *b.Method {
		return false
	}
	if p, q := a.Path, b.Path; p != nil && q != nil && p.Type != conf.PathRegex && q.Type != conf.PathRegex && !pathCovers(p, q) && !pathCovers(q, p) {
		return false
	}
	return !slices.ContainsFunc(a.Tags, func(t resource.Tag) bool {
		other, known := b.Tags.Get(t.Key)
		return known && t.Value != other && t.Value != resource.AnyValue && other != resource.AnyValue
	})
}

func pathCovers(a, b *conf.PathMatch) bool {
	switch {
	case a.Type == conf.PathPrefix && b.Type == conf.PathPrefix:
		return request.IsBelow(request.TrimSlash(a.Value), request.TrimSlash(b.Value))
	case a.Type == conf.PathPrefix && b.Type == conf.PathExact:
		return request.IsBelow(request.TrimSlash(a.Value), b.Value)
	}
	return *a == *b
}

func headerCovers(a, b *conf.HeaderMatch) bool {
	if !strings.EqualFold(string(a.Name), string(b.Name)) {
		return false
	}
	if a.How() == conf.HeaderPresent {
		return b.How() != conf.HeaderAbsent
	}
	return a.How() == b.How() && (a.Value == nil || *a.Value == *b.Value)
}
