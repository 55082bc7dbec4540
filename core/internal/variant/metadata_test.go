package variant_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/variant"
)

func TestFromMetadata(t *testing.T) {
	metadata, err := structpb.NewStruct(map[string]any{
		"env":    "prod",
		"labels": map[string]any{"app.kubernetes.io/name": "web", "replicas": 3, "canary": true, "empty": "", "nothing": nil, "list": []any{"a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ key, want string }{
		{"env", "{env=prod}"},
		{"stage=env", "{stage=prod}"},
		{`app=labels.app\.kubernetes\.io/name`, "{app=web}"},
		{"replicas=labels.replicas", "{replicas=3}"},
		{"canary=labels.canary", "{canary=true}"},
		{"empty=labels.empty", `{empty=""}`},
		{"nothing=labels.nothing", "{}"},
		{"list=labels.list", "{}"},
		{"object=labels", "{}"},
		{"absent=labels.absent.below", "{}"},
		{"below=env.below", "{}"},
	} {
		key, err := variant.ParseMetadataKey(test.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := variant.FormatParameters(variant.FromMetadata(metadata, []variant.MetadataKey{key})); got != test.want {
			t.Errorf("%s: %s, want %s", test.key, got, test.want)
		}
		if got := variant.FromMetadata(nil, []variant.MetadataKey{key}); len(got) != 0 {
			t.Errorf("%s: without metadata %v", test.key, got)
		}
	}
	if key, err := variant.ParseMetadataKey(`k=a.b\`); err != nil || !slices.Equal(key.Path, []string{"a", `b\`}) {
		t.Errorf("a backslash at the end, which is part of the name: %q, %v", key.Path, err)
	}
	for _, text := range []string{"", "=env", "k=", "k=a..b", "k=.a", "k=a."} {
		if _, err := variant.ParseMetadataKey(text); err == nil || !strings.Contains(err.Error(), "KEY=METADATA.PATH") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
