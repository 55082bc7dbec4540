package translators

import (
	"errors"
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
)

// readResource returns the resource of the text of a policy, and checks it by the rules
// of Envoy's API.
func readResource[M proto.Message](value meshproxypatch.EnvoyResource, left *allowance) (M, error) {
	m, err := readMessage[M](value, left)
	if err != nil {
		return m, err
	}
	return m, validate(m)
}

func readMessage[M proto.Message](value meshproxypatch.EnvoyResource, left *allowance) (M, error) {
	var none M
	m := none.ProtoReflect().New().Interface().(M)
	if len(value) > left.left { // before it is read
		return m, errTooLarge
	}
	data, err := value.JSON()
	if err == nil {
		err = left.take(len(data))
	}
	if err != nil {
		return m, err
	}
	return m, unmarshalJSON(data, m)
}

func unmarshalJSON(data []byte, m proto.Message) error {
	if err := (protojson.UnmarshalOptions{Resolver: envoyapi.Types{}}).Unmarshal(data, m); err != nil {
		return errors.New(envoyapi.Words(err))
	}
	return nil
}

// unpack returns the config of a filter.
func unpack(config *anypb.Any) (proto.Message, error) {
	return anypb.UnmarshalNew(config, proto.UnmarshalOptions{Resolver: envoyapi.Types{}})
}

// patchAll replaces the messages that are selected of a list by changed ones, and reports whether
// there are some.
func patchAll[M proto.Message](list []M, selects func(M) bool, value *meshproxypatch.EnvoyResource, patches []meshproxypatch.JSONPatch, left *allowance) (applied bool, err error) {
	for i, m := range list {
		if !selects(m) {
			continue
		}
		if list[i], err = patchMessage(m, value, patches, left); err != nil {
			return true, err
		}
		applied = true
	}
	return applied, nil
}

// patchMessage returns a changed copy of a message: with the fields of the value,
// where lists are appended and messages merged; or with JSON patches, which see the
// message in proto3 JSON with camel case names.
func patchMessage[M proto.Message](m M, value *meshproxypatch.EnvoyResource, patches []meshproxypatch.JSONPatch, left *allowance) (M, error) {
	patched := proto.CloneOf(m)
	if value == nil {
		if err := patchJSON(patched, patches, left); err != nil {
			return m, err
		}
		return patched, validate(patched)
	}
	changed, err := readMessage[M](*value, left)
	if err != nil {
		return m, err
	}
	if err := mergeMessage(patched, changed); err != nil {
		return m, err
	}
	return patched, validate(patched)
}

// configured is a filter: its config is in google.protobuf.Any.
type configured interface{ GetTypedConfig() *anypb.Any }

// configOf returns the config of a filter, and false for any other message.
func configOf(m proto.Message) (*anypb.Any, bool) {
	if c, ok := m.(configured); ok && c.GetTypedConfig() != nil {
		return c.GetTypedConfig(), true
	}
	return nil, false
}

// setConfig replaces a config by a message of the same type.
func setConfig(config *anypb.Any, m proto.Message) {
	proto.Reset(config)
	proto.Merge(config, message.Any(m))
}

// mergeMessage merges a message into another one. The configs of two filters are merged
// too if they have one type.
func mergeMessage(into, from proto.Message) error {
	a, filter := configOf(into)
	b, _ := configOf(from)
	if !filter || b == nil || a.TypeUrl != b.TypeUrl {
		mergeFields(into.ProtoReflect(), from.ProtoReflect())
		return nil
	}
	config, err := unpack(a)
	if err != nil {
		return err
	}
	other, err := unpack(b)
	if err != nil {
		return err
	}
	mergeFields(config.ProtoReflect(), other.ProtoReflect())
	mergeFields(into.ProtoReflect(), from.ProtoReflect())
	merged, _ := configOf(into)
	setConfig(merged, config)
	return nil
}

// listKeys are the fields by which Envoy finds the elements of a list. Of several elements with
// one key it reads the first, or refuses the resource.
var listKeys = map[protoreflect.FullName]protoreflect.Name{
	"envoy.config.cluster.v3.CircuitBreakers.Thresholds":                                              "priority",
	"envoy.config.route.v3.RouteAction.UpgradeConfig":                                                 "upgrade_type",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig": "upgrade_type",
}

// withKey returns the element of a list that has the key of another element; nil if there is none.
func withKey(list protoreflect.List, like protoreflect.Message) protoreflect.Message {
	name, keyed := listKeys[like.Descriptor().FullName()]
	if !keyed {
		return nil
	}
	key := like.Descriptor().Fields().ByName(name)
	for i := range list.Len() {
		if m := list.Get(i).Message(); m.Get(key).Equal(like.Get(key)) {
			return m
		}
	}
	return nil
}

// mergeFields sets the fields of a message that another one sets: messages are merged, except
// those that are one value, such as a duration. Elements of lists are appended, or merged into
// the one with the same key.
func mergeFields(into, from protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			list := into.Mutable(field).List()
			for i := range value.List().Len() {
				element := value.List().Get(i)
				if field.Message() != nil {
					if known := withKey(list, element.Message()); known != nil {
						mergeFields(known, element.Message())
						continue
					}
				}
				list.Append(element)
			}
		case field.IsMap():
			entries := into.Mutable(field).Map()
			value.Map().Range(func(key protoreflect.MapKey, entry protoreflect.Value) bool {
				entries.Set(key, entry)
				return true
			})
		case field.Message() != nil && into.Has(field) && field.Message().ParentFile().Package() != "google.protobuf":
			mergeFields(into.Mutable(field).Message(), value.Message())
		default:
			into.Set(field, value)
		}
		return true
	})
}

// patchJSON applies JSON patches to a message, for a filter to its config.
func patchJSON(m proto.Message, patches []meshproxypatch.JSONPatch, left *allowance) error {
	if config, filter := configOf(m); filter {
		inner, err := unpack(config)
		if err != nil {
			return err
		}
		if err := patchJSON(inner, patches, left); err != nil {
			return err
		}
		setConfig(config, inner)
		return nil
	}
	data, err := protojson.MarshalOptions{Resolver: envoyapi.Types{}}.Marshal(m)
	if err != nil {
		return err
	}
	if data, err = applyJSONPatches(data, patches, left); err != nil {
		return err
	}
	proto.Reset(m)
	return unmarshalJSON(data, m)
}

// validate checks a message, and the messages in google.protobuf.Any within it, by the rules
// of Envoy's API. It checks what Envoy demands beyond them of listeners and routes: a refused
// listener or route would keep its previous version.
func validate(m proto.Message) error {
	type validator interface{ ValidateAll() error }
	if _, ok := m.(validator); !ok {
		return errors.New("this is no message of Envoy's API")
	}
	for field, value := range envoyapi.Values(m) {
		if field != nil { // its message was checked
			continue
		}
		if v, ok := value.Message().Interface().(validator); ok {
			if err := v.ValidateAll(); err != nil {
				return fmt.Errorf("the result breaks a rule of Envoy: %w", err)
			}
		}
	}
	switch m := m.(type) {
	case *listenerv3.Listener:
		if m.ApiListener == nil && m.UdpListenerConfig == nil && m.DefaultFilterChain == nil && len(m.FilterChains) == 0 {
			return errors.New("the listener has no filter chain, so Envoy would refuse it")
		}
	case *routev3.RouteConfiguration:
		return uniqueDomains(m)
	}
	return nil
}

// uniqueDomains checks that no two virtual hosts have one domain. Letter case is ignored.
func uniqueDomains(r *routev3.RouteConfiguration) error {
	of := map[string]string{}
	for _, host := range r.VirtualHosts {
		for _, domain := range host.Domains {
			domain = strings.ToLower(domain)
			if first, known := of[domain]; known {
				return fmt.Errorf("the domain %q is of the virtual host %q already, so Envoy would refuse the routes", domain, first)
			}
			of[domain] = host.Name
		}
	}
	return nil
}
