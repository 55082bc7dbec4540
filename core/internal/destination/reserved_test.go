package destination_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A MeshExternalService gets no Secret of a CA, and none of another namespace, whatever it names.
func TestSecretsOfCAs(t *testing.T) {
	set := resourcetest.Decode(t, `
{type: Mesh, name: m, mtls: {enabledBackend: a, backends: [{name: a, type: provided, conf: {cert: {secret: backend-cert}, key: {secret: backend-key}}}]}}
---
type: MeshIdentity
mesh: m
name: i
spec:
  selector: {dataplane: {matchLabels: {}}}
  provider: {type: Bundled, bundled: {ca: {certificate: {type: Secret, secretRef: {kind: Secret, name: own-cert}}, privateKey: {type: Secret, secretRef: {kind: Secret, name: own-key}}}}}
---
type: MeshIdentity
mesh: m
name: g.kuma-system
labels: {kuma.io/display-name: g}
spec:
  selector: {dataplane: {matchLabels: {}}}
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}
---
{type: Secret, mesh: m, name: g-root-ca, data: YQ==}
---
{type: Secret, mesh: m, name: g-private-key, data: YQ==}
---
{type: Secret, mesh: m, name: free, data: YQ==}
---
{type: Secret, mesh: m, name: m.ca-builtin-key-a, data: YQ==}
---
{type: Secret, mesh: m, name: backend-cert, data: YQ==}
---
{type: Secret, mesh: m, name: backend-key, data: YQ==}
---
{type: Secret, mesh: m, name: own-cert, data: YQ==}
---
{type: Secret, mesh: m, name: own-key, data: YQ==}
---
apiVersion: v1
kind: Secret
type: system.kuma.io/secret
metadata: {name: elsewhere, namespace: kuma-system, labels: {kuma.io/mesh: m}}
data: {value: YQ==}
---
type: MeshExternalService
mesh: m
name: s
spec:
  match: {type: HostnameGenerator, port: 443, protocol: tcp}
  endpoints: [{address: a.example, port: 443}]
  tls: {enabled: true, verification: {clientKey: {secret: free}, clientCert: {secret: free}}}
`)
	var service *resource.MeshExternalService
	for _, o := range set.Objects {
		if s, is := o.(*resource.MeshExternalService); is {
			service = s
		}
	}
	destinations := destination.New(semantics.TargetRef, set.Meshes[0], destination.ReservedSecrets(resource.ObjectsOf[*resource.MeshIdentity](set.Objects)), set.Objects)
	for name, want := range map[string]string{
		"free": "", "m.ca-builtin-key-a": "is of a CA", "backend-cert": "is of a CA", "backend-key": "is of a CA",
		"g-root-ca": "is of a CA", "g-private-key": "is of a CA", "own-cert": "is of a CA", "own-key": "is of a CA", "elsewhere": "is in another namespace", "none": "there is no Secret",
	} {
		key := *service.Verification().ClientKey
		key.Secret = &name
		if text, why := destinations.PEM(service, &key); (why == "") != (want == "") || !strings.Contains(why, want) || (text != "") != (want == "") {
			t.Errorf("%s: %q, because %q", name, text, why)
		}
	}
}
