package naive

import (
	"encoding/json"
	"iter"
	"reflect"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// noMerger is the merger of confs that are only decoded; the reference does not need more.
type noMerger[T any] struct{}

func (*noMerger[T]) Fill(*T, int) bool              { panic("the reference calls a merger") }
func (*noMerger[T]) Conf() *T                       { return new(T) }
func (*noMerger[T]) Origins(dst []int) []int        { return dst }
func (*noMerger[T]) Leaves() iter.Seq2[string, int] { return func(func(string, int) bool) {} }

func (c *timeoutConf) Equal(o *timeoutConf) bool       { return reflect.DeepEqual(c, o) }
func (c *paramsConf) Equal(o *paramsConf) bool         { return reflect.DeepEqual(c, o) }
func (c *proxyConf) Equal(o *proxyConf) bool           { return reflect.DeepEqual(c, o) }
func (c *actionConf) Equal(o *actionConf) bool         { return reflect.DeepEqual(c, o) }
func (c *permissionConf) Equal(o *permissionConf) bool { return reflect.DeepEqual(c, o) }
func (c *routeConf) Equal(o *routeConf) bool           { return reflect.DeepEqual(c, o) }

type timeoutConf struct {
	ConnectTimeout *conf.Duration `json:"connectTimeout,omitzero"`
	HTTP           *timeoutHTTP   `json:"http,omitzero"`
}

type timeoutHTTP struct {
	RequestTimeout *conf.Duration `json:"requestTimeout,omitzero"`
	IdleTimeout    *conf.Duration `json:"idleTimeout,omitzero"`
}

type paramsConf struct {
	Param1 *string `json:"param1,omitzero"`
	Param2 *string `json:"param2,omitzero"`
	Param3 *string `json:"param3,omitzero"`
}

type proxyConf struct {
	Imports       []string    `json:"imports,omitzero"`
	Modifications []conf.JSON `json:"modifications,omitzero"`
}

type actionConf struct {
	Action *string `json:"action,omitzero"`
}

type permissionConf struct {
	Deny                []conf.Match `json:"deny,omitzero"`
	AllowWithShadowDeny []conf.Match `json:"allowWithShadowDeny,omitzero"`
	Allow               []conf.Match `json:"allow,omitzero"`
}

type routeConf struct {
	Rules []string `json:"rules,omitzero"`
}

// testKinds returns one kind of each sort.
func testKinds() *resource.Kinds {
	top := resource.TopTargets | resource.RouteTargets
	timeout, params := resource.ConfOf[timeoutConf, noMerger[timeoutConf]](), resource.ConfOf[paramsConf, noMerger[paramsConf]]()
	route := &resource.Section{Targets: resource.ServiceTargets, Conf: resource.ConfOf[routeConf, noMerger[routeConf]](), Inline: true}
	return resource.NewKinds(
		&resource.Kind{
			Name: "UpstreamTimeout", Short: "ut", Top: top,
			To:   &resource.Section{Targets: resource.ToTargets, Conf: timeout},
			From: &resource.Section{Targets: resource.FromTargets, Conf: timeout},
		},
		&resource.Kind{
			Name: "Params", Short: "pa", Top: top,
			To:    &resource.Section{Targets: resource.ToTargets, Conf: params},
			From:  &resource.Section{Targets: resource.FromTargets, Conf: params},
			Rules: &resource.Section{Conf: params, Matches: true},
		},
		&resource.Kind{
			Name: "ProxyTemplate", Short: "pt", Top: top,
			Default: &resource.Section{Conf: resource.ConfOf[proxyConf, noMerger[proxyConf]]()},
		},
		&resource.Kind{
			Name: "MeshTrafficPermission", Short: "mtp", Top: resource.TopTargets,
			From:  &resource.Section{Targets: resource.FromTargets, Conf: resource.ConfOf[actionConf, noMerger[actionConf]]()},
			Rules: &resource.Section{Conf: resource.ConfOf[permissionConf, noMerger[permissionConf]](), Unmerged: true},
		},
		&resource.Kind{Name: "MeshHTTPRoute", Short: "mhttpr", Top: resource.TopTargets, To: route},
		&resource.Kind{Name: "MeshTCPRoute", Short: "mtcpr", Top: resource.TopTargets, To: route},
	)
}

// load decodes documents.
func load(t *testing.T, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: testKinds()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// tree returns the JSON tree of an answer.
func tree(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(data))
}

func parse(t *testing.T, text string) (tree any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return tree
}

func expect(t *testing.T, got any, want string) {
	t.Helper()
	if g, w := tree(t, got), parse(t, want); !reflect.DeepEqual(g, w) {
		text, _ := json.MarshalIndent(g, "", "  ")
		t.Errorf("got %s\nwant %s", text, want)
	}
}
