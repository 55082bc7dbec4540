package oracle

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/why"
	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// All answers about one request agree: those of `access`, of its filter, of `why`, `reach`, `test`,
// `replay` and `diff`, and of the reference, with and without TLS, in the modes Strict and
// Permissive, with one trust domain and with any, with tags in certificates and without, and
// beside gateways, delegated and builtin, that policies select (SPEC 13.1). What `check` advises to remove changes nothing (SPEC 13.5).
func TestSoakAnswersAgree(t *testing.T) {
	var counts agreement
	worlds, requests := 80, 8 // about 9,000 comparisons
	if soak := fuzz.Soak(t); soak > 1 {
		worlds, requests = 100*soak, 100 // SOAK=10: 1,000,000
	}
	for seed := range uint64(worlds) {
		w := newRequestWorld(t, rand.New(rand.NewPCG(seed, 47)))
		if err := w.compare(requests, &counts); err != nil {
			t.Fatalf("seed %d, %s, %v: %v", seed, w.tls, w.semantics, err)
		}
		if err := w.withoutNeedless(&counts); err != nil {
			t.Fatalf("seed %d, %s, %v: %v", seed, w.tls, w.semantics, err)
		}
	}
	t.Logf("%d comparisons: %+v", counts.comparisons(), counts)
	if counts.explained < 200 || counts.permissive < 5 || counts.allowed < 200 || counts.denied < 200 || counts.reached < 200 || counts.replayed < 200 || counts.opened < 100 || counts.gateways < 30 || counts.removed < 10 {
		t.Errorf("too few comparisons: %+v", counts)
	}
}

// agreement counts what was compared.
type agreement struct {
	permissive, allowed, denied, referred, explained, reached, tested, replayed, opened, gateways, removed int
}

// comparisons returns the number of pairs of answers about one request: each with that of
// `access`.
func (a *agreement) comparisons() int {
	filters := a.allowed + a.denied
	return filters + a.referred + a.explained + a.reached + a.tested + a.replayed + a.opened
}

// The ways in which a dataplane has TLS.
const (
	plainText  = "no TLS"
	anyDomain  = "any trust domain"
	oneDomain  = "one trust domain"
	withTags   = "certificates with tags"
	classicTLS = "mtls of the Mesh"
)

var tlsDocuments = map[string]string{
	plainText: ``,
	anyDomain: `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop.mesh, path: /ns/web/sa/web}, provider: {type: Spire}}}`,
	oneDomain: `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop.mesh, path: /ns/web/sa/web}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}`,
	withTags: `{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop.mesh, path: /ns/web/sa/web},
  provider: {type: Extension, extension: {name: files, config: {certificate: /c, privateKey: /k, trustBundle: /b}}}}}`,
	classicTLS: `{type: Mesh, name: default, mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}}`,
}

// In the mode Permissive a client without TLS is one without a SPIFFE ID.
const permissiveDocument = `{type: MeshTLS, name: permissive, spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {mode: Permissive}}]}}`

// requestWorld is a mesh of one dataplane with an HTTP and a TCP inbound, and random
// permissions.
type requestWorld struct {
	t          *testing.T
	r          *rand.Rand
	tls        string
	permissive bool
	semantics  semantics.Semantics
	set        *resource.Set
	view       *core.View
	whys       map[string]why.Effect     // by the policy and the inbound
	reaches    map[string]*traffic.Reach // by the client
}

func newRequestWorld(t *testing.T, r *rand.Rand) *requestWorld {
	w := &requestWorld{t: t, r: r, set: permissiontest.Scenario(r), whys: map[string]why.Effect{}, reaches: map[string]*traffic.Reach{}}
	w.semantics = core.Detect(w.set)
	w.tls = []string{plainText, anyDomain, oneDomain, oneDomain, withTags}[r.IntN(5)]
	if w.semantics == semantics.Kuma && r.IntN(3) == 0 {
		w.tls = classicTLS
	}
	w.set.Objects = nil
	if document := tlsDocuments[w.tls]; document != "" {
		if w.permissive = w.tls != classicTLS && r.IntN(4) == 0; w.permissive {
			document += "\n---\n" + permissiveDocument
		}
		more := resourcetest.Decode(t, document)
		for _, p := range more.Policies {
			if w.semantics == semantics.Kuma {
				p.Labels = resource.NewTags(map[string]string{resource.PolicyRoleLabel: "system"})
			}
		}
		w.set.Objects, w.set.Meshes, w.set.Policies = more.Objects, more.Meshes, append(w.set.Policies, more.Policies...)
	}
	w.addGateways()
	for i, p := range w.set.Policies {
		p.Pos = diag.Position{File: "p.yaml", Line: 100 * (i + 1)}
		for j := range p.Rules {
			p.Rules[j].Pos = diag.Position{File: "p.yaml", Line: p.Pos.Line + j + 1}
		}
	}
	w.view = w.viewOf(w.set)
	return w
}

// addGateways adds a delegated gateway, a builtin one where the semantics has them, and a policy
// that selects gateways alone. They are clients; no answer about an inbound may change.
func (w *requestWorld) addGateways() {
	more := `{type: Dataplane, name: edge, networking: {address: 127.0.0.3, gateway: {type: DELEGATED, tags: {kuma.io/service: backend, version: v1}}}}
---
{type: MeshTrafficPermission, name: zz-gateways, spec: {targetRef: {kind: Mesh, proxyTypes: [Gateway]}, rules: [{default: {` + []string{"allow", "deny"}[w.r.IntN(2)] + `: [{spiffeId: {type: Prefix, value: "spiffe://shop.mesh"}}]}}]}}
---
{type: MeshGateway, name: front, selectors: [{match: {kuma.io/service: front}}], conf: {listeners: [{port: 80, protocol: HTTP}]}}
---
{type: Dataplane, name: front, networking: {address: 127.0.0.4, gateway: {type: BUILTIN, tags: {kuma.io/service: front}}}}`
	set := resourcetest.Decode(w.t, more)
	for _, p := range set.Policies {
		if w.semantics == semantics.Kuma {
			p.Labels = resource.NewTags(map[string]string{resource.PolicyRoleLabel: "system"})
		}
	}
	w.set.Dataplanes = append(w.set.Dataplanes, set.Dataplanes...)
	w.set.Policies = append(w.set.Policies, set.Policies...)
	w.set.Objects = append(w.set.Objects, set.Objects...)
}

// gateways requires that no command answers for an inbound of a gateway, and that a gateway is
// the client that its SPIFFE ID says.
func (w *requestWorld) gateways(counts *agreement) error {
	all, err := traffic.NewReach(w.view, "default", traffic.ReachQuery{}, inspect.Options{})
	if err != nil {
		return err
	}
	if len(all.Inbounds) != len(w.dataplane().Inbounds) {
		return fmt.Errorf("reach has %d inbounds: %s", len(all.Inbounds), asText(all.Inbounds))
	}
	for _, name := range []string{"edge", "front"} {
		d := w.view.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name})
		for _, listener := range []string{"80", "http"} {
			if _, at, err := inspect.AccessPoint(w.view, d, listener); err == nil {
				return fmt.Errorf("access answers for inbound %d of %s", at, name)
			}
		}
		id, err := w.view.Identities("default").IdentityOf(d)
		if id == nil || err != nil || w.tls == withTags {
			continue
		}
		named, err := traffic.NewReach(w.view, "default", traffic.ReachQuery{From: name}, inspect.Options{})
		if err != nil {
			return err
		}
		byID, err := traffic.NewReach(w.view, "default", traffic.ReachQuery{From: named.Clients[0].ID}, inspect.Options{})
		if err != nil {
			return err
		}
		if asText(named.Cells) != asText(byID.Cells) {
			return fmt.Errorf("reach --from %s: %s, by its ID: %s", name, asText(named.Cells), asText(byID.Cells))
		}
		counts.gateways++
	}
	return nil
}

func (w *requestWorld) viewOf(set *resource.Set) *core.View {
	view, err := core.Options{Semantics: w.semantics}.NewView(w.t.Context(), kinds.All(), set)
	if err != nil {
		w.t.Fatal(err)
	}
	return view
}

// dataplane returns the dataplane of the view.
func (w *requestWorld) dataplane() *resource.Dataplane { return w.view.Dataplanes("default")[0] }

// client returns a random request whose form every answer has: one line for each header, a path
// in normal form, and texts that a document can have.
func (w *requestWorld) client() *permissiontest.Call {
	for {
		c := permissiontest.RandomClient(w.r)
		if len(c.URIs) != 1 || strings.Contains(c.URIs[0], ",") || request.ClientID(c.URIs...) == "" {
			c.URIs = nil
		}
		var lines []request.Header
		for _, line := range c.Lines {
			name := strings.ToLower(line.Name)
			plain := !strings.ContainsFunc(line.Value, func(b rune) bool { return b > '~' || b == ',' || b == '\t' }) && line.Value == strings.TrimSpace(line.Value)
			if plain && !slices.ContainsFunc(lines, func(l request.Header) bool { return l.Name == name }) {
				lines = append(lines, request.Header{Name: name, Value: line.Value})
			}
		}
		c.Lines = lines
		c.Tags = slices.DeleteFunc(c.Tags, func(tag resource.Tag) bool { return !utf8.ValidString(tag.Value) })
		seen := request.NewSeen(c.Request())
		if !seen.PathRefused && seen.NormalPath == c.Path && !strings.ContainsAny(c.Path, "?\u212a") && !strings.Contains(c.Path, "\x80") && !strings.Contains(c.SNI, "\u212a") {
			return c
		}
	}
}

// compare asks all commands about random requests to both inbounds.
func (w *requestWorld) compare(requests int, counts *agreement) error {
	if err := w.gateways(counts); err != nil {
		return err
	}
	closed := *w.set
	closed.Policies = nil
	if w.permissive {
		counts.permissive++
	}
	opened, err := diff.New(w.viewOf(&closed), w.view, "default", inspect.Options{})
	if err != nil {
		return err
	}
	d := w.dataplane()
	test := new(resource.AccessTest)
	test.Meta = resource.Meta{ID: resource.ID{Kind: "AccessTest", Mesh: "default", Name: "t"}}
	var log strings.Builder
	records := 0
	for i := range d.Inbounds {
		for range requests {
			c := w.client()
			a := askedAccess{w, i, c, inspect.NewAccess(w.view, d, i, c.Request(), inspect.Options{})}
			if a.answer.Allowed() {
				counts.allowed++
			} else {
				counts.denied++
			}
			for _, compare := range []func(*agreement) error{a.reference, a.filter, a.why, a.reach} {
				if err := compare(counts); err != nil {
					return a.failed(err)
				}
			}
			if err := a.opened(opened, counts); err != nil {
				return a.failed(err)
			}
			test.Spec.Cases = append(test.Spec.Cases, a.asCase())
			if record, ok := a.record(); ok {
				records++
				log.WriteString(record + "\n")
			}
		}
	}
	counts.tested += len(test.Spec.Cases)
	tested := *w.set
	tested.Objects = append(slices.Clone(w.set.Objects), test)
	for _, r := range traffic.RunTests(w.viewOf(&tested), "default", nil, inspect.Options{}).Tests {
		if r.Result != traffic.TestPass {
			return fmt.Errorf("test: %s: %s", r.Name, asText(r))
		}
	}
	replayed, err := traffic.NewReplay(w.t.Context(), w.view, nil, "default", traffic.ReplayQuery{Files: []string{replay.Stdin}, Stdin: strings.NewReader(log.String())}, inspect.Options{})
	if err != nil {
		return err
	}
	if replayed.Changed() || replayed.Unknown > 0 || replayed.Malformed > 0 || replayed.Records != int64(records) {
		return fmt.Errorf("replay differs: %s\n%s", asText(replayed), log.String())
	}
	counts.replayed += records
	return nil
}

// askedAccess is the answer of `access` about the request of a client.
type askedAccess struct {
	*requestWorld
	inbound int
	client  *permissiontest.Call
	answer  *inspect.Access
}

func (a *askedAccess) failed(err error) error {
	return fmt.Errorf("inbound %d, %+v, access %s: %w", a.inbound, a.client, asText(a.answer), err)
}

// shown is the request without what a client cannot show (SPEC 13.1).
func (a *askedAccess) shown() *permissiontest.Call {
	c := *a.client
	if a.tls == plainText {
		c.URIs, c.SNI, c.Tags = nil, "", nil
	}
	if a.tls == anyDomain || a.tls == oneDomain {
		c.Tags = nil
	}
	return &c
}

// domain returns the only trust domain of clients; "" if there may be any.
func (a *askedAccess) domain() string {
	return map[string]string{oneDomain: "shop.mesh", withTags: "shop.mesh", classicTLS: "default"}[a.tls]
}

// isForeign reports whether the client has an ID of a trust domain for which there is no CA.
func (a *askedAccess) isForeign() bool {
	domain := a.domain()
	return domain != "" && len(a.client.URIs) > 0 && !strings.HasPrefix(a.client.URIs[0]+"/", "spiffe://"+domain+"/")
}

// reference compares with the reference, from which the entries are removed that allow a
// foreign ID.
func (a *askedAccess) reference(counts *agreement) error {
	if !a.view.PermissionsApply(a.dataplane()) {
		return nil
	}
	counts.referred++
	set := *a.set
	if a.isForeign() {
		set.Policies = nil
		for _, p := range a.set.Policies {
			copied := *p
			copied.Rules = slices.Clone(p.Rules)
			for i := range copied.Rules {
				c := *copied.Rules[i].Conf.(*meshtrafficpermission.RuleConf)
				c.Allow, c.AllowWithShadowDeny = a.trusted(c.Allow), a.trusted(c.AllowWithShadowDeny)
				copied.Rules[i].Conf = &c
			}
			set.Policies = append(set.Policies, &copied)
		}
	}
	want, err := naive.Access(kinds.All(), &set, "default", "", permissiontest.Dataplane, a.dataplane().Inbounds[a.inbound].Name, a.shown().Naive(), naive.Options{Semantics: a.semantics.String()})
	if err != nil {
		return err
	}
	if want["decision"] != a.answer.Decision.Decision {
		return fmt.Errorf("the reference decides %s", asText(want))
	}
	return nil
}

// trusted returns the entries without those that ask for SPIFFE IDs of other trust domains than
// the one of the dataplane.
func (a *askedAccess) trusted(list []conf.Match) []conf.Match {
	return slices.DeleteFunc(slices.Clone(list), func(m conf.Match) bool {
		if m.SpiffeID == nil {
			return false
		}
		asked := strings.TrimSuffix(m.SpiffeID.Value, "/")
		if m.SpiffeID.Type == conf.SpiffeIDPrefix && a.semantics == semantics.Kuma && strings.Count(asked, "/") == 2 {
			return !strings.HasPrefix("spiffe://"+a.domain(), asked) // a prefix of text
		}
		return !strings.HasPrefix(asked+"/", "spiffe://"+a.domain()+"/")
	})
}

// filter compares with the permissions that the filter of the inbound has. Package rbac
// compares filters with permissions for all requests.
func (a *askedAccess) filter(*agreement) error {
	p, _ := inspect.FilterPermissions(a.view, a.dataplane(), a.inbound)
	if got := p.Decide(a.shown().Request()).Decision; got.String() != a.answer.Decision.Decision {
		return fmt.Errorf("the filter decides %v", got)
	}
	return nil
}

// why requires that the policy whose entry decides applies on the inbound.
func (a *askedAccess) why(counts *agreement) error {
	by := a.answer.Decision.By
	if by.KRI == "" || a.isForeign() { // of a foreign ID only one answer speaks
		return nil
	}
	counts.explained++
	for _, p := range a.view.Policies("default") {
		if p.Kind != permission.KindName || strings.Split(by.KRI, "_")[5] != p.Name {
			continue
		}
		place := fmt.Sprint(p.Name, a.inbound)
		if a.whys[place] == "" {
			answer, err := why.NewPolicy(a.t.Context(), a.view, a.dataplane(), p, &why.Query{Kind: p.Type, Inbound: a.dataplane().Inbounds[a.inbound].Name})
			if err != nil {
				return err
			}
			a.whys[place] = answer.Answer
		}
		if a.whys[place] != why.Applies {
			return fmt.Errorf("why: %s", a.whys[place])
		}
		return nil
	}
	return fmt.Errorf("no policy is %s", by.KRI)
}

// reach compares with the cell of the client.
func (a *askedAccess) reach(counts *agreement) error {
	shown := a.shown()
	from := ""
	if len(shown.URIs) > 0 {
		if from = shown.URIs[0]; a.isForeign() || len(shown.Tags) > 0 { // a client of reach has the tags of its dataplanes
			return nil
		}
	}
	r := a.reaches[from]
	if r == nil {
		var err error
		if r, err = traffic.NewReach(a.view, "default", traffic.ReachQuery{From: from}, inspect.Options{}); err != nil {
			return err
		}
		a.reaches[from] = r
	}
	for _, cell := range r.Cells {
		name := a.dataplane().Inbounds[a.inbound].Name
		if r.Inbounds[cell.Inbound].Inbound != name || from == "" && r.Clients[cell.Client].ID != traffic.OtherClients {
			continue
		}
		counts.reached++
		allowed := cell.Access == "all"
		if cell.Access == "some" {
			asked := shown.Request()
			if from != "" {
				asked.SpiffeID = "" // the conditions are without those that the row has
			}
			allowed = meets(cell.When, a.dataplane(), a.inbound, asked)
		}
		if allowed != a.answer.Allowed() {
			return fmt.Errorf("reach: %s", asText(cell))
		}
		return nil
	}
	return fmt.Errorf("reach has no cell: %s", asText(r))
}

// opened compares with what the policies open in a mesh without policies.
func (a *askedAccess) opened(d *diff.Diff, counts *agreement) error {
	if a.isForeign() || !a.view.PermissionsApply(a.dataplane()) {
		return nil
	}
	isOpened := false
	for i := range d.Access {
		if d.Access[i].Inbound != a.dataplane().Inbounds[a.inbound].Name {
			continue
		}
		for _, change := range d.Access[i].Opens {
			isOpened = isOpened || meets(&change.Clients, a.dataplane(), a.inbound, a.shown().Request())
		}
	}
	if counts.opened++; isOpened != a.answer.Allowed() {
		return fmt.Errorf("diff opens the request: %v", isOpened)
	}
	return nil
}

// meets reports whether a request meets a condition.
func meets(c *access.Condition, d *resource.Dataplane, inbound int, r *request.Request) bool {
	match := func(m access.Match) bool {
		return request.Matches(&m.Match, request.ProtocolOf(d, inbound), r, request.Whole) && r.Tags.Contains(m.Tags)
	}
	return slices.ContainsFunc(c.Any, func(clause access.Clause) bool {
		return match(clause.Match) && !slices.ContainsFunc(clause.Except, match)
	})
}

// asCase returns the case of an AccessTest that expects the answer.
func (a *askedAccess) asCase() specs.AccessCase {
	c, in := a.client, &a.dataplane().Inbounds[a.inbound]
	name := permissiontest.Dataplane
	out := specs.AccessCase{
		To:     specs.AccessTarget{Dataplane: &name, Inbound: &in.Name},
		Expect: specs.Expectation(a.answer.Decision.Decision), Request: &specs.TestRequest{Method: &c.Method, Path: &c.Path, Headers: map[string]string{}},
	}
	if c.SNI != "" {
		out.Request.SNI = &c.SNI
	}
	for _, line := range c.Lines {
		out.Request.Headers[line.Name] = line.Value
	}
	out.From = &specs.AccessClient{Tags: c.Tags.Map()}
	if len(c.URIs) > 0 && (a.tls != withTags && a.tls != classicTLS || a.compares() != "tags") {
		out.From = &specs.AccessClient{SpiffeID: &c.URIs[0]} // a case has one of them
	} else if a.compares() != "tags" {
		out.From = nil
	}
	return out
}

// compares returns what the permissions of the inbound compare of clients.
func (a *askedAccess) compares() string {
	if p := inspect.Permissions(a.view, a.dataplane(), a.inbound); p.Clients != nil {
		return "tags"
	}
	return "IDs"
}

// record returns the line of an access log with the request and the answer; ok is false if the
// request has what a log of the inbound would not have.
func (a *askedAccess) record() (_ string, ok bool) {
	c, in := a.shown(), &a.dataplane().Inbounds[a.inbound]
	if a.compares() == "tags" {
		return "", false // a log has tags of certificates as URI SANs, which package replay tests
	}
	record := map[string]any{
		"downstream_local_address": "127.0.0.2:" + strconv.Itoa(int(in.Port)), "downstream_peer_uri_san": nil, "requested_server_name": nil,
		"method": nil, "path": nil, "authority": nil, "response_code_details": nil, "connection_termination_details": nil,
		"x-team": nil, "x-canary": nil, "cookie": nil,
	}
	if len(c.URIs) > 0 {
		record["downstream_peer_uri_san"] = c.URIs[0]
	}
	if c.SNI != "" {
		record["requested_server_name"] = c.SNI
	}
	if in.IsHTTP() {
		record["method"], record["path"] = c.Method, c.Path
		for _, line := range c.Lines {
			name := line.Name
			if name == "host" {
				name = "authority"
			}
			record[name] = line.Value
		}
	}
	if !a.answer.Allowed() {
		record["response_code_details"], record["connection_termination_details"] = "rbac_access_denied_matched_policy[none]", "rbac_access_denied_matched_policy[none]"
	}
	line, err := json.Marshal(record)
	return string(line), err == nil
}

// withoutNeedless removes each entry that `check` finds to change nothing by itself, and
// compares both meshes.
func (w *requestWorld) withoutNeedless(counts *agreement) error {
	for _, finding := range check.New(w.view, w.set).Warnings {
		if finding.Code != diag.NeverDecides && finding.Code != diag.NeverNeeded {
			continue
		}
		less, err := w.withoutEntry(&finding)
		if err != nil {
			return err
		}
		next := w.viewOf(less)
		changed, err := diff.New(w.view, next, "default", inspect.Options{})
		if err != nil {
			return err
		}
		if len(changed.Opens)+len(changed.Closes)+len(changed.Access) > 0 {
			return fmt.Errorf("without %s: %s", finding.Line(), asText(changed.Access))
		}
		d := w.dataplane()
		for i := range d.Inbounds {
			before, after := inspect.Permissions(w.view, d, i), inspect.Permissions(next, next.Dataplanes("default")[0], i)
			for range 10 {
				r := w.client().Request()
				x, y := before.Decide(r), after.Decide(r)
				if x.Decision.Allow != y.Decision.Allow || x.HasShadow && y.HasShadow && x.Shadow.Allow != y.Shadow.Allow {
					return fmt.Errorf("without %s: %+v: %v, then %v", finding.Line(), r, x, y)
				}
			}
		}
		counts.removed++
	}
	return nil
}

// withoutEntry returns the mesh without the entry of a finding.
func (w *requestWorld) withoutEntry(finding *diag.Diagnostic) (*resource.Set, error) {
	set := *w.set
	set.Policies = slices.Clone(w.set.Policies)
	var rule, index int
	var list string
	for _, l := range []permission.List{permission.Deny, permission.Allow, permission.AllowWithShadowDeny} {
		if n, _ := fmt.Sscanf(finding.Path, "spec.rules[%d].default."+l.String()+"[%d]", &rule, &index); n == 2 {
			list = l.String()
		}
	}
	for i, p := range set.Policies {
		if list == "" || rule >= len(p.Rules) || p.Rules[rule].Pos != finding.Pos {
			continue
		}
		copied := *p
		copied.Rules = slices.Clone(p.Rules)
		c := *p.Rules[rule].Conf.(*meshtrafficpermission.RuleConf)
		for name, entries := range map[string]*[]conf.Match{"deny": &c.Deny, "allow": &c.Allow, "allowWithShadowDeny": &c.AllowWithShadowDeny} {
			if name == list {
				*entries = slices.Delete(slices.Clone(*entries), index, index+1)
			}
		}
		copied.Rules[rule].Conf = &c
		set.Policies[i] = &copied
		return &set, nil
	}
	return nil, fmt.Errorf("no entry is at %s", finding.Line())
}
