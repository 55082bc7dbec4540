package serve

import (
	"crypto/x509"
	"encoding/asn1"

	"github.com/meshmatch/meshmatch/core/internal/request"
)

// spiffeIDOf returns the SPIFFE ID of a certificate, or "" if it has none or several
// (SPEC 7.2).
func spiffeIDOf(c *x509.Certificate) string { return request.ClientID(uriSANs(c)...) }

// uriSANs returns the URI SANs of a certificate unchanged. [x509.Certificate.URIs] has
// the scheme in lower case and other characters escaped, so an invalid SPIFFE ID can
// become a valid one there.
func uriSANs(c *x509.Certificate) []string {
	const uriTag = 6 // RFC 5280, 4.2.1.6
	var uris []string
	for _, extension := range c.Extensions {
		if !extension.Id.Equal(asn1.ObjectIdentifier{2, 5, 29, 17}) {
			continue
		}
		var names []asn1.RawValue
		if _, err := asn1.Unmarshal(extension.Value, &names); err != nil {
			return nil
		}
		for _, name := range names {
			if name.Class == asn1.ClassContextSpecific && name.Tag == uriTag {
				uris = append(uris, string(name.Bytes))
			}
		}
	}
	return uris
}
