package kubernetes

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/resource"
)

// object is an object as the API server sent it.
type object struct {
	key     string // in its kind: NAMESPACE/NAME
	version uint64 // its resource version
	stored  source.Object
}

// head is what is read of an object before it is decoded.
type head struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		ResourceVersion string `json:"resourceVersion"`
		Annotations     struct {
			InitialEventsEnd string `json:"k8s.io/initial-events-end"`
		} `json:"annotations"`
	} `json:"metadata"`
}

func headOf(data jsontext.Value) (h head, version uint64, err error) {
	if err = json.Unmarshal(data, &h, lenient); err == nil {
		version, err = parseVersion(h.Metadata.ResourceVersion)
	}
	return h, version, err
}

// parseVersion returns a resource version, which is a number for every resource of the
// API server itself.
func parseVersion(text string) (uint64, error) {
	version, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("bad resource version %.40q", text)
	}
	return version, nil
}

// object returns an object of the kind, which keeps the data. It reports whether the
// object is read.
func (s *served) object(data jsontext.Value, deleted bool) (o object, ok bool, err error) {
	h, version, err := headOf(data)
	if err != nil || !s.has(h.Metadata.Name) {
		return object{}, false, err
	}
	namespace, name := h.Metadata.Namespace, h.Metadata.Name
	o = object{key: namespace + "/" + name, version: version}
	o.stored = source.Object{
		Key: s.group + "/" + s.kind + "/" + o.key,
		At:  fmt.Sprintf("%s%s/%s/%s@%d", Scheme, s.kind, cmp.Or(namespace, "-"), name, version),
		ID:  resource.ID{Kind: s.kind, Namespace: namespace, Name: name}, AnyMesh: true,
		Whole: true,
	}
	switch {
	case deleted:
	case s.core != "" && h.APIVersion == "":
		o.stored.Data = fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s`, s.core, s.kind, data[1:])
	default:
		o.stored.Data = data
	}
	return o, true, nil
}
