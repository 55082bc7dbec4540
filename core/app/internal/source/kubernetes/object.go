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
	o = object{key: keyOf(&h), version: version}
	o.stored = storedAs(s.group, s.kind, &h, fmt.Sprintf("@%d", version))
	switch {
	case deleted:
	case s.core != "" && h.APIVersion == "":
		o.stored.Data = fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s`, s.core, s.kind, data[1:])
	default:
		o.stored.Data = data
	}
	return o, true, nil
}

// keyOf returns the key of an object in its kind.
func keyOf(h *head) string { return h.Metadata.Namespace + "/" + h.Metadata.Name }

// storedAs returns an object without its data.
func storedAs(group, kind string, h *head, version string) source.Object {
	namespace, name := h.Metadata.Namespace, h.Metadata.Name
	return source.Object{
		Key: group + "/" + kind + "/" + namespace + "/" + name,
		At:  fmt.Sprintf("%s%s/%s/%s%s", Scheme, kind, cmp.Or(namespace, "-"), name, version),
		ID:  resource.ID{Kind: kind, Namespace: namespace, Name: name}, AnyMesh: true,
		Whole: true,
	}
}

// Admitted returns an object that the API server asks about before it stores it, so it may
// have no resource version yet. It keeps the data.
func Admitted(group, kind string, data []byte) (source.Object, error) {
	var h head
	if err := json.Unmarshal(data, &h, lenient); err != nil {
		return source.Object{}, err
	}
	o := storedAs(group, kind, &h, "")
	o.Data = data
	return o, nil
}
