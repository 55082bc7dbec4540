package resource_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// No error or warning quotes the content of a Secret, or of a key.
func TestErrorsDoNotQuoteKeys(t *testing.T) {
	const secret = "c2VjcmV0IGtleQ"
	for name, document := range map[string]string{
		"data of a Secret":           `{"type": "Secret", "mesh": "m", "name": "s", "data": "` + secret + `!"}`,
		"a wrong type":               `{"type": "Secret", "mesh": "m", "name": "s", "data": ["` + secret + `"]}`,
		"a Secret of Kubernetes":     `{"apiVersion": "v1", "kind": "Secret", "type": "system.kuma.io/secret", "metadata": {"name": "s"}, "data": {"value": "` + secret + `!"}}`,
		"an inline key of a service": `{"type": "MeshExternalService", "mesh": "m", "name": "s", "spec": {"match": {"type": "HostnameGenerator", "port": 1, "protocol": "tcp"}, "endpoints": [{"address": "a.b", "port": 1}], "tls": {"enabled": true, "verification": {"clientKey": {"inline": "` + secret + `!"}, "clientCert": {"type": "` + secret + `"}}}}}`,
		"an inline key of a CA":      `{"type": "MeshIdentity", "mesh": "m", "name": "s", "spec": {"selector": {}, "provider": {"type": "Bundled", "bundled": {"ca": {"privateKey": {"type": "` + secret + `"}, "certificate": {"type": "File", "file": {"path": "/a"}}}}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			loader := &resource.Loader{Kinds: kinds.All()}
			set, err := loader.Decode(t.Context(), resource.Input{Name: "in", Data: []byte(document)})
			if err == nil {
				t.Fatalf("there is no error; warnings are %v", set.Warnings)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("an error quotes the key: %v", err)
			}
		})
	}
}
