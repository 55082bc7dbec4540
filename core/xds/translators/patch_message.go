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
	changed := m.ProtoReflect().New().Interface().(M)
	if value == nil {
		if err := patchJSON(m, changed, patches); err != nil {
			return m, err
		}
		return changed, validate(changed)
	}
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

// mergeMessage merges a message into another one. Two configs of one type in
// google.protobuf.Any are merged too.
func mergeMessage(into, from proto.Message) error {
	type typed interface{ GetTypedConfig() *anypb.Any }
	a, ok := into.(typed)
	b, _ := from.(typed)
	if !ok || a.GetTypedConfig() == nil || b.GetTypedConfig() == nil || a.GetTypedConfig().TypeUrl != b.GetTypedConfig().TypeUrl {
		proto.Merge(into, from)
		return nil
	}
	config, err := a.GetTypedConfig().UnmarshalNew()
	if err != nil {
		return err
	}
	other, err := b.GetTypedConfig().UnmarshalNew()
	if err != nil {
		return err
	}
	proto.Merge(config, other)
	proto.Merge(into, from)
	merged, err := anypb.New(config)
	if err == nil {
		proto.Reset(a.GetTypedConfig())
		proto.Merge(a.GetTypedConfig(), merged)
	}
	return err
}

// patchJSON applies JSON patches to a message.
func patchJSON(m, into proto.Message, patches []meshproxypatch.JSONPatch) error {
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
	return protojson.Unmarshal(data, into)
}

// validate checks a message by the rules of Envoy's API.
func validate(m proto.Message) error {
	v, ok := m.(interface{ ValidateAll() error })
	if !ok {
		return errors.New("this is no message of Envoy's API")
	}
	if err := v.ValidateAll(); err != nil {
		return fmt.Errorf("Envoy would refuse the result: %w", err)
	}
	return nil
}
