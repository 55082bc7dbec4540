package permission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// clientsOf returns the permissions of `from` items: pairs of a service, or "" for
// every client, and an action.
func clientsOf(t *testing.T, pairs ...string) *permission.Permissions {
	t.Helper()
	b := meshtrafficpermission.New("default", "p")
	for i := 0; i < len(pairs); i += 2 {
		target, action := resource.WholeMesh(), meshtrafficpermission.Action(pairs[i+1])
		if pairs[i] != "" {
			target = resource.Service(pairs[i])
		}
		b.From(target, meshtrafficpermission.Conf{Action: &action})
	}
	p, err := b.Policy()
	if err != nil {
		t.Fatal(err)
	}
	return &permission.Permissions{Clients: permission.NewClients([]*resource.Policy{p})}
}

func service(name string) *request.Request {
	return &request.Request{Tags: resource.NewTags(map[string]string{resource.ServiceTag: name})}
}

// Without the entries and items that cannot match, the others decide. Reduce
// does not change its receiver.
func TestReduce(t *testing.T) {
	get, put := conf.Method("GET"), conf.Method("PUT")
	list, _ := permission.NewDecisionList(request.HTTP, []permission.Rule{{Conf: &meshtrafficpermission.RuleConf{
		Deny:                []conf.Match{{Method: &get}},
		Allow:               []conf.Match{{Method: &get}},
		AllowWithShadowDeny: []conf.Match{{Method: &put}},
	}}})
	rules := &permission.Permissions{Protocol: request.HTTP, Rules: list}
	reduced := rules.Reduce(func(e *permission.Entry) bool { return e.List == permission.Allow }, nil)
	for _, test := range []struct {
		name, method string
		of           *permission.Permissions
		want         bool
	}{
		{"denied", "GET", rules, false},
		{"the denial cannot match", "GET", reduced, true},
		{"allowed", "PUT", rules, true},
		{"the entry that allows cannot match", "PUT", reduced, false},
	} {
		if got := test.of.Decide(&request.Request{Method: test.method}); got.Decision.Allow != test.want || !got.HasShadow {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}

	clients := clientsOf(t, "", "AllowWithShadowDeny", "a", "Deny")
	reduced = clients.Reduce(nil, func(c *permission.Client) bool { return c.Action != meshtrafficpermission.Deny })
	if got := clients.Decide(service("a")); got.Decision.Allow {
		t.Errorf("got %+v", got)
	}
	if got := reduced.Decide(service("a")); !got.Decision.Allow || !got.HasShadow {
		t.Errorf("the item that denies cannot match: got %+v", got)
	}
	reduced = clients.Reduce(nil, func(*permission.Client) bool { return false })
	if got := reduced.Decide(service("b")); got.Decision.Allow || !got.HasShadow {
		t.Errorf("no item can match: got %+v", got)
	}
}

func TestAllowsEveryClient(t *testing.T) {
	for _, test := range []struct {
		name  string
		items []string
		want  bool
	}{
		{"all", []string{"", "Allow"}, true},
		{"all, with a shadow denial", []string{"", "AllowWithShadowDeny"}, true},
		{"one service", []string{"a", "Allow"}, false},
		{"all but one service", []string{"", "Allow", "a", "Deny"}, false},
		{"a denial that is overridden for all", []string{"a", "Deny", "", "Allow"}, true},
		{"all are denied", []string{"", "Deny"}, false},
	} {
		if got := clientsOf(t, test.items...).AllowsEveryClient(); got != test.want {
			t.Errorf("%s: got %v", test.name, got)
		}
	}
	if (&permission.Permissions{}).AllowsEveryClient() {
		t.Error("an inbound without permissions allows every client")
	}
}
