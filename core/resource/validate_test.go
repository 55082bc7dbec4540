package resource_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshretry"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtls"
	"github.com/meshmatch/meshmatch/core/kind/meshtrace"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

type validated interface{ Validate(at *diag.At) }

func errorsOf(m *resource.Meta, r validated) string {
	var sink diag.Sink
	r.Validate(m.Place(&sink))
	if err := sink.Err(); err != nil {
		return err.Error()
	}
	return ""
}

// A resource that the loader accepts is valid as a Go value.
func TestLoadedResourcesAreValid(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(t.Context(), "../../testdata/demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range set.Meshes {
		if errs := errorsOf(&m.Meta, m); errs != "" {
			t.Error(errs)
		}
	}
	for _, d := range set.Dataplanes {
		if errs := errorsOf(&d.Meta, d); errs != "" {
			t.Error(errs)
		}
	}
	for _, p := range set.Policies {
		if errs := errorsOf(&p.Meta, p); errs != "" {
			t.Error(errs)
		}
	}
	if len(set.Dataplanes) == 0 || len(set.Policies) == 0 {
		t.Error("nothing was checked")
	}
}

func TestValidateDataplane(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *resource.Dataplane)
		want   string
	}{
		"valid": {func(d *resource.Dataplane) {}, ``},
		"valid with a position": {func(d *resource.Dataplane) {
			d.Pos = diag.Position{File: "f.yaml", Line: 1, Column: 2}
			d.Address = ""
		}, `f.yaml:1:2: networking.address: must not be empty`},
		"no kind":        {func(d *resource.Dataplane) { d.Kind = "" }, ` "d" in mesh "m": type: a resource's kind must not be empty; write one such as MeshTimeout`},
		"another kind":   {func(d *resource.Dataplane) { d.Kind = "Mesh" }, `Mesh "d": type: must be Dataplane, not "Mesh"`},
		"no name":        {func(d *resource.Dataplane) { d.Name = "" }, `Dataplane "" in mesh "m": name: a resource's name must not be empty`},
		"no mesh":        {func(d *resource.Dataplane) { d.Mesh = "" }, `Dataplane "d": mesh: a resource's mesh must not be empty; the mesh of most resources is default`},
		"unsorted label": {func(d *resource.Dataplane) { d.Labels = resource.Tags{{Key: "b"}, {Key: "a"}} }, `Dataplane "d" in mesh "m": labels: are not sorted by key, or have "a" twice; make them with resource.NewTags`},
		"bad UTF-8":      {func(d *resource.Dataplane) { d.Labels = resource.Tags{{Key: "b", Value: "\xff"}} }, `Dataplane "d" in mesh "m": labels: must be UTF-8, not "\xff"`},
		"no address":     {func(d *resource.Dataplane) { d.Address = "" }, `Dataplane "d" in mesh "m": networking.address: must not be empty`},
		"no port":        {func(d *resource.Dataplane) { d.Inbounds[0].Port = 0 }, `Dataplane "d" in mesh "m": networking.inbound[0].port: bad port 0; a port is a number from 1 to 65535`},
		"port":           {func(d *resource.Dataplane) { d.Inbounds[0].ServicePort = 70000 }, `Dataplane "d" in mesh "m": networking.inbound[0].servicePort: bad port 70000; a port is a number from 1 to 65535`},
		"no service":     {func(d *resource.Dataplane) { d.Inbounds[0].Tags = resource.Tags{{Key: "a", Value: "b"}} }, `Dataplane "d" in mesh "m": networking.inbound[0].tags["kuma.io/service"]: required tag is missing`},
		"no tags":        {func(d *resource.Dataplane) { d.Inbounds[0].Tags = nil }, ``},
		"tag value":      {func(d *resource.Dataplane) { d.Outbounds[0].Tags = resource.Tags{{Key: "a", Value: "*"}} }, `Dataplane "d" in mesh "m": networking.outbound[0].tags.a: bad tag value "*"; a tag's value has letters, digits, '.', '_', ':' and '-'`},
		"repeated tag": {func(d *resource.Dataplane) {
			d.Outbounds[0].Tags = resource.Tags{{Key: "a", Value: "b"}, {Key: "a", Value: "c"}}
		}, `Dataplane "d" in mesh "m": networking.outbound[0].tags: are not sorted by key, or have "a" twice; make them with resource.NewTags`},
		"gateway": {func(d *resource.Dataplane) { d.Gateway = &resource.GatewayProxy{} }, `Dataplane "d" in mesh "m": networking.gateway: gateway and inbound are both present; a gateway has no inbounds`},
		"gateway's tag": {func(d *resource.Dataplane) {
			d.Inbounds, d.Gateway = nil, &resource.GatewayProxy{Tags: resource.Tags{{Key: "a b", Value: "c"}}}
		}, `Dataplane "d" in mesh "m": networking.gateway.tags["a b"]: bad tag key "a b"; a tag's key has letters, digits, '.', '_', ':', '/' and '-'`},
		"unsorted tags of a gateway": {func(d *resource.Dataplane) {
			d.Inbounds, d.Gateway = nil, &resource.GatewayProxy{Tags: resource.Tags{{Key: "b", Value: "c"}, {Key: "a", Value: "c"}}}
		}, `Dataplane "d" in mesh "m": networking.gateway.tags: are not sorted by key, or have "a" twice; make them with resource.NewTags`},
		"IP family": {func(d *resource.Dataplane) { d.TransparentProxy = &resource.TransparentProxy{IPFamilyMode: "v4"} }, `Dataplane "d" in mesh "m": networking.transparentProxying.ipFamilyMode: unknown value "v4"; did you mean "IPv4"?`},
	} {
		t.Run(name, func(t *testing.T) {
			d := &resource.Dataplane{
				Meta:      resource.Meta{ID: resource.ID{Kind: "Dataplane", Mesh: "m", Name: "d"}},
				Address:   "10.0.0.1",
				Inbounds:  []resource.Inbound{{Port: 80, Tags: tagsOf("kuma.io/service", "web")}},
				Outbounds: []resource.Outbound{{Port: 90, Tags: tagsOf("kuma.io/service", "db")}},
			}
			c.change(d)
			if got := errorsOf(&d.Meta, d); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Listeners with one address are found among few listeners and among many.
func TestManyBadListeners(t *testing.T) {
	for _, n := range []int{2, 15, 16, 17, 18, 100} {
		d := &resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Kind: "Dataplane", Mesh: "m", Name: "d"}}, Address: "10.0.0.1"}
		for i := range n {
			d.Outbounds = append(d.Outbounds, resource.Outbound{Port: uint32(1 + i), Tags: tagsOf("kuma.io/service", "db")})
		}
		if got := d.BadListeners(); got != nil {
			t.Errorf("%d listeners: %v", n, got)
		}
		for _, first := range []int{0, n - 2} {
			repeated := *d
			repeated.Outbounds = append(slices.Clone(d.Outbounds), d.Outbounds[first])
			want := fmt.Sprintf(`[networking.outbound[%d]: listens at 127.0.0.1:%d, like outbound[%d]; give one of them another port or address]`, n, 1+first, first)
			if got := fmt.Sprint(repeated.BadListeners()); got != want {
				t.Errorf("%d listeners: got  %s\nwant %s", n, got, want)
			}
		}
	}
}

func TestValidateMesh(t *testing.T) {
	for want, id := range map[string]resource.ID{
		``: {Kind: "Mesh", Mesh: "m", Name: "m"},
		`Mesh "m": name: a Mesh is in the mesh of its own name, not in "n"`:        {Kind: "Mesh", Mesh: "n", Name: "m"},
		`Mesh "m" of namespace "x": namespace: a Mesh has no namespace; remove it`: {Kind: "Mesh", Mesh: "m", Name: "m", Namespace: "x"},
	} {
		m := &resource.Mesh{Meta: resource.Meta{ID: id}}
		if got := errorsOf(&m.Meta, m); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestValidateIdentityAndTrust(t *testing.T) {
	identity := &resource.MeshIdentity{}
	identity.ID = resource.ID{Kind: "MeshIdentity", Mesh: "m", Name: "i"}
	if got, want := errorsOf(&identity.Meta, identity), `MeshIdentity "i" in mesh "m": spec.provider.type: unknown value ""; one of "Bundled", "Spire", "Extension"`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	identity.Spec.Provider.Type = spiffe.Spire
	if got := errorsOf(&identity.Meta, identity); got != "" {
		t.Error(got)
	}
	trust := &resource.MeshTrust{}
	trust.ID, trust.Spec.TrustDomain = resource.ID{Kind: "MeshTrust", Mesh: "m", Name: "t"}, "td"
	if got, want := errorsOf(&trust.Meta, trust), `MeshTrust "t" in mesh "m": spec.caBundles: required field is missing`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestValidatePolicy(t *testing.T) {
	second := conf.Duration(1e9)
	zero := conf.Duration(0)
	set := &meshtimeout.Conf{IdleTimeout: &second}
	mesh := resource.TargetRef{Kind: resource.TargetMesh}
	for name, c := range map[string]struct {
		kind   *resource.Kind
		policy resource.Policy
		want   string // after the identity
	}{
		"valid":                  {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, To: []resource.Item{{TargetRef: mesh, Conf: set}}}, ``},
		"no targetRef":           {meshtimeout.Kind(), resource.Policy{}, `spec.targetRef.kind: required field is missing; one of Mesh, Dataplane, MeshSubset, MeshGateway, MeshService, MeshServiceSubset, MeshHTTPRoute, MeshTCPRoute`},
		"targetRef of no kind":   {meshtimeout.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: 99}}, `spec.targetRef.kind: unknown kind "TargetKind(99)"; one of "Mesh", "Dataplane", "MeshSubset", "MeshGateway", "MeshService", "MeshServiceSubset", "MeshHTTPRoute", "MeshTCPRoute"`},
		"targetRef not allowed":  {meshtls.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMeshHTTPRoute, Name: "r"}}, `spec.targetRef.kind: a top-level targetRef of MeshTLS cannot be MeshHTTPRoute; one of Mesh, Dataplane, MeshSubset, MeshGateway, MeshService, MeshServiceSubset`},
		"no service":             {meshtimeout.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMeshService}}, `spec.targetRef.name: required field is missing for kind MeshService`},
		"name of the mesh":       {meshtimeout.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMesh, Name: "m"}}, `spec.targetRef.name: does not belong to kind Mesh; leave it empty`},
		"foreign field":          {meshtimeout.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMesh, SectionName: "m"}}, `spec.targetRef.sectionName: does not belong to kind Mesh; remove it`},
		"unsorted tags":          {meshtimeout.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: "b", Value: "1"}, {Key: "a", Value: "1"}}}}, `spec.targetRef.tags: are not sorted by key, or have "a" twice; make them with resource.NewTags`},
		"unsorted labels":        {meshtimeout.Kind(), resource.Policy{TargetRef: resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: "b"}, {Key: "a"}}}}, `spec.targetRef.labels: are not sorted by key, or have "a" twice; make them with resource.NewTags`},
		"proxy types of an item": {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, To: []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh, ProxyTypes: resource.Sidecar}, Conf: set}}}, `spec.to[0].targetRef.proxyTypes: belongs to a top-level targetRef; remove it`},
		"array of another kind":  {meshretry.Kind(), resource.Policy{TargetRef: mesh, From: []resource.Item{}}, `spec.from: MeshRetry has no from; it has to`},
		"rules of another kind":  {meshretry.Kind(), resource.Policy{TargetRef: mesh, Rules: []resource.Rule{}}, `spec.rules: MeshRetry has no rules; it has to`},
		"to of another kind":     {meshtls.Kind(), resource.Policy{TargetRef: mesh, To: []resource.Item{}}, `spec.to: MeshTLS has no to; it has from, rules`},
		"default":                {meshretry.Kind(), resource.Policy{TargetRef: mesh, Default: set}, `spec.default: MeshRetry has no default; it has to`},
		"no default":             {meshtrace.Kind(), resource.Policy{TargetRef: mesh}, `spec.default: required field is missing`},
		"default of no type":     {meshtrace.Kind(), resource.Policy{TargetRef: mesh, Default: set}, `spec.default: must be a *meshtrace.Conf, not a *meshtimeout.Conf`},
		"from and rules":         {meshtls.Kind(), resource.Policy{TargetRef: mesh, From: []resource.Item{}, Rules: []resource.Rule{}}, `spec.from: from and rules are both present; rules take the place of from`},
		"no conf":                {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, To: []resource.Item{{TargetRef: mesh}}}, `spec.to[0].default: required field is missing`},
		"nil conf":               {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, To: []resource.Item{{TargetRef: mesh, Conf: (*meshtimeout.Conf)(nil)}}}, `spec.to[0].default: required field is missing`},
		"conf by value":          {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, From: []resource.Item{{TargetRef: mesh, Conf: *set}}}, `spec.from[0].default: must be a *meshtimeout.Conf, not a meshtimeout.Conf`},
		"conf":                   {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, Rules: []resource.Rule{{Conf: &meshtimeout.Conf{ConnectionTimeout: &zero}}}}, `spec.rules[0].default.connectionTimeout: must be longer than 0s`},
		"negative":               {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, Rules: []resource.Rule{{Conf: &meshtimeout.Conf{IdleTimeout: ptr(conf.Duration(-1e9))}}}}, `spec.rules[0].default.idleTimeout: bad duration "-1s"; it must not be negative`},
		"matches":                {meshtls.Kind(), resource.Policy{TargetRef: mesh, Rules: []resource.Rule{{Matches: []conf.Match{}, Conf: &meshtls.Conf{}}}}, `spec.rules[0].matches: rules of MeshTLS have no matches; remove it`},
		"bad match":              {meshtimeout.Kind(), resource.Policy{TargetRef: mesh, Rules: []resource.Rule{{Matches: []conf.Match{{Path: &conf.PathMatch{Type: conf.PathRegex, Value: "("}}}, Conf: set}}}, `spec.rules[0].matches[0].path.value: bad regular expression`},
		"empty permission":       {meshtrafficpermission.Kind(), resource.Policy{TargetRef: mesh, Rules: []resource.Rule{{Conf: &meshtrafficpermission.RuleConf{Allow: []conf.Match{{}}}}}}, `spec.rules[0].default.allow[0]: an empty match is not allowed in a permission list; give spiffeId, sni, path, method or headers`},
		"inline conf":            {meshhttproute.Kind(), resource.Policy{TargetRef: mesh, To: []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMeshService, Name: "a"}, Conf: &meshhttproute.Conf{}}}}, `spec.to[0].rules: required field is missing`},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.policy
			p.Type, p.ID = c.kind, resource.ID{Kind: c.kind.Name, Mesh: "m", Name: "p"}
			want := c.want
			if want != "" {
				want = p.ID.String() + ": " + want
			}
			got := errorsOf(&p.Meta, &p)
			if name == "bad match" && len(got) > len(want) {
				got = got[:len(want)]
			}
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	p := &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: "A", Mesh: "m", Name: "p"}}}
	if got, want := errorsOf(&p.Meta, p), `A "p" in mesh "m": type: the policy has no kind; set Policy.Type`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func ptr[T any](v T) *T { return &v }
