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
		!slices.ContainsFunc(a.Headers, func(h conf.HeaderMatch) bool {
			return !slices.ContainsFunc(b.Headers, func(other conf.HeaderMatch) bool { return headerCovers(&h, &other) })
		})
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
