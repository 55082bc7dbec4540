package resource_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

func tagsOf(pairs ...string) resource.Tags {
	tags := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		tags[pairs[i]] = pairs[i+1]
	}
	return resource.NewTags(tags)
}

func TestSelectsOutbound(t *testing.T) {
	outbound := tagsOf("kuma.io/service", "web", "version", "v1")
	for name, c := range map[string]struct {
		target resource.TargetRef
		want   bool
	}{
		"mesh":                    {resource.TargetRef{Kind: resource.TargetMesh}, true},
		"service":                 {resource.TargetRef{Kind: resource.TargetMeshService, Name: "web"}, true},
		"another service":         {resource.TargetRef{Kind: resource.TargetMeshService, Name: "api"}, false},
		"subset of the service":   {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: tagsOf("version", "v1")}, true},
		"another subset":          {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: tagsOf("version", "v2")}, false},
		"present key":             {resource.TargetRef{Kind: resource.TargetMeshServiceSubset, Name: "web", Tags: tagsOf("version", "*")}, true},
		"subset of any service":   {resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tagsOf("version", "v1")}, true},
		"absent key":              {resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: tagsOf("zone", "*")}, false},
		"a route is no outbound":  {resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "web"}, false},
		"a dataplane is no place": {resource.TargetRef{Kind: resource.TargetDataplane, Name: "web"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.target.SelectsOutbound(outbound); got != c.want {
				t.Errorf("got %t", got)
			}
			route := resource.Policy{To: []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMeshService, Name: "db"}}, {TargetRef: c.target}}}
			if got := route.RoutesOutbound(outbound); got != c.want {
				t.Errorf("as an item of a route: got %t", got)
			}
		})
	}
}

func TestSelectsRoute(t *testing.T) {
	route := &resource.Policy{Meta: resource.Meta{
		ID:     resource.ID{Kind: "MeshHTTPRoute", Namespace: "shop", Name: "r"},
		Labels: resource.NewTags(map[string]string{"team": "x"}),
	}}
	labels := func(key, value string) resource.TargetRef {
		return resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Labels: resource.NewTags(map[string]string{key: value})}
	}
	for name, c := range map[string]struct {
		target resource.TargetRef
		want   bool
	}{
		"name":              {resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "r"}, true},
		"name, namespace":   {resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "r", Namespace: "shop"}, true},
		"another namespace": {resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "r", Namespace: "infra"}, false},
		"another name":      {resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "q"}, false},
		"another kind":      {resource.TargetRef{Kind: resource.TargetMeshTCPRoute, Name: "r"}, false},
		"labels":            {labels("team", "x"), true},
		"other labels":      {labels("team", "y"), false},
		"display name":      {labels(resource.DisplayNameLabel, "r"), true},
	} {
		if got := c.target.SelectsRoute(route); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// Two targetRefs are equal if they agree in every field.
func TestTargetRefEqual(t *testing.T) {
	full := resource.TargetRef{
		Kind: resource.TargetDataplane, Name: "a", Namespace: "n", Tags: tagsOf("k", "v"), Labels: tagsOf("l", "v"),
		SectionName: "s", ProxyTypes: resource.Sidecar,
	}
	for field, change := range map[string]func(*resource.TargetRef){
		"kind":        func(r *resource.TargetRef) { r.Kind = resource.TargetMesh },
		"name":        func(r *resource.TargetRef) { r.Name = "b" },
		"namespace":   func(r *resource.TargetRef) { r.Namespace = "" },
		"tags":        func(r *resource.TargetRef) { r.Tags = nil },
		"labels":      func(r *resource.TargetRef) { r.Labels = tagsOf("l", "w") },
		"sectionName": func(r *resource.TargetRef) { r.SectionName = "" },
		"proxyTypes":  func(r *resource.TargetRef) { r.ProxyTypes = 0 },
	} {
		other := full
		if !full.Equal(&other) {
			t.Fatal("a copy differs")
		}
		if change(&other); full.Equal(&other) {
			t.Errorf("equal in spite of another %s", field)
		}
	}
}
