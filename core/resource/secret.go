package resource

import (
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Secret contains a certificate or a key, to which the MeshExternalServices of its mesh
// refer by its name (SPEC 17.2). Its JSON has the content: do not show it to users.
type Secret struct{ ObjectOf[specs.Secret] }

// SecretType is the type of a Secret of Kubernetes that is one of Kuma.
const SecretType = "system.kuma.io/secret"

// Text returns the content of a valid Secret.
func (s *Secret) Text() string {
	decoded, _ := base64.StdEncoding.DecodeString(string(s.Spec.Data)) // validated
	return string(decoded)
}

// kubernetesSecret decodes a Secret of Kubernetes, and reports whether it is one of Kuma:
// its content is the value of its data.
func (d *decoder) kubernetesSecret(in *strict.Value) bool {
	if in.Field("type").Text() != SecretType {
		return false
	}
	var data struct {
		Value specs.SecretData `json:"value,omitzero"`
	}
	if field := in.Field("data"); field != nil && !field.IsNull() {
		strict.DecodePart(field, &data)
	}
	secret := new(Secret)
	*secret.Identity() = kubernetesMeta(in.At(), SecretKind, in.Field("metadata"))
	secret.Mesh = secret.Labels.Value(MeshLabel)
	if secret.Mesh == "" {
		secret.Mesh = DefaultMesh
	}
	secret.Spec.Data = data.Value
	d.out.Objects = append(d.out.Objects, secret)
	return true
}
