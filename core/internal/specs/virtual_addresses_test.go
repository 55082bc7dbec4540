package specs_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// The text of the Config kuma-MESH-dns-vips has hosts, which are ordered by type and name
// (SPEC 17.3). What is printed is read as the same hosts.
func TestVirtualHosts(t *testing.T) {
	const text = `{"2:web.example": {"address": "240.0.0.3"}, "0:web": {"address": "240.0.0.2", "outbounds": [{"Port": 8080, "TagSet": {"kuma.io/service": "web"}, "Origin": "service"}]}, "0:api": {}}`
	want := specs.VirtualHosts{
		{Type: specs.ServiceHost, Name: "api"},
		{Type: specs.ServiceHost, Name: "web", Address: "240.0.0.2", Outbounds: []specs.VirtualOutbound{
			{Port: 8080, Tags: specs.Tags{{Key: "kuma.io/service", Value: "web"}}, Origin: "service"},
		}},
		{Type: specs.QualifiedHost, Name: "web.example", Address: "240.0.0.3"},
	}
	got := decoded[specs.VirtualAddresses](t, "{config: "+strconv.Quote(text)+"}").Config
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	printed, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, decoded[specs.VirtualAddresses](t, "{config: "+string(printed)+"}").Config); diff != "" {
		t.Errorf("printed hosts (-want +got):\n%s", diff)
	}
}

// A text that is no object of hosts is an error; an empty one has no hosts.
func TestVirtualHostsOfBadText(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"no text", "", ""},
		{"no hosts", "{}", ""},
		{"no JSON", "{", "MM0111 config"},
		{"no type", `{"web": {}}`, "MM0111 config"},
		{"a type after the last one", `{"3:web": {}}`, "MM0111 config"},
		{"no name", `{"0:": {}}`, "MM0111 config"},
		{"no port", `{"0:web": {"outbounds": [{"Port": 65536}]}}`, "MM0111 config"},
		{"a number as address", `{"0:web": {"address": 1}}`, "MM0111 config"},
	} {
		var got specs.VirtualAddresses
		if found := findings(&got, "{config: "+strconv.Quote(c.text)+"}"); found != c.want || got.Config == nil {
			t.Errorf("%s: got %q and %v, want %q", c.rule, found, got.Config, c.want)
		}
	}
}
