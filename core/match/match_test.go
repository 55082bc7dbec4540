package match_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// policy returns a policy of a kind with nothing but a name and a targetRef.
func policy(kind, name string, target resource.TargetRef) *resource.Policy {
	return &resource.Policy{
		Meta:      resource.Meta{ID: resource.ID{Kind: kind, Mesh: "default", Name: name}},
		TargetRef: target,
	}
}

func tags(pairs ...string) resource.Tags {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return resource.NewTags(m)
}

func service(name string, pairs ...string) resource.Tags {
	return tags(append(pairs, resource.ServiceTag+"="+name)...)
}

var (
	web = &resource.Dataplane{
		Meta: resource.Meta{ID: resource.ID{Name: "web-1", Namespace: "shop"}, Labels: tags("app=web")},
		Inbounds: []resource.Inbound{
			{Name: "http", Port: 80, Tags: service("web", "version=v1", "team=store")},
			{Port: 81, Tags: service("admin", "version=v2")},
		},
	}
	gateway = &resource.Dataplane{
		Meta:    resource.Meta{ID: resource.ID{Name: "edge"}},
		Gateway: &resource.GatewayProxy{Builtin: true, Tags: service("edge", "version=v1")},
	}
	bare = &resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Name: "bare"}, Labels: tags("app=web")}}
)

func selections(t *testing.T, d *resource.Dataplane, policies ...*resource.Policy) []string {
	t.Helper()
	index, err := match.NewIndex(policies, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var buffer match.Buffer
	for _, s := range index.Select(d, match.Shadow, &buffer) {
		line := s.Policy.Name
		for i := range d.Inbounds {
			if s.Inbounds.Has(i) {
				line += " " + d.Inbounds[i].SectionName()
			}
		}
		out = append(out, line)
	}
	return out
}

func TestSelect(t *testing.T) {
	const kind = "MeshTimeout"
	for name, c := range map[string]struct {
		target             resource.TargetRef
		web, gateway, bare string // "": not selected
	}{
		"Mesh":                       {resource.TargetRef{Kind: resource.TargetMesh}, "p http 81", "p", "p"},
		"Mesh, sidecars":             {resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.Sidecar}, "p http 81", "", "p"},
		"Mesh, gateways":             {resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.Gateway}, "", "p", ""},
		"Mesh, both":                 {resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.Gateway | resource.Sidecar}, "p http 81", "p", "p"},
		"subset":                     {resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags("version=v1")}, "p http", "p", ""},
		"subset, any value":          {resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags("version=*")}, "p http 81", "p", ""},
		"tags of different inbounds": {resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tags("team=store", "version=v2")}, "", "", ""},
		"service":                    {resource.TargetRef{Kind: resource.TargetMeshService, Name: "admin"}, "p 81", "", ""},
		"service of a gateway":       {resource.TargetRef{Kind: resource.TargetMeshService, Name: "edge"}, "", "p", ""},
		"service subset":             {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: tags("version=v1")}, "p http", "", ""},
		"service subset, not equal":  {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: tags("version=v2")}, "", "", ""},
		"service asked for twice":    {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: service("admin")}, "", "", ""},
		"gateway":                    {resource.TargetRef{Kind: resource.TargetMeshGateway, Name: "edge", Tags: tags("version=v1")}, "", "p", ""},
		"sidecar as a gateway":       {resource.TargetRef{Kind: resource.TargetMeshGateway, Name: "web"}, "", "", ""},
		"all dataplanes":             {resource.TargetRef{Kind: resource.TargetDataplane}, "p http 81", "p", "p"},
		"by label":                   {resource.TargetRef{Kind: resource.TargetDataplane, Labels: tags("app=web")}, "p http 81", "", "p"},
		"by name":                    {resource.TargetRef{Kind: resource.TargetDataplane, Name: "web-1"}, "p http 81", "", ""},
		"by name and namespace":      {resource.TargetRef{Kind: resource.TargetDataplane, Name: "web-1", Namespace: "shop"}, "p http 81", "", ""},
		"in another namespace":       {resource.TargetRef{Kind: resource.TargetDataplane, Name: "web-1", Namespace: "bank"}, "", "", ""},
		"section":                    {resource.TargetRef{Kind: resource.TargetDataplane, Labels: tags("app=web"), SectionName: "http"}, "p http", "", ""},
		"section by port":            {resource.TargetRef{Kind: resource.TargetDataplane, SectionName: "81"}, "p 81", "", ""},
		"port of a named inbound":    {resource.TargetRef{Kind: resource.TargetDataplane, SectionName: "80"}, "", "", ""},
		"gateway route":              {resource.TargetRef{Kind: resource.TargetMeshGatewayRoute, Name: "r"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(kind, "p", c.target)
			other := policy(kind, "other", resource.TargetRef{Kind: resource.TargetMeshService, Name: "nobody"})
			for _, on := range []struct {
				dataplane *resource.Dataplane
				want      string
			}{{web, c.web}, {gateway, c.gateway}, {bare, c.bare}} {
				got := strings.Join(selections(t, on.dataplane, p, other), "; ")
				if got != on.want {
					t.Errorf("%s: got %q, want %q", on.dataplane.Name, got, on.want)
				}
			}
		})
	}
}

// A policy that is attached to a route selects what the route selects.
func TestSelectByRoute(t *testing.T) {
	route := func(name, svc string) *resource.Policy {
		return policy("MeshHTTPRoute", name, resource.TargetRef{Kind: resource.TargetMeshService, Name: svc})
	}
	attached := policy("MeshTimeout", "p", resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "r"})
	got := selections(t, web, route("r", "admin"), route("s", "web"), attached)
	if diff := gocmp.Diff([]string{"r 81", "s http", "p 81"}, got); diff != "" {
		t.Error(diff)
	}
	if got := selections(t, web, route("s", "web"), attached); len(got) != 1 {
		t.Errorf("without the route got %v, want the other route only", got)
	}
	// No such resource is a route, so an embedder's kind of that name is none.
	own := route("r", "admin")
	own.Kind = "MeshGatewayRoute"
	attached.TargetRef.Kind = resource.TargetMeshGatewayRoute
	if got := selections(t, web, own, attached); !slices.Equal(got, []string{"r 81"}) {
		t.Errorf("attached to a MeshGatewayRoute: got %v", got)
	}
}

func TestOrder(t *testing.T) {
	targets := []resource.TargetRef{
		{Kind: resource.TargetMesh},
		{Kind: resource.TargetDataplane, Name: "web-1"},
		{Kind: resource.TargetDataplane, Name: "web-1", SectionName: "http"},
		{Kind: resource.TargetMeshSubset, Tags: tags("version=v1")},
		{Kind: resource.TargetMeshService, Name: "web"},
		{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: tags("version=v1")},
	}
	// Names descend, so that the level alone explains the order of levels, and
	// each level has two names and one name in two namespaces.
	var policies []*resource.Policy
	var want []string
	for i, target := range targets {
		letter := string(rune('z' - i))
		for _, id := range []resource.ID{{Name: letter + "1", Namespace: "a"}, {Name: letter + "1", Namespace: "b"}, {Name: letter + "2"}} {
			p := policy("MeshTimeout", id.Name, target)
			p.Namespace = id.Namespace
			policies = append(policies, p)
			want = append(want, id.Namespace+"/"+id.Name)
		}
	}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(policies), func(i, j int) { policies[i], policies[j] = policies[j], policies[i] })
		index, err := match.NewIndex(policies, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var buffer match.Buffer
		for _, s := range index.Select(web, match.Shadow, &buffer) {
			got = append(got, s.Policy.Namespace+"/"+s.Policy.Name)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
	if err := match.CheckTotal(match.DefaultOrder, policies); err != nil {
		t.Error(err)
	}
}

func TestCheckTotalFindsFaults(t *testing.T) {
	a, b, c := policy("K", "a", resource.TargetRef{}), policy("K", "b", resource.TargetRef{}), policy("K", "c", resource.TargetRef{})
	cycle := map[string]string{"a": "b", "b": "c", "c": "a"}
	c.Namespace = "x"
	for name, fault := range map[string]struct {
		order match.Order
		want  string
	}{
		"all equal": {func(a, b *resource.Policy) int { return 0 }, `K "a" and K "b" are in no order`},
		"by name, descending for two of them": {func(p, q *resource.Policy) int {
			if p != a && q != a {
				return strings.Compare(q.Namespace, p.Namespace)
			}
			return strings.Compare(p.Name, q.Name)
		}, ""},
		"not equal to itself": {func(p, q *resource.Policy) int {
			if p == q && p == c {
				return 1
			}
			return strings.Compare(p.Name, q.Name)
		}, `K "c" of namespace "x" does not equal itself`},
		"one-sided": {func(a, b *resource.Policy) int {
			if a == b {
				return 0
			}
			return -1
		}, `K "a" and K "b" compare differently when swapped`},
		"cycle": {func(a, b *resource.Policy) int {
			switch {
			case a == b:
				return 0
			case cycle[a.Name] == b.Name:
				return -1
			}
			return 1
		}, `K "a", K "b" and K "c" of namespace "x" are in a cycle`},
	} {
		err := match.CheckTotal(fault.order, []*resource.Policy{a, b, c})
		if got := fmt.Sprint(err); fault.want == "" && err != nil || fault.want != "" && got != fault.want {
			t.Errorf("%s: got %s, want %q", name, got, fault.want)
		}
	}
}

func TestIndexRefusesEqualPolicies(t *testing.T) {
	p := policy("K", "p", resource.TargetRef{Kind: resource.TargetMesh})
	p.Namespace = "x"
	if _, err := match.NewIndex([]*resource.Policy{p, p}, nil); fmt.Sprint(err) != `two policies are K "p" of namespace "x"` {
		t.Errorf("got %v", err)
	}
}

func TestOwnOrder(t *testing.T) {
	reversed := func(a, b *resource.Policy) int { return cmp.Compare(b.Name, a.Name) }
	index, err := match.NewIndex([]*resource.Policy{
		policy("K", "a", resource.TargetRef{Kind: resource.TargetMeshService, Name: "web"}),
		policy("K", "b", resource.TargetRef{Kind: resource.TargetMesh}),
	}, reversed)
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	if got := index.Select(web, match.Shadow, &buffer); got[0].Policy.Name != "b" || got[1].Policy.Name != "a" {
		t.Errorf("got %s before %s", got[0].Policy.Name, got[1].Policy.Name)
	}
}

// A policy that selects what it did may have another place in an embedder's
// order.
func TestOwnOrderMovesPolicies(t *testing.T) {
	byPriority := func(a, b *resource.Policy) int {
		return cmp.Or(cmp.Compare(a.Labels.Value("priority"), b.Labels.Value("priority")), match.DefaultOrder(a, b))
	}
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	x, err := match.NewIndex([]*resource.Policy{policy("K", "a", mesh), policy("K", "b", mesh)}, byPriority)
	if err != nil {
		t.Fatal(err)
	}
	p := policy("K", "a", mesh)
	p.Labels = tags("priority=1")
	e := x.Edit()
	e.Put(p)
	x, delta, err := e.Commit()
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	if got := x.Select(web, match.Shadow, &buffer); got[0].Policy.Name != "b" || got[1].Policy != p {
		t.Errorf("got %v", names(got, web))
	}
	if delta.Replaced() != nil {
		t.Error("told as nothing but replaced")
	}
}

func TestSelectAllocatesNothing(t *testing.T) {
	var policies []*resource.Policy
	for i := range 500 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		policies = append(policies, policy("K", name, resource.TargetRef{Kind: resource.TargetMesh}))
	}
	index, err := match.NewIndex(policies, nil)
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	index.Select(web, match.Shadow, &buffer)
	if n := testing.AllocsPerRun(20, func() { index.Select(web, match.Shadow, &buffer) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSelectedEqual(t *testing.T) {
	selected := func(p *resource.Policy, inbounds ...int) match.Selected {
		s := match.Selected{Policy: p}
		for _, i := range inbounds {
			s.Inbounds.Add(i)
		}
		return s
	}
	p, q := policy("K", "p", resource.TargetRef{}), policy("K", "p", resource.TargetRef{})
	for name, c := range map[string]struct {
		a, b match.Selected
		want bool
	}{
		"the same":                       {selected(p, 1, 70), selected(p, 70, 1), true},
		"another version":                {selected(p, 1), selected(q, 1), false},
		"another inbound":                {selected(p, 1), selected(p, 2), false},
		"another inbound beyond 64":      {selected(p, 1, 70), selected(p, 1, 71), false},
		"one more inbound beyond 64":     {selected(p, 1), selected(p, 1, 64), false},
		"none, on one without inbounds":  {selected(p), selected(p), true},
		"one less in the words that are": {selected(p, 64, 70), selected(p, 70), false},
	} {
		if c.a.Equal(&c.b) != c.want || c.b.Equal(&c.a) != c.want {
			t.Errorf("%s: equal is %v", name, !c.want)
		}
	}
}

// DefaultOrder is a chain of levels, and within a level of names and namespaces
// (SPEC 3). The routes are one level.
func TestDefaultOrderLevels(t *testing.T) {
	route := []resource.TargetKind{resource.TargetMeshGatewayRoute, resource.TargetMeshHTTPRoute, resource.TargetMeshTCPRoute}
	chain := []resource.TargetRef{
		{Kind: resource.TargetMesh}, {Kind: resource.TargetDataplane}, {Kind: resource.TargetDataplane, SectionName: "s"},
		{Kind: resource.TargetMeshSubset}, {Kind: resource.TargetMeshGateway}, {Kind: resource.TargetMeshService},
		{Kind: resource.TargetMeshServiceSubset}, {Kind: route[0]},
	}
	for i, low := range chain {
		for _, high := range chain[i+1:] {
			p, q := policy("K", "zz", low), policy("K", "aa", high)
			if match.DefaultOrder(p, q) >= 0 || match.DefaultOrder(q, p) <= 0 {
				t.Errorf("%v does not override %v", high, low)
			}
		}
	}
	for _, a := range route {
		for _, b := range route {
			if p, q := policy("K", "aa", resource.TargetRef{Kind: a}), policy("K", "zz", resource.TargetRef{Kind: b}); match.DefaultOrder(p, q) >= 0 || match.DefaultOrder(q, p) <= 0 {
				t.Errorf("the name does not decide between %v and %v", a, b)
			}
		}
	}
}

// Of selectors that ask for different services, few are looked at.
func TestSelectCountsCandidates(t *testing.T) {
	var policies []*resource.Policy
	for i := range 100 {
		name := fmt.Sprintf("s%d", i)
		policies = append(policies, policy("K", name, resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: name, Tags: tags("team=t")}))
	}
	index, err := match.NewIndex(policies, nil)
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	for _, d := range fleet(3) {
		if got := index.Select(d, match.Shadow, &buffer); len(got) != 1 {
			t.Errorf("%d selected, want 1", len(got))
		}
	}
	if buffer.Candidates != 3 {
		t.Errorf("%d candidates for three dataplanes, want 3", buffer.Candidates)
	}
}

func TestInboundSet(t *testing.T) {
	var set match.InboundSet
	in := []int{0, 5, 63, 64, 127, 128, 300}
	for _, i := range in {
		set.Add(i)
	}
	for i := range 400 {
		if set.Has(i) != slices.Contains(in, i) {
			t.Errorf("Has(%d) = %v", i, set.Has(i))
		}
	}
}
