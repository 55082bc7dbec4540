package destination

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/resource"
)

// ReservedSecrets returns the names of the Secrets of a CA that the MeshIdentities of a mesh
// name, sorted. For an identity whose CA is generated, these are the names that Kuma gives them.
// Proxies never get them (SPEC 17.4).
func ReservedSecrets(identities []*resource.MeshIdentity) (names []string) {
	for _, i := range identities {
		b := i.Spec.Provider.Bundled
		if b == nil {
			continue
		}
		if b.CA == nil {
			names = append(names, i.DisplayName()+"-root-ca", i.DisplayName()+"-private-key")
			continue
		}
		for _, source := range []*spiffe.DataSource{&b.CA.Certificate, &b.CA.PrivateKey} {
			if source.SecretRef != nil {
				names = append(names, source.SecretRef.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// secretsOfBackends returns the names of the Secrets that the backends of a Mesh name. The
// config of a backend is that of a plugin, in which any field secret names one.
func secretsOfBackends(mesh *resource.Mesh) (names []string) {
	if mesh == nil || mesh.Spec.MTLS == nil {
		return nil
	}
	var visit func(value any, depth int)
	visit = func(value any, depth int) {
		switch value := value.(type) {
		case map[string]any:
			for key, inner := range value {
				if text, is := inner.(string); is && (key == "secret" || depth > 0 && key == "name") {
					names = append(names, text)
				}
				visit(inner, depth+1)
			}
		case []any:
			for _, inner := range value {
				visit(inner, depth+1)
			}
		}
	}
	for i := range mesh.Spec.MTLS.Backends {
		visit(mesh.Spec.MTLS.Backends[i].Conf, 0)
	}
	return names
}

// secret returns the Secret that a certificate or key of a MeshExternalService names, or why it
// has none. The author of a MeshExternalService may name any Secret. So Secrets of CAs, and of
// another namespace, are not given to proxies.
func (s *Directory) secret(m *resource.MeshExternalService, name string) (secret *resource.ObjectOf[specs.Secret], why string) {
	secret = s.secrets[name]
	switch {
	case secret == nil:
		return nil, fmt.Sprintf("there is no Secret %q in the mesh", name)
	case strings.HasPrefix(name, m.Mesh+".ca-"), slices.Contains(s.reserved, name):
		return nil, fmt.Sprintf("the Secret %q is of a CA of the mesh, which no proxy gets", name)
	case secret.Namespace != "" && secret.Namespace != m.Namespace:
		return nil, fmt.Sprintf("the Secret %q is in another namespace", name)
	}
	return secret, ""
}
