package envoyapi

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// A use of what a release added is found: a field, a word, and a type, also in an Any. What
// the first release has is not.
func TestNeeds(t *testing.T) {
	const (
		proxy = "envoy.extensions.filters.network.tcp_proxy.v3."
		waits = `"@type":"type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy","statPrefix":"x","upstreamConnectMode":"ON_DOWNSTREAM_DATA"`
		body  = `"@type":"type.googleapis.com/envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit"`
		word  = `"@type":"type.googleapis.com/envoy.config.accesslog.v3.ComparisonFilter","op":"NE"`
	)
	for _, test := range []struct {
		name string
		text string
		want []string
	}{
		{"nothing", `"@type":"type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy","statPrefix":"x"`, nil},
		{"a field and the enum of its word", waits, []string{"1.37 " + proxy + "TcpProxy.upstream_connect_mode"}},
		{"a word", word, []string{"1.37 envoy.config.accesslog.v3.ComparisonFilter.Op.NE"}},
		{"a type in an Any", body, []string{"1.40 envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit"}},
		{"a filter in a listener", `"@type":"type.googleapis.com/envoy.config.listener.v3.Listener","filterChains":[{"filters":[{"name":"a","typedConfig":{` + waits + `}}]}]`,
			[]string{"1.37 " + proxy + "TcpProxy.upstream_connect_mode"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			var m anypb.Any
			if err := (protojson.UnmarshalOptions{Resolver: Types{}}).Unmarshal([]byte("{"+test.text+"}"), &m); err != nil {
				t.Fatal(err)
			}
			for _, need := range Needs(&m) {
				got = append(got, need.Release+" "+need.Name)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Each added name is one of the newest API: a name that is spelled otherwise would hide a use.
func TestAdditionsAreOfTheAPI(t *testing.T) {
	known := map[string]bool{}
	set, err := load()
	if err != nil {
		t.Fatal(err)
	}
	var add func(m protoreflect.MessageDescriptor)
	enum := func(e protoreflect.EnumDescriptor) {
		known[string(e.FullName())] = true
		for i := range e.Values().Len() {
			known[string(e.FullName())+"."+string(e.Values().Get(i).Name())] = true
		}
	}
	add = func(m protoreflect.MessageDescriptor) {
		known[string(m.FullName())] = true
		for i := range m.Fields().Len() {
			known[string(m.Fields().Get(i).FullName())] = true
		}
		for i := range m.Messages().Len() {
			add(m.Messages().Get(i))
		}
		for i := range m.Enums().Len() {
			enum(m.Enums().Get(i))
		}
	}
	set.mu.Lock()
	for path := range set.byPath {
		file, err := set.FindFileByPath(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range file.Messages().Len() {
			add(file.Messages().Get(i))
		}
		for i := range file.Enums().Len() {
			enum(file.Enums().Get(i))
		}
	}
	set.mu.Unlock()
	releases := map[string]int{}
	for name, release := range addedBy() {
		releases[release]++
		// What a release added and a later one removed is in no resource.
		if !known[name] && release == "1.40" {
			t.Errorf("the API has no %s, which %s added", name, release)
		}
	}
	for _, release := range strings.Fields("1.36 1.37 1.38 1.39 1.40") {
		if releases[release] < 50 {
			t.Errorf("release %s added %d names", release, releases[release])
		}
	}
}
