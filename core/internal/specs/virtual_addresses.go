package specs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// VirtualAddresses is the content of the Config.
type VirtualAddresses struct {
	Config VirtualHosts `json:"config"`
}

// VirtualHosts are host names with their addresses, sorted by type and name. In a
// document they are a text that contains a JSON object.
type VirtualHosts []VirtualHost

// VirtualHost is a host name with its virtual address.
type VirtualHost struct {
	Type      VirtualHostType
	Name      string
	Address   string
	Outbounds []VirtualOutbound
}

// VirtualHostType determines the meaning of the name of a [VirtualHost].
type VirtualHostType uint8

// The types.
const (
	ServiceHost   VirtualHostType = iota // a service: the host is NAME.mesh
	ExternalHost                         // the host of an external service
	QualifiedHost                        // the name is a complete host name
)

// VirtualOutbound is a port of a [VirtualHost].
type VirtualOutbound struct {
	Port uint32
	Tags Tags
	// Origin describes the source of the outbound.
	Origin string
}

// virtualHostDoc is a [VirtualHost] in a document.
type virtualHostDoc struct {
	Address   string               `json:"address,omitzero"`
	Outbounds []virtualOutboundDoc `json:"outbounds,omitzero"`
}

// virtualOutboundDoc has the field names of Kuma's Go type, which has no tags.
type virtualOutboundDoc struct {
	Port   uint32
	TagSet map[string]string
	Origin string
}

// key returns the name of the field of a host.
func (h *VirtualHost) key() string { return strconv.Itoa(int(h.Type)) + ":" + h.Name }

// DecodeAt reads a text that contains a JSON object. The object and the text may be
// empty: a control plane writes them for a mesh without such addresses.
func (h *VirtualHosts) DecodeAt(in *strict.Value) {
	const hint = `write a JSON object {"0:SERVICE": {"address": "240.0.0.1", "outbounds": [{"Port": 80, "TagSet": {}}]}}`
	var text string
	if !strict.Decode(in, &text) {
		return
	}
	*h = VirtualHosts{} // it is present, even if it is empty
	if text == "" {
		return
	}
	var docs map[string]virtualHostDoc
	if err := json.Unmarshal([]byte(text), &docs); err != nil {
		in.At().Errorf(diag.BadValue, hint, "bad virtual addresses: %v", withoutGoType(err))
		return
	}
	for key, doc := range docs {
		host, err := doc.host(key)
		if err != nil {
			in.At().Errorf(diag.BadValue, hint, "bad virtual addresses: %v", err)
			return
		}
		*h = append(*h, host)
	}
	slices.SortFunc(*h, func(a, b VirtualHost) int {
		if a.Type != b.Type {
			return int(a.Type) - int(b.Type)
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// withoutGoType returns an error of encoding/json without the name of a Go type.
func withoutGoType(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	where := "a host"
	if wrong.Field != "" {
		where = "the field " + wrong.Field
	}
	return fmt.Errorf("%s cannot be a %s", where, wrong.Value)
}

func (d *virtualHostDoc) host(key string) (VirtualHost, error) {
	word, name, found := strings.Cut(key, ":")
	number, err := strconv.ParseUint(word, 10, 8)
	if !found || err != nil || number > uint64(QualifiedHost) || name == "" {
		return VirtualHost{}, fmt.Errorf("%q is not TYPE:NAME with a type from 0 to %d", key, QualifiedHost)
	}
	host := VirtualHost{Type: VirtualHostType(number), Name: name, Address: d.Address}
	for _, o := range d.Outbounds {
		if o.Port > 65535 {
			return VirtualHost{}, fmt.Errorf("%s has the port %d", key, o.Port)
		}
		host.Outbounds = append(host.Outbounds, VirtualOutbound{o.Port, NewTags(o.TagSet), o.Origin})
	}
	return host, nil
}

// Validate reports the errors of addresses that were made in Go.
func (h VirtualHosts) Validate(at *diag.At) {
	for _, host := range h {
		if host.Name == "" || host.Type > QualifiedHost {
			at.Errorf(diag.MissingField, "", "a host needs a name and a type")
			return
		}
	}
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
