package conf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

var trustDomainBytes, spiffeSegmentBytes = newByteSet(lowerLetters + "0123456789._-"), newByteSet(lettersNumbers + "._-")

const (
	maxSpiffeID    = 2048 // bytes; a server must accept IDs of this length
	maxTrustDomain = 255
)

var errTrustDomain = errors.New("the trust domain has lower-case letters, digits, '.', '-' and '_' only")

// TrustDomain is the first part of a SPIFFE ID.
//
//confgen:openapi {"pattern": "^[a-z0-9._-]+$", "maxLength": 255}
type TrustDomain string

// Validate checks the characters and the length.
func (t TrustDomain) Validate(at *diag.At) {
	if err := checkTrustDomain(string(t)); err != nil {
		at.Errorf(diag.BadSPIFFEID, "write a name such as prod.mesh.local", "bad trust domain %q: %v", string(t), err)
	}
}

func checkTrustDomain(name string) error {
	switch {
	case !trustDomainBytes.hasAll(name):
		return errTrustDomain
	case len(name) > maxTrustDomain:
		return fmt.Errorf("the trust domain is longer than %d bytes", maxTrustDomain)
	}
	return nil
}

// CheckSpiffeID returns an error if a text is not a SPIFFE ID that a policy may name.
func CheckSpiffeID(id string) error { return checkSpiffeID(id, false) }

// IsSpiffeID reports whether a client's URI is a SPIFFE ID, of any length (SPEC
// 7.2): proxies do not check the length.
func IsSpiffeID(id string) bool { return checkSyntax(id) == nil }

// checkSpiffeID checks an ID or, if prefix is set, a prefix, which may end in a slash.
func checkSpiffeID(id string, prefix bool) error {
	if len(id) > maxSpiffeID {
		return fmt.Errorf("it is longer than %d bytes", maxSpiffeID)
	}
	if prefix {
		id = strings.TrimSuffix(id, "/")
	}
	if err := checkSyntax(id); err != nil {
		return err
	}
	domain, _, _ := strings.Cut(strings.TrimPrefix(id, "spiffe://"), "/")
	return checkTrustDomain(domain)
}

func checkSyntax(id string) error {
	rest, ok := strings.CutPrefix(id, "spiffe://")
	if !ok {
		return errors.New("it must start with spiffe://")
	}
	domain, path, hasPath := strings.Cut(rest, "/")
	if !trustDomainBytes.hasAll(domain) {
		return errTrustDomain
	}
	if !hasPath {
		return nil
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch {
		case segment == "":
			return errors.New("a path segment is empty")
		case segment == "." || segment == "..":
			return fmt.Errorf("the path segment %q is not allowed", segment)
		case !spiffeSegmentBytes.hasAll(segment):
			return fmt.Errorf("the path segment %q has a character other than letters, digits, '.', '-' and '_'", segment)
		}
	}
	return nil
}
