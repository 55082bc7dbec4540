package permission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// samePolicy compares policies by identity.
var samePolicy = cmp.Comparer(func(a, b *resource.Policy) bool { return a == b })

func TestExplain(t *testing.T) {
	type lists = meshtrafficpermission.RuleConf
	withHeader := method(exact("td/a"), "GET")
	team := "core"
	withHeader.Headers = []conf.HeaderMatch{{Name: "X-Team", Value: &team}}
	withPath := prefix("td/b")
	withPath.Path = &conf.PathMatch{Type: conf.PathPrefix, Value: "/items"}
	sni := conf.SNI("a.example")
	withSNI := conf.Match{SNI: &sni}
	ofRules := func(c lists) *permission.Permissions {
		l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", c)})
		return &permission.Permissions{Protocol: request.HTTP, Rules: l}
	}
	allow, deny := meshtrafficpermission.Allow, meshtrafficpermission.Deny
	client := func(tags map[string]string, action *meshtrafficpermission.Action) resource.Item {
		return resource.Item{TargetRef: resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(tags)}, Conf: &meshtrafficpermission.Conf{Action: action}}
	}
	ofClients := func(items ...resource.Item) *permission.Permissions {
		p := &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: permission.KindName, Name: "1"}}, Type: meshtrafficpermission.Kind(), From: items}
		return &permission.Permissions{Clients: permission.NewClients([]*resource.Policy{p})}
	}
	get := request.Request{SpiffeID: "spiffe://td/a", Method: "GET", Path: "/items"}
	for _, test := range []struct {
		name        string
		permissions *permission.Permissions
		request     request.Request
		reason      string
		nearest     string // its list
		failed      []string
	}{
		{"no policy", &permission.Permissions{}, get, permission.NoPolicy, "", nil},
		{"no entries", ofRules(lists{}), get, permission.NoPolicy, "", nil},
		{"an entry allows", ofRules(lists{Allow: list(exact("td/a"))}), get, permission.EntryMatches, "", nil},
		{"an entry denies", ofRules(lists{Deny: list(exact("td/a"))}), get, permission.EntryMatches, "", nil},
		{"only entries that deny others", ofRules(lists{Deny: list(exact("td/x"))}), get, permission.NoneAllows, "", nil},
		{"the fewest conditions fail", ofRules(lists{Allow: list(withPath, withHeader, withSNI)}), get, permission.NoneMatches, "allow",
			[]string{"spiffeId: want Prefix spiffe://td/b, the request has spiffe://td/a"}},
		{"the first of several", ofRules(lists{Allow: list(withHeader, withSNI)}), get, permission.NoneMatches, "allow",
			[]string{"headers[0]: want x-team Exact core, the request has none"}},
		{"another value of a header", ofRules(lists{Allow: list(withHeader)}),
			request.Request{SpiffeID: "spiffe://td/a", Method: "PUT", Headers: request.NewHeaders(request.Header{Name: "x-team", Value: "x"})}, permission.NoneMatches, "allow",
			[]string{"method: want GET, the request has PUT", `headers[0]: want x-team Exact core, the request has x-team: "x"`}},
		{"a path and a server name", ofRules(lists{AllowWithShadowDeny: list(conf.Match{SNI: &sni, Path: withPath.Path})}), request.Request{Path: "/x/../a"}, permission.NoneMatches, "allowWithShadowDeny",
			[]string{"sni: want a.example, the request has none", "path: want Prefix /items/, the request has /a"}},
		{"an escaped slash", ofRules(lists{Allow: list(withPath)}), request.Request{SpiffeID: "spiffe://td/b", Path: "/items%2Fa"}, permission.PathRefused, "", nil},
		{"an escaped slash where no entry compares paths", ofRules(lists{Allow: list(exact("td/a"))}), request.Request{SpiffeID: "spiffe://td/a", Path: "/items%2Fa"}, permission.EntryMatches, "", nil},
		{"tags", ofClients(client(map[string]string{"team": "a", "zone": "b"}, &allow), client(map[string]string{"team": "x"}, &deny)),
			request.Request{Tags: resource.NewTags(map[string]string{"zone": "c"})}, permission.NoneMatches, "from",
			[]string{"tags: want team=a, the request has none", "tags: want zone=b, the request has zone=c"}},
		{"items that deny only", ofClients(client(map[string]string{"team": "x"}, &deny)), get, permission.NoneAllows, "", nil},
		{"an item decides", ofClients(client(nil, &allow)), get, permission.EntryMatches, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.permissions.Explain(&test.request)
			if diff := cmp.Diff(test.permissions.Decide(&test.request), got.Answer, samePolicy); diff != "" {
				t.Errorf("another answer than Decide: %s", diff)
			}
			if got.Reason != test.reason {
				t.Errorf("reason %q, want %q", got.Reason, test.reason)
			}
			var nearest string
			var failed []string
			if got.Nearest != nil {
				nearest = got.Nearest.List.String()
				for _, f := range got.Nearest.Failed {
					failed = append(failed, f.String())
				}
			}
			if diff := cmp.Diff(test.failed, failed); diff != "" || nearest != test.nearest {
				t.Errorf("the nearest entry is of %q, want %q: -want +got\n%s", nearest, test.nearest, diff)
			}
		})
	}
}

// Results compares a request with each entry or item, those that match included.
func TestResults(t *testing.T) {
	l, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{rule("1", meshtrafficpermission.RuleConf{
		Allow: list(exact("td/a"), method(exact("td/b"), "GET")),
	})})
	for _, test := range []struct {
		name        string
		permissions *permission.Permissions
		want        []int // how many conditions fail
	}{
		{"no policy", &permission.Permissions{}, nil},
		{"entries", &permission.Permissions{Protocol: request.HTTP, Rules: l}, []int{0, 2}},
		{"items", clientsOf(t, "web", "Allow", "", "Deny"), []int{0, 1}}, // the last one decides first
	} {
		var failed []int
		for _, r := range test.permissions.Results(&request.Request{SpiffeID: "spiffe://td/a", Method: "PUT", Path: "/"}) {
			failed = append(failed, len(r.Failed))
		}
		if diff := cmp.Diff(test.want, failed); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
}

// EntriesOf has the `from` items that set an action.
func TestEntriesOfItems(t *testing.T) {
	allow := meshtrafficpermission.Allow
	p := &resource.Policy{
		Meta: resource.Meta{ID: resource.ID{Kind: permission.KindName, Name: "1"}}, Type: meshtrafficpermission.Kind(),
		From: []resource.Item{{Conf: &meshtrafficpermission.Conf{}}, {Conf: &meshtrafficpermission.Conf{Action: &allow}}},
	}
	entries := permission.EntriesOf(p)
	if len(entries) != 1 || entries[0].Index != 1 || entries[0].List != permission.From {
		t.Errorf("got %+v, want the second item", entries)
	}
}
