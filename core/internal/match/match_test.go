package match_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/resultstest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// policy returns a policy with only a kind, a name and a targetRef.
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
	index, err := match.NewIndex(policies, semantics.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var buffer match.Buffer
	for _, s := range index.Select(d, results.Shadow, &buffer) {
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
		"two different services":     {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: service("admin")}, "", "", ""},
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
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(kind, "p", c.target)
			other := policy(kind, "other", resource.TargetRef{Kind: resource.TargetMeshService, Name: "missing"})
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

// A policy that is attached to a route selects the dataplanes that the route
// selects.
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
	// Names descend, so only the level explains the order of levels. Each level
	// has two names, and one name in two namespaces.
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
		index, err := match.NewIndex(policies, semantics.Reading{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		var buffer match.Buffer
		for _, s := range index.Select(web, results.Shadow, &buffer) {
			got = append(got, s.Policy.Namespace+"/"+s.Policy.Name)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
	if err := resultstest.CheckTotal(results.DefaultOrder, policies); err != nil {
		t.Error(err)
	}
}

func TestOwnOrder(t *testing.T) {
	reversed := func(a, b *resource.Policy) int { return cmp.Compare(b.Name, a.Name) }
	index, err := match.NewIndex([]*resource.Policy{
		policy("K", "a", resource.TargetRef{Kind: resource.TargetMeshService, Name: "web"}),
		policy("K", "b", resource.TargetRef{Kind: resource.TargetMesh}),
	}, semantics.Reading{Order: reversed})
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	if got := index.Select(web, results.Shadow, &buffer); got[0].Policy.Name != "b" || got[1].Policy.Name != "a" {
		t.Errorf("got %s before %s", got[0].Policy.Name, got[1].Policy.Name)
	}
}

// A policy may select the same dataplanes as before and yet have another place in an
// embedder's order.
func TestOwnOrderMovesPolicies(t *testing.T) {
	byPriority := func(a, b *resource.Policy) int {
		return cmp.Or(cmp.Compare(a.Labels.Value("priority"), b.Labels.Value("priority")), results.DefaultOrder(a, b))
	}
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	x, err := match.NewIndex([]*resource.Policy{policy("K", "a", mesh), policy("K", "b", mesh)}, semantics.Reading{Order: byPriority})
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
	if got := x.Select(web, results.Shadow, &buffer); got[0].Policy.Name != "b" || got[1].Policy != p {
		t.Errorf("got %v", names(got, web))
	}
	if delta.Replaced() != nil {
		t.Error("Replaced is not nil")
	}
}

// Policies that are put into an index that has some are added to them, or replace them.
func TestPutAllIntoIndex(t *testing.T) {
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	x, err := match.NewIndex([]*resource.Policy{policy("K", "a", mesh), policy("K", "b", mesh)}, semantics.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	e := x.Edit()
	elsewhere := policy("K", "a", resource.TargetRef{Kind: resource.TargetMeshService, Name: "other"})
	if err := e.PutAll([]*resource.Policy{elsewhere, policy("K", "c", mesh)}); err != nil {
		t.Fatal(err)
	}
	if x, _, err = e.Commit(); err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	var got []string
	for _, s := range x.Select(web, results.Shadow, &buffer) {
		got = append(got, s.Policy.Name)
	}
	if slices.Sort(got); x.Len() != 3 || !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("of %d policies %v select the dataplane, want b and c of 3", x.Len(), got)
	}
}

func TestSelectAllocatesNothing(t *testing.T) {
	var policies []*resource.Policy
	for i := range 500 {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		policies = append(policies, policy("K", name, resource.TargetRef{Kind: resource.TargetMesh}))
	}
	index, err := match.NewIndex(policies, semantics.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	index.Select(web, results.Shadow, &buffer)
	if n := testing.AllocsPerRun(20, func() { index.Select(web, results.Shadow, &buffer) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// If selectors require different services, only a few are compared.
func TestSelectCountsCandidates(t *testing.T) {
	var policies []*resource.Policy
	for i := range 100 {
		name := fmt.Sprintf("s%d", i)
		policies = append(policies, policy("K", name, resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: name, Tags: tags("team=t")}))
	}
	index, err := match.NewIndex(policies, semantics.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	var buffer match.Buffer
	for _, d := range fleet(3) {
		if got := index.Select(d, results.Shadow, &buffer); len(got) != 1 {
			t.Errorf("%d selected, want 1", len(got))
		}
	}
	if buffer.Candidates != 3 {
		t.Errorf("%d candidates for three dataplanes, want 3", buffer.Candidates)
	}
}
