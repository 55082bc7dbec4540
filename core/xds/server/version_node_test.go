package server_test

import (
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A node with a version that is missing, incomplete or odd never gets forms that its release may lack.
func TestVersionOfNode(t *testing.T) {
	build := func(v *typev3.SemanticVersion, label *structpb.Value) *corev3.Node {
		b := &corev3.BuildVersion{Version: v}
		if label != nil {
			b.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"build.label": label, "build.type": structpb.NewStringValue("RELEASE")}}
		}
		return &corev3.Node{UserAgentName: "envoy", UserAgentVersionType: &corev3.Node_UserAgentBuildVersion{UserAgentBuildVersion: b}}
	}
	version := func(patch uint32) *typev3.SemanticVersion {
		return &typev3.SemanticVersion{MajorNumber: 1, MinorNumber: 38, Patch: patch}
	}
	for name, c := range map[string]struct {
		node *corev3.Node
		has  bool // regular expressions that compare bytes: 1.38.4 has them
	}{
		"a release":                     {build(version(4), nil), true},
		"an older one":                  {build(version(3), nil), false},
		"a build before it":             {build(version(4), structpb.NewStringValue("dev")), false},
		"a vendor's build before it":    {build(version(4), structpb.NewStringValue("fips-dev")), false},
		"a vendor's build":              {build(version(4), structpb.NewStringValue("fips")), true},
		"an empty label":                {build(version(4), structpb.NewStringValue("")), true},
		"a label that is a number":      {build(version(4), structpb.NewNumberValue(7)), true},
		"a long patch":                  {build(version(4_000_000_000), nil), false},
		"no version in the build":       {build(nil, structpb.NewStringValue("dev")), false},
		"no build":                      {&corev3.Node{UserAgentName: "envoy"}, false},
		"nothing":                       {&corev3.Node{}, false},
		"a text":                        {&corev3.Node{UserAgentName: "envoy", UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.38.4"}}, true},
		"a text of a build before it":   {&corev3.Node{UserAgentName: "envoy", UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.38.4-fips-dev"}}, false},
		"a text that is none":           {&corev3.Node{UserAgentName: "envoy", UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.38.4 (a build)"}}, false},
		"the number of another program": {&corev3.Node{UserAgentName: "acme", UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.38.4"}}, false},
	} {
		client, err := capability.ClientBy(c.node.UserAgentName, server.VersionOfNode(c.node))
		if has := client.Lacks&capability.ByteExpressions == 0; err != nil || has != c.has {
			t.Errorf("%s: it has them: %t (%v)", name, has, err)
		}
	}
}
