package sds

import (
	"fmt"
	"slices"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Issuer makes the secrets of the views of one engine. It is safe for concurrent use.
type Issuer struct {
	authorities *ca.Authorities

	mu    sync.Mutex
	last  *Secrets
	known map[resource.ID]*issued // by dataplane
}

// issued is the certificate of a dataplane, with what it was made from.
type issued struct {
	spiffeID  string
	lifetime  time.Duration
	authority *ca.Authority
	renew     time.Time
	secret    *wire.Resource
}

// NewIssuer returns an issuer that signs with the authorities.
func NewIssuer(authorities *ca.Authorities) *Issuer {
	return &Issuer{authorities: authorities, known: map[resource.ID]*issued{}}
}

// Secrets are the secrets of the dataplanes of a view, at a time. They are safe for
// concurrent use.
type Secrets struct {
	issuer   *Issuer
	view     *core.View
	at       time.Time
	meshes   map[string]*meshSecrets
	problems []error
}

// Problems returns why authorities of the view cannot be used, or can be used only until
// a restart ([ca.ErrNotKept]).
func (s *Secrets) Problems() []error { return s.problems }

// SecretsAt returns the secrets of a view at a time. It returns the previous result if the view
// and the files of all authorities are the same and no certificate is due for renewal.
func (i *Issuer) SecretsAt(view *core.View, now time.Time) *Secrets {
	i.mu.Lock()
	defer i.mu.Unlock()
	next := &Secrets{issuer: i, view: view, at: now, meshes: map[string]*meshSecrets{}}
	same := i.last != nil && i.last.view == view
	for _, mesh := range view.Meshes() {
		var before *meshSecrets
		if i.last != nil {
			before = i.last.meshes[mesh]
		}
		m, problems := i.mesh(view, mesh, before, now)
		next.problems = append(next.problems, problems...)
		if m != nil {
			next.meshes[mesh] = m
		}
		same = same && m == before
	}
	same = same && slices.EqualFunc(next.problems, i.last.problems, func(a, b error) bool { return a.Error() == b.Error() })
	for id, known := range i.known {
		if due := !now.Before(known.renew); due || view.Dataplane(id) == nil {
			delete(i.known, id)
			same = same && !due
		}
	}
	if !same {
		i.last = next
	}
	return i.last
}

// IssuedFor returns the secrets of a dataplane of the view, sorted by name, or none if the
// server does not sign its certificates. The error is about the dataplane, or about
// the authority of its identity.
func (s *Secrets) IssuedFor(d *resource.Dataplane) (Issued, error) {
	m := s.meshes[d.Mesh]
	if m == nil {
		return Issued{}, nil
	}
	id, err := m.identities.IdentityOf(d)
	if err != nil || id == nil || id.Source.Spec.Provider.Type != spiffe.Bundled {
		return Issued{mesh: m}, err
	}
	authority := m.authorities[id.Source.ID]
	if authority == nil {
		return Issued{mesh: m}, fmt.Errorf("%s has no certificate: the CA of %s cannot be used", d.ID, id.Source.ID)
	}
	leaf, err := s.issuer.certificate(d.ID, issued{spiffeID: id.SPIFFEID, lifetime: lifetimeOf(id.Source), authority: authority}, s.at)
	if err != nil {
		return Issued{mesh: m}, fmt.Errorf("%s has no certificate: %w", d.ID, err)
	}
	own := Issued{Secrets: []*wire.Resource{leaf.secret}, mesh: m, renew: leaf.renew}
	if m.trust != nil {
		own.Secrets = append(own.Secrets, m.trust)
	}
	return own, nil
}

// Issued is the secrets of a dataplane, sorted by name, with what they depend on.
type Issued struct {
	Secrets []*wire.Resource

	mesh  *meshSecrets
	renew time.Time // of the certificate; zero: there is none
}

// Keeps reports that Of returns equal secrets for a dataplane that has not changed. False means
// that it may return others.
func (s *Secrets) Keeps(d *resource.Dataplane, known *Issued) bool {
	return s.meshes[d.Mesh] == known.mesh && (known.mesh == nil || s.at.Before(known.renew))
}

// certificate returns the certificate of a dataplane, and signs it if necessary.
func (i *Issuer) certificate(id resource.ID, wanted issued, now time.Time) (*issued, error) {
	i.mu.Lock()
	known := i.known[id]
	i.mu.Unlock()
	if known != nil && known.spiffeID == wanted.spiffeID && known.lifetime == wanted.lifetime && known.authority == wanted.authority {
		return known, nil
	}
	svid, err := wanted.authority.Issue(wanted.spiffeID, wanted.lifetime, now)
	if err != nil {
		return nil, err
	}
	wanted.renew = svid.Renew
	wanted.secret = message.NewResource(wire.SecretType, message.IdentitySecret, &tlsv3.Secret{
		Name: message.IdentitySecret,
		Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{
			CertificateChain: inline(svid.Certificates), PrivateKey: inline(svid.Key),
		}},
	})
	i.mu.Lock()
	defer i.mu.Unlock()
	if raced := i.known[id]; raced != known && raced != nil && raced.spiffeID == wanted.spiffeID && raced.authority == wanted.authority {
		return raced, nil
	}
	i.known[id] = &wanted
	return &wanted, nil
}

func lifetimeOf(source *resource.MeshIdentity) time.Duration {
	if p := source.Spec.Provider.Bundled.CertificateParameters; p != nil && p.Expiry != nil {
		return time.Duration(*p.Expiry)
	}
	return ca.DefaultLifetime
}

func inline(text []byte) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: text}}
}

// Any reports whether the view has identities whose certificates the server signs.
func (s *Secrets) Any() bool { return len(s.meshes) > 0 }
