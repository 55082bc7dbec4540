package permission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The name of a service and the tags of its subset may both require a value of one key. An
// item has each key once, and there is none for values that no client has (SPEC 5.2).
func TestItemsHaveEachKeyOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		tag    string // the value of kuma.io/service in the subset of the service web
		want   string // the value in the item; empty: there is no item
		allows bool   // a client of the service web
	}{
		{"the same value", "web", "web", true},
		{"any value", resource.AnyValue, "web", true},
		{"another value that sorts before", "api", "", false},
		{"another value that sorts after", "zoo", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			allow := meshtrafficpermission.Allow
			target := resource.TargetRef{
				Kind: resource.TargetMeshServiceSubset, Name: "web",
				Tags: resource.NewTags(map[string]string{resource.ServiceTag: test.tag}),
			}
			p := &resource.Policy{Type: meshtrafficpermission.Kind(), From: []resource.Item{{TargetRef: target, Conf: &meshtrafficpermission.Conf{Action: &allow}}}}
			clients := permission.NewClients([]*resource.Policy{p})
			got := ""
			for _, item := range clients.Items() {
				for _, tag := range item.Tags {
					got += tag.Value
				}
			}
			if got != test.want {
				t.Errorf("the items require %q, want %q", got, test.want)
			}
			if a := clients.Decide(service("web").Tags); a.Decision.Allow != test.allows {
				t.Errorf("a client of the service: %+v", a.Decision)
			}
		})
	}
}
