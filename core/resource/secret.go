package resource

import (
	"cmp"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// SecretType is the type of a Secret of Kubernetes that is one of Kuma.
const SecretType = "system.kuma.io/secret"

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
	secret := new(ObjectOf[specs.Secret])
	*secret.Identity() = kubernetesMeta(in.At(), SecretKind, in.Field("metadata"))
	secret.Mesh = cmp.Or(secret.Labels.Value(MeshLabel), DefaultMesh)
	secret.Spec.Data = data.Value
	d.out.Objects = append(d.out.Objects, secret)
	return true
}
