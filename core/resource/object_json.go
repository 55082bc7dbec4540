package resource

import (
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/conf"
)

// MarshalJSON prints the object in the spelling of [Meta.marshal], without its status and
// creation time, which the control plane writes.
func (o *ObjectOf[S]) MarshalJSON() ([]byte, error) {
	if o.Kind == ConfigKind { // its name contains the mesh
		return MarshalInline(printedUniversal{o.Kind, "", o.Name, o.namespacedLabels()}, &o.Spec)
	}
	return o.marshal(o.Mesh, &o.Spec, objectKinds[o.Kind].flat)
}

// MarshalJSON prints a text that contains a JSON object.
func (h VirtualHosts) MarshalJSON() ([]byte, error) {
	docs := map[string]virtualHostDoc{}
	for _, host := range h {
		doc := virtualHostDoc{Address: host.Address}
		for _, o := range host.Outbounds {
			doc.Outbounds = append(doc.Outbounds, virtualOutboundDoc{o.Port, o.Tags.Map(), o.Origin})
		}
		docs[host.key()] = doc
	}
	text, err := conf.Marshal(docs)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}
