package resource

import (
	"encoding/base64"

	"github.com/meshmatch/meshmatch/core/resource/specs"
)

// Secret contains a certificate or a key, to which the MeshExternalServices of its mesh
// refer by its name (SPEC 17.2). Its JSON has the content: do not show it to users.
type Secret struct{ ObjectOf[specs.Secret] }

// Text returns the content of a valid Secret.
func (s *Secret) Text() string {
	decoded, _ := base64.StdEncoding.DecodeString(string(s.Spec.Data)) // validated
	return string(decoded)
}
