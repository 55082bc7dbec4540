package conf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

var (
	trustDomain   = regexp.MustCompile(`^[a-z0-9._-]+$`)
	spiffeSegment = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

const (
	maxSpiffeID    = 2048 // bytes; a server must accept IDs of this length
	maxTrustDomain = 255
)

// TrustDomain is the first part of a SPIFFE ID.
type TrustDomain string

// Validate checks the characters and the length.
func (t TrustDomain) Validate(at *diag.At) {
	if err := checkTrustDomain(string(t)); err != nil {
		at.Errorf("write a name such as prod.mesh.local", "bad trust domain %q: %v", string(t), err)
	}
}

func checkTrustDomain(name string) error {
	switch {
	case !trustDomain.MatchString(name):
		return errors.New("the trust domain has lower-case letters, digits, '.', '-' and '_' only")
	case len(name) > maxTrustDomain:
		return fmt.Errorf("the trust domain is longer than %d bytes", maxTrustDomain)
	}
	return nil
}

// CheckSpiffeID returns an error if a text is not a SPIFFE ID.
func CheckSpiffeID(id string) error { return checkSpiffeID(id, false) }

// checkSpiffeID checks an ID or, if prefix is set, a prefix, which may end in a slash.
func checkSpiffeID(id string, prefix bool) error {
	rest, ok := strings.CutPrefix(id, "spiffe://")
	if !ok {
		return errors.New("it must start with spiffe://")
	}
	if len(id) > maxSpiffeID {
		return fmt.Errorf("it is longer than %d bytes", maxSpiffeID)
	}
	if prefix {
		rest = strings.TrimSuffix(rest, "/")
	}
	domain, path, hasPath := strings.Cut(rest, "/")
	if err := checkTrustDomain(domain); err != nil || !hasPath {
		return err
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == "":
			return errors.New("a path segment is empty")
		case segment == "." || segment == "..":
			return fmt.Errorf("the path segment %q is not allowed", segment)
		case !spiffeSegment.MatchString(segment):
			return fmt.Errorf("the path segment %q has a character other than letters, digits, '.', '-' and '_'", segment)
		}
	}
	return nil
}
