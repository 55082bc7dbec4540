package translators

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	otlpv1 "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"
)

// Bodies of log records have texts only, which is all that Envoy accepts.
func TestOpenTelemetryValuesAreTexts(t *testing.T) {
	parse := func(text string) *otlpv1.AnyValue {
		v := &otlpv1.AnyValue{}
		if err := protojson.Unmarshal([]byte(text), v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for name, test := range map[string]struct{ given, want string }{
		"text":    {`{"stringValue":"a"}`, `{"stringValue":"a"}`},
		"boolean": {`{"boolValue":true}`, `{"stringValue":"true"}`},
		"integer": {`{"intValue":"12"}`, `{"stringValue":"12"}`},
		"number":  {`{"doubleValue":2.5}`, `{"stringValue":"2.5"}`},
		"bytes":   {`{"bytesValue":"AQI="}`, `{"stringValue":"AQI="}`},
		"nothing": {`{}`, `{"stringValue":""}`},
		"list":    {`{"arrayValue":{"values":[{"intValue":"1"}]}}`, `{"arrayValue":{"values":[{"stringValue":"1"}]}}`},
		"fields":  {`{"kvlistValue":{"values":[{"key":"k","value":{"boolValue":false}}]}}`, `{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"false"}}]}}`},
	} {
		if diff := cmp.Diff(parse(test.want), withTexts(parse(test.given)), protocmp.Transform()); diff != "" {
			t.Errorf("%s (-want +got): %s", name, diff)
		}
	}
	var tree any
	if err := json.Unmarshal([]byte(`{"b": [1, 2.5, true, null], "a": "x"}`), &tree); err != nil {
		t.Fatal(err)
	}
	want := parse(`{"kvlistValue":{"values":[{"key":"a","value":{"stringValue":"x"}},{"key":"b","value":{"arrayValue":{"values":[
		{"stringValue":"1"},{"stringValue":"2.5"},{"stringValue":"true"},{"stringValue":""}]}}}]}}`)
	if diff := cmp.Diff(want, anyValue(tree), protocmp.Transform()); diff != "" {
		t.Errorf("a JSON value (-want +got): %s", diff)
	}
}
