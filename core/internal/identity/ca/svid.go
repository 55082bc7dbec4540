package ca

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

// DefaultLifetime is the lifetime of an SVID if its MeshIdentity has no
// certificateParameters.expiry.
const DefaultLifetime = 24 * time.Hour

// SVID is a certificate with a SPIFFE ID, and its key.
type SVID struct {
	// Certificates are the certificate and the certificates of intermediate
	// CAs, in PEM.
	Certificates []byte
	// Key is the private key in PEM (PKCS #8).
	Key []byte
	// Renew is the time at which the SVID should be replaced: after half of its
	// lifetime. It is valid until End.
	Renew, End time.Time
}

// Issue returns an SVID with a new key. It is valid from now for a lifetime, but no
// longer than the certificate of the authority. Issue returns an error if that
// certificate has expired.
func (a *Authority) Issue(spiffeID string, lifetime time.Duration, now time.Time) (*SVID, error) {
	id, err := url.Parse(spiffeID)
	if err != nil {
		return nil, err
	}
	end := now.Add(lifetime)
	if end.After(a.certificate.NotAfter) {
		end = a.certificate.NotAfter
	}
	if !end.After(now) {
		return nil, fmt.Errorf("the certificate of the CA expired on %s", a.certificate.NotAfter.UTC().Format(time.RFC3339))
	}
	certificate, key, err := a.form.issue(id.String(), now.Add(-skew), end)
	if err != nil {
		return nil, err
	}
	return &SVID{
		Certificates: slices.Concat(encode(certificateBlock, certificate), a.intermediates), Key: encode(keyBlock, key),
		Renew: now.Add(end.Sub(now) / 2), End: end,
	}, nil
}
