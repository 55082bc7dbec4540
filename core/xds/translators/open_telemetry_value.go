package translators

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"

	otlpv1 "go.opentelemetry.io/proto/otlp/common/v1"
)

func stringValue(text string) *otlpv1.AnyValue {
	return &otlpv1.AnyValue{Value: &otlpv1.AnyValue_StringValue{StringValue: text}}
}

// anyValue returns a JSON value as one of OTLP. Envoy refuses scalars that are no text:
// they become text.
func anyValue(tree any) *otlpv1.AnyValue {
	switch tree := tree.(type) {
	case string:
		return stringValue(tree)
	case bool:
		return stringValue(strconv.FormatBool(tree))
	case float64:
		return stringValue(formatNumber(tree))
	case []any:
		list := &otlpv1.ArrayValue{}
		for _, element := range tree {
			list.Values = append(list.Values, anyValue(element))
		}
		return &otlpv1.AnyValue{Value: &otlpv1.AnyValue_ArrayValue{ArrayValue: list}}
	case map[string]any:
		fields := &otlpv1.KeyValueList{}
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			fields.Values = append(fields.Values, &otlpv1.KeyValue{Key: key, Value: anyValue(tree[key])})
		}
		return &otlpv1.AnyValue{Value: &otlpv1.AnyValue_KvlistValue{KvlistValue: fields}}
	}
	return stringValue("")
}

// withTexts returns a value of OTLP with text instead of other scalars.
func withTexts(v *otlpv1.AnyValue) *otlpv1.AnyValue {
	switch value := v.GetValue().(type) {
	case *otlpv1.AnyValue_StringValue:
		return v
	case *otlpv1.AnyValue_BoolValue:
		return stringValue(strconv.FormatBool(value.BoolValue))
	case *otlpv1.AnyValue_IntValue:
		return stringValue(strconv.FormatInt(value.IntValue, 10))
	case *otlpv1.AnyValue_DoubleValue:
		return stringValue(formatNumber(value.DoubleValue))
	case *otlpv1.AnyValue_BytesValue:
		return stringValue(base64.StdEncoding.EncodeToString(value.BytesValue))
	case *otlpv1.AnyValue_ArrayValue:
		for i, element := range value.ArrayValue.Values {
			value.ArrayValue.Values[i] = withTexts(element)
		}
		return v
	case *otlpv1.AnyValue_KvlistValue:
		for _, field := range value.KvlistValue.Values {
			field.Value = withTexts(field.Value)
		}
		return v
	}
	return stringValue("")
}

func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
