package shape

import (
	"bytes"
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Document is a Dataplane in the universal format, with the fields that
// [Dataplane] sets.
type Document struct {
	Type       string            `json:"type" yaml:"type"`
	Mesh       string            `json:"mesh" yaml:"mesh"`
	Name       string            `json:"name" yaml:"name"`
	Labels     map[string]string `json:"labels,omitempty" yaml:"labels,omitempty"`
	Networking struct {
		Address  string `json:"address" yaml:"address"`
		Inbound  []Port `json:"inbound" yaml:"inbound"`
		Outbound []Port `json:"outbound,omitempty" yaml:"outbound,omitempty"`
		// TransparentProxying is written only if the dataplane reaches some destinations only.
		TransparentProxying *TransparentProxying `json:"transparentProxying,omitempty" yaml:"transparentProxying,omitempty"`
	} `json:"networking" yaml:"networking"`
}

// TransparentProxying is the transparent proxy of a [Document].
type TransparentProxying struct {
	RedirectPortInbound  uint32 `json:"redirectPortInbound" yaml:"redirectPortInbound"`
	RedirectPortOutbound uint32 `json:"redirectPortOutbound" yaml:"redirectPortOutbound"`
	ReachableBackends    struct {
		Refs []BackendRef `json:"refs" yaml:"refs"`
	} `json:"reachableBackends" yaml:"reachableBackends"`
}

// BackendRef refers to a destination of a [Document].
type BackendRef struct {
	Kind   string            `json:"kind" yaml:"kind"`
	Labels map[string]string `json:"labels" yaml:"labels"`
	Port   uint32            `json:"port,omitempty" yaml:"port,omitempty"`
}

// Port is an inbound or outbound of a [Document].
type Port struct {
	Name       string            `json:"name,omitempty" yaml:"name,omitempty"`
	Address    string            `json:"address,omitempty" yaml:"address,omitempty"`
	Port       uint32            `json:"port" yaml:"port"`
	Protocol   string            `json:"protocol,omitempty" yaml:"protocol,omitempty"`
	Tags       map[string]string `json:"tags,omitempty" yaml:"tags,omitempty"`
	BackendRef *BackendRef       `json:"backendRef,omitempty" yaml:"backendRef,omitempty"` // in place of tags
}

func document(d *resource.Dataplane) *Document {
	doc := &Document{Type: d.Kind, Mesh: d.Mesh, Name: d.Name, Labels: d.Labels.Map()}
	doc.Networking.Address = d.Address
	for _, in := range d.Inbounds {
		doc.Networking.Inbound = append(doc.Networking.Inbound, Port{Name: in.Name, Port: in.Port, Protocol: in.Protocol, Tags: in.Tags.Map()})
	}
	for _, out := range d.Outbounds {
		port := Port{Address: out.Address, Port: out.Port, Tags: out.Tags.Map()}
		if out.Backend != nil {
			port.BackendRef = backendRef(out.Backend)
		}
		doc.Networking.Outbound = append(doc.Networking.Outbound, port)
	}
	if p := d.TransparentProxy; p != nil && p.ReachableBackends != nil {
		to := &TransparentProxying{RedirectPortInbound: p.RedirectPortInbound, RedirectPortOutbound: p.RedirectPortOutbound}
		for i := range p.ReachableBackends {
			to.ReachableBackends.Refs = append(to.ReachableBackends.Refs, *backendRef(&p.ReachableBackends[i]))
		}
		doc.Networking.TransparentProxying = to
	}
	return doc
}

func backendRef(ref *resource.BackendRef) *BackendRef {
	return &BackendRef{Kind: ref.Kind.String(), Labels: ref.Labels.Map(), Port: ref.Port}
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
