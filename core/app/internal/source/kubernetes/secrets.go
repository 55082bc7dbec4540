package kubernetes

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/resource"
)

// secrets pass on the Secrets that a MeshExternalService names, and no other one. Which
// these are changes with the Secrets and with the MeshExternalServices.
type secrets struct {
	stored map[string]source.Object // all Secrets, by their keys
	passed map[string]string        // the versions that were passed on, by their keys
	names  map[string][]string      // that each MeshExternalService has, by its key
}

// externalService is what is read of a MeshExternalService to find the Secrets that it names.
type externalService struct {
	Spec struct {
		TLS struct {
			Verification struct {
				CACert, ClientCert, ClientKey struct {
					Secret    string
					SecretRef struct{ Name string }
				}
			}
		}
	}
}

// namesOf returns the names of Secrets in a document. A document that is not valid has
// none; it is an error when it is decoded.
func namesOf(document []byte) []string {
	var s externalService
	if json.Unmarshal(document, &s, lenient, json.MatchCaseInsensitiveNames(true)) != nil {
		return nil
	}
	v := &s.Spec.TLS.Verification
	var names []string
	for _, c := range []struct {
		Secret    string
		SecretRef struct{ Name string }
	}{v.CACert, v.ClientCert, v.ClientKey} {
		names = append(names, c.Secret, c.SecretRef.Name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// filter returns changes of objects with only the Secrets that are named.
func (s *secrets) filter(objects []source.Object) []source.Object {
	changed := false
	var rest []source.Object
	for _, o := range objects {
		switch kindOf(o.Key) {
		case resource.SecretKind:
			changed = true
			if delete(s.stored, o.Key); o.Data != nil {
				s.stored[o.Key] = o
			}
			continue
		case resource.MeshExternalServiceKind:
			changed = true
			if delete(s.names, o.Key); o.Data != nil {
				s.names[o.Key] = namesOf(o.Data)
			}
		}
		rest = append(rest, o)
	}
	if !changed {
		return objects
	}
	named := map[string]bool{}
	for _, names := range s.names {
		for _, name := range names {
			named[name] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.stored)) {
		o := s.stored[key]
		if named[nameOf(key)] && s.passed[key] != o.At {
			s.passed[key] = o.At
			rest = append(rest, o)
		}
	}
	for key := range s.passed {
		if _, there := s.stored[key]; !there || !named[nameOf(key)] {
			delete(s.passed, key)
			rest = append(rest, source.Object{Key: key})
		}
	}
	return rest
}

// kindOf returns the kind in a key GROUP/KIND/NAMESPACE/NAME.
func kindOf(key string) string {
	_, rest, _ := strings.Cut(key, "/")
	kind, _, _ := strings.Cut(rest, "/")
	return kind
}

// nameOf returns the name in a key.
func nameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
