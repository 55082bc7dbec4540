package resource

import "encoding/json"

// objectHead is the part of a document in the universal spelling before the spec.
type objectHead struct {
	Type   string `json:"type"`
	Mesh   string `json:"mesh,omitzero"`
	Name   string `json:"name"`
	Labels Tags   `json:"labels,omitzero"`
}

// MarshalJSON prints the object in the universal spelling, without its status and
// creation time, which the control plane writes.
func (o *ObjectOf[S]) MarshalJSON() ([]byte, error) {
	head := objectHead{o.Kind, o.Mesh, o.Name, o.namespacedLabels()}
	switch {
	case o.Kind == ConfigKind:
		head.Mesh = "" // it is that of the name
		return MarshalInline(head, &o.Spec)
	case objectKinds[o.Kind].flat:
		return MarshalInline(head, &o.Spec)
	}
	return Marshal(struct {
		objectHead
		Spec *S `json:"spec"`
	}{head, &o.Spec})
}

// MarshalJSON prints the text that is a JSON object.
func (h VirtualHosts) MarshalJSON() ([]byte, error) {
	docs := map[string]virtualHostDoc{}
	for _, host := range h {
		doc := virtualHostDoc{Address: host.Address}
		for _, o := range host.Outbounds {
			doc.Outbounds = append(doc.Outbounds, virtualOutboundDoc{o.Port, o.Tags.asMap(), o.Origin})
		}
		docs[host.key()] = doc
	}
	text, err := Marshal(docs)
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(text))
}
