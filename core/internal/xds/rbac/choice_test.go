package rbac

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// choose returns a choice whose action has the given name.
func choose(t *testing.T, name string, match *conf.Match, tags map[string]string) Choice {
	t.Helper()
	config, err := anypb.New(&rbacv3.Action{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return Choice{Conditions: Conditions{Match: match, Tags: resource.NewTags(tags)}, Action: &xdscorev3.TypedExtensionConfig{Name: name, TypedConfig: config}}
}

// The first choice whose conditions hold applies. A client with several SPIFFE IDs is
// treated as one without an ID (SPEC 7.2).
func TestChoices(t *testing.T) {
	method := func(m conf.Method) *conf.Match { return &conf.Match{Method: &m} }
	team, reads := underID("spiffe://td/team"), method("GET")
	byID := []Choice{
		choose(t, "team", &team, nil), choose(t, "reads", reads, nil), choose(t, "others", nil, nil), choose(t, "never", method("PUT"), nil),
	}
	byTag := []Choice{
		choose(t, "v1", nil, map[string]string{"version": "v1"}), choose(t, "versions", nil, map[string]string{"version": resource.AnyValue}),
	}
	get := permissiontest.Call{Method: "GET", Path: "/"}
	value := "a"
	byHeader := []Choice{choose(t, "a", &conf.Match{Headers: []conf.HeaderMatch{{Name: "x-user", Value: &value}}}, nil)}
	sends := func(values ...string) permissiontest.Call {
		c := get
		for _, v := range values {
			c.Lines = append(c.Lines, request.Header{Name: "x-user", Value: v})
		}
		return c
	}
	for name, test := range map[string]struct {
		choices []Choice
		client  permissiontest.Call
		want    string
	}{
		"the first that holds":          {byID, permissiontest.Call{URIs: []string{"spiffe://td/team/a"}, Method: "GET", Path: "/"}, "team"},
		"a later one":                   {byID, get, "reads"},
		"one without conditions":        {byID, permissiontest.Call{Method: "PUT", Path: "/"}, "others"},
		"a client with two IDs":         {byID, permissiontest.Call{URIs: []string{"spiffe://td/team/a", "spiffe://td/team/b"}, Method: "GET", Path: "/"}, "reads"},
		"by a tag":                      {byTag, permissiontest.Call{Tags: resource.NewTags(map[string]string{"version": "v1"}), Method: "GET", Path: "/"}, "v1"},
		"by another value of it":        {byTag, permissiontest.Call{Tags: resource.NewTags(map[string]string{"version": "v2"}), Method: "GET", Path: "/"}, "versions"},
		"no choice: the tag is missing": {byTag, get, ""},
		"no choice: the list is empty":  {nil, get, ""},
		"by a header":                   {byHeader, sends("a"), "a"},
		"by a repeated line":            {byHeader, sends("a", "a"), "a"},
		"by one of two lines":           {byHeader, sends("b", "a"), "a"},
		"next to an empty element":      {byHeader, sends("a,"), "a"},
		"next to an empty line":         {byHeader, sends("", "a"), "a"},
		"another value":                 {byHeader, sends("b", "aa"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewChoiceMatcher(test.choices)
			if err != nil {
				t.Fatal(err)
			}
			p := &permission.Permissions{Protocol: request.HTTP}
			if len(test.client.Tags) > 0 {
				p.Clients = &permission.Clients{}
			}
			if got := newInterpreter(t, p, &test.client).matcher(m).GetName(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTooManyChoices(t *testing.T) {
	var choices []Choice
	for i := range 17_000 {
		match := exactID(fmt.Sprintf("spiffe://td/%s/%d", strings.Repeat("a", 1000), i))
		choices = append(choices, choose(t, "some", &match, nil))
	}
	if _, err := NewChoiceMatcher(choices); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

// The filter of an inbound whose permissions exceed a limit denies every request.
func TestDenyAll(t *testing.T) {
	client := permissiontest.Call{URIs: []string{"spiffe://td/a"}, Method: "GET", Path: "/"}
	for _, protocol := range []request.Protocol{request.TCP, request.HTTP} {
		for _, form := range []Form{MatcherForm, RulesForm} {
			filter := DenyAll(protocol, form, "inbound.")
			if filter.Name != LimitName {
				t.Errorf("name %q", filter.Name)
			}
			message, err := filter.Config.UnmarshalNew()
			if err != nil {
				t.Fatal(err)
			}
			in := newInterpreter(t, &permission.Permissions{Protocol: protocol}, &client)
			if got := in.filter(message.(rbacConfig)); !strings.HasPrefix(got.enforced, "DENY") || got.shadow != "" {
				t.Errorf("%v, form %v: got %+v", protocol, form, got)
			}
		}
	}
}
