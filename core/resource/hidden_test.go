package resource_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// No error quotes the content of a Secret, or of a key.
func TestErrorsDoNotQuoteKeys(t *testing.T) {
	for _, secret := range []string{"c2VjcmV0IGtleQ", "looksLikeAWord"} {
		t.Run(secret, func(t *testing.T) { errorsDoNotQuote(t, secret) })
	}
}

func errorsDoNotQuote(t *testing.T, secret string) {
	for name, document := range map[string]string{
		"data of a Secret":           `{"type": "Secret", "mesh": "m", "name": "s", "data": "` + secret + `!"}`,
		"a wrong type":               `{"type": "Secret", "mesh": "m", "name": "s", "data": ["` + secret + `"]}`,
		"a Secret of Kubernetes":     `{"apiVersion": "v1", "kind": "Secret", "type": "system.kuma.io/secret", "metadata": {"name": "s"}, "data": {"value": "` + secret + `!"}}`,
		"an inline key of a service": `{"type": "MeshExternalService", "mesh": "m", "name": "s", "spec": {"match": {"type": "HostnameGenerator", "port": 1, "protocol": "tcp"}, "endpoints": [{"address": "a.b", "port": 1}], "tls": {"enabled": true, "verification": {"clientKey": {"inline": "` + secret + `!"}, "clientCert": {"type": "` + secret + `"}}}}}`,
		"a type of another part":     externalService(`{"type": "` + secret + `", "insecureInline": {"value": "a"}}`),
		"a field of a kind":          externalService(`"` + secret + `"`),
		"a text for an object":       externalService(`{"type": "InsecureInline", "insecureInline": "` + secret + `"}`),
		"a list for a text":          externalService(`{"type": "InsecureInline", "insecureInline": {"value": ["` + secret + `"]}}`),
		"text that is not UTF-8":     externalService(`{"inlineString": "` + secret + `\ud800"}`),
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

// nameOrDocument matches what is the name of a field, or a document of its own, outside data.
var nameOrDocument = regexp.MustCompile(`^(\? |\w+: |--- )`)

// The same for YAML that cannot be read, or not as its author means: the key is beside each
// character that YAML gives a meaning.
func TestErrorsOfYAMLDoNotQuoteKeys(t *testing.T) {
	const secret, head = "c2VjcmV0IGtleQ", "type: Secret\nmesh: m\nname: s\n"
	failed := 0
	for _, value := range []string{
		"*K", "&K", "&K *K", "!K x", "!!K x", "!!int K", "!!binary K!", "!<K> x", "!K!x y", "%K", "@K", "`K", `"K`, `"K\x"`, "'K", "{K", "{K: *K}", "[K", "[*K]", "|K", ">K", "|\n\tK", "? K", "K: K", "K: K: K", "- K", "K\n  - K", "<<: K", "{<<: K}", "{K: 1, K: 2}", "\tK", "K\n\tK", "\n K\nK", "K #\n?K", "}K", "]K", ",K", "K\x00", "K\xff", "\uFFFEK", "[K, K: [*K]]", "--- K", "...K",
	} {
		value = strings.ReplaceAll(value, "K", secret)
		documents := []string{head + "data: " + value + "\n", head + "data:\n  " + value + "\n"}
		if !nameOrDocument.MatchString(value) {
			documents = append(documents, head+value+"\n", value+"\n"+head+"data: ''\n")
		}
		for _, document := range documents {
			loader := &resource.Loader{Kinds: kinds.All()}
			set, err := loader.Decode(t.Context(), resource.Input{Name: "in", Data: []byte(document)})
			text := ""
			if err != nil {
				failed++
				text = err.Error()
			}
			if set != nil {
				text += fmt.Sprint(set.Warnings)
			}
			if strings.Contains(text, secret) {
				t.Errorf("%q: an error quotes the key: %s", document, text)
			}
		}
	}
	if failed < 100 {
		t.Errorf("only %d documents are refused", failed)
	}
}

// externalService returns a document whose client has the given key.
func externalService(key string) string {
	return `{"type": "MeshExternalService", "mesh": "m", "name": "s", "spec": {"match": {"type": "HostnameGenerator", "port": 1, "protocol": "tcp"}, "endpoints": [{"address": "a.b", "port": 1}], "tls": {"enabled": true, "verification": {"clientCert": {"secret": "c"}, "clientKey": ` + key + `}}}}`
}

// Errors at and near the places of keys quote what is no key: names, types and words of a schema.
func TestErrorsQuoteWhatIsNoKey(t *testing.T) {
	for name, test := range map[string]struct{ document, quoted string }{
		"the labels of a Secret":  {`{"type": "Secret", "mesh": "m", "name": "s", "labels": "no-labels", "data": ""}`, `"no-labels"`},
		"a field twice":           {`{"type": "Secret", "mesh": "m", "name": "s", "data": "", "data": ""}`, `"data"`},
		"a field of a key twice":  {externalService(`{"secret": "a", "secret": "b"}`), `"secret"`},
		"the type of a key":       {externalService(`{"type": "InsecureInline"}`), `"InsecureInline"`},
		"the kind of a reference": {externalService(`{"type": "Secret", "secretRef": {"kind": "Secrets", "name": "a"}}`), `"Secrets"`},
		"the key of an attribute": {`{"type": "MeshAccessLog", "mesh": "m", "name": "p", "spec": {"to": [{"targetRef": {"kind": "Mesh"}, "default": {"backends": [{"type": "OpenTelemetry", "openTelemetry": {"endpoint": "a:1", "attributes": [{"key": "a..b", "value": "c"}]}}]}}]}}`, `"a..b"`},
	} {
		t.Run(name, func(t *testing.T) {
			loader := &resource.Loader{Kinds: kinds.All()}
			_, err := loader.Decode(t.Context(), resource.Input{Name: "in", Data: []byte(test.document)})
			if err == nil {
				t.Fatal("there is no error")
			}
			if !strings.Contains(err.Error(), test.quoted) {
				t.Errorf("the error does not quote %s: %v", test.quoted, err)
			}
		})
	}
}
