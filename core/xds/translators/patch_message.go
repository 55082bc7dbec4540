package translators

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/xds"
)

// readResource reads a resource from the text of a policy, and checks it by the rules
// of Envoy's API.
func readResource(value meshproxypatch.EnvoyResource, into proto.Message) error {
	data, err := value.JSON()
	if err != nil {
		return err
	}
	if err := protojson.Unmarshal(data, into); err != nil {
		return err
	}
	return validate(into)
}

// patchMessage returns a changed copy of a message: with the fields of the value,
// where lists are appended and messages merged; or with JSON patches, which see the
// message in proto3 JSON with camel case names.
func patchMessage[M proto.Message](m M, value *meshproxypatch.EnvoyResource, patches []meshproxypatch.JSONPatch) (M, error) {
	if value == nil {
		changed := proto.Clone(m).(M)
		if err := patchJSON(changed, patches); err != nil {
			return m, err
		}
		return changed, validate(changed)
	}
	changed := m.ProtoReflect().New().Interface().(M)
	data, err := value.JSON()
	if err != nil {
		return m, err
	}
	if err := protojson.Unmarshal(data, changed); err != nil {
		return m, err
	}
	merged := proto.Clone(m).(M)
	if err := mergeMessage(merged, changed); err != nil {
		return m, err
	}
	return merged, validate(merged)
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
	proto.Merge(config, xds.Any(m))
}

// mergeMessage merges a message into another one. The configs of two filters are merged
// too if they have one type.
func mergeMessage(into, from proto.Message) error {
	a, filter := configOf(into)
	b, _ := configOf(from)
	if !filter || b == nil || a.TypeUrl != b.TypeUrl {
		proto.Merge(into, from)
		return nil
	}
	config, err := a.UnmarshalNew()
	if err != nil {
		return err
	}
	other, err := b.UnmarshalNew()
	if err != nil {
		return err
	}
	proto.Merge(config, other)
	proto.Merge(into, from)
	merged, _ := configOf(into)
	setConfig(merged, config)
	return nil
}

// patchJSON applies JSON patches to a message, for a filter to its config.
func patchJSON(m proto.Message, patches []meshproxypatch.JSONPatch) error {
	if config, filter := configOf(m); filter {
		inner, err := config.UnmarshalNew()
		if err != nil {
			return err
		}
		if err := patchJSON(inner, patches); err != nil {
			return err
		}
		setConfig(config, inner)
		return nil
	}
	data, err := protojson.Marshal(m)
	if err != nil {
		return err
	}
	text, err := json.Marshal(patches)
	if err != nil {
		return err
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return err
	}
	options := jsonpatch.NewApplyOptions()
	options.EnsurePathExistsOnAdd = true
	if data, err = patch.ApplyWithOptions(data, options); err != nil {
		return fmt.Errorf("the patch does not apply: %w", err)
	}
	proto.Reset(m)
	return protojson.Unmarshal(data, m)
}

// validate checks a message by the rules of Envoy's API.
func validate(m proto.Message) error {
	v, ok := m.(interface{ ValidateAll() error })
	if !ok {
		return errors.New("this is no message of Envoy's API")
	}
	if err := v.ValidateAll(); err != nil {
		return fmt.Errorf("the result breaks a rule of Envoy: %w", err)
	}
	return nil
}
