package shape

import (
	"bytes"
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Document is a Dataplane in the universal format, with the fields that
// [Dataplane] sets.
type Document struct {
	Type       string            `json:"type"`
	Mesh       string            `json:"mesh"`
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels,omitempty"`
	Networking struct {
		Address  string `json:"address"`
		Inbound  []Port `json:"inbound"`
		Outbound []Port `json:"outbound,omitempty"`
	} `json:"networking"`
}

// Port is an inbound or outbound of a [Document].
type Port struct {
	Name     string            `json:"name,omitempty"`
	Address  string            `json:"address,omitempty"`
	Port     uint32            `json:"port"`
	Protocol string            `json:"protocol,omitempty"`
	Tags     map[string]string `json:"tags"`
}

func document(d *resource.Dataplane) *Document {
	doc := &Document{Type: d.Kind, Mesh: d.Mesh, Name: d.Name, Labels: tagMap(d.Labels)}
	doc.Networking.Address = d.Address
	for _, in := range d.Inbounds {
		doc.Networking.Inbound = append(doc.Networking.Inbound, Port{Name: in.Name, Port: in.Port, Protocol: in.Protocol, Tags: tagMap(in.Tags)})
	}
	for _, out := range d.Outbounds {
		doc.Networking.Outbound = append(doc.Networking.Outbound, Port{Address: out.Address, Port: out.Port, Tags: tagMap(out.Tags)})
	}
	return doc
}

func tagMap(tags resource.Tags) map[string]string {
	m := make(map[string]string, len(tags))
	for _, tag := range tags {
		m[tag.Key] = tag.Value
	}
	return m
}

// JSON returns a file with the dataplanes and policies of a set, one document
// per line.
func JSON(set *resource.Set) ([]byte, error) {
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	for _, d := range set.Dataplanes {
		if err := encoder.Encode(document(d)); err != nil {
			return nil, err
		}
	}
	for _, p := range set.Policies {
		if err := encoder.Encode(p); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}
