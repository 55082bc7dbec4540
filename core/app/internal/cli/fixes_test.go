package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// A fix is the change that a finding advises, made to the example of its code: old texts are
// replaced by new ones, in pairs, and more is appended. An empty old text removes the whole
// example.
type fix struct {
	promise promise
	edits   []string
	more    string
}

// A promise is what `diff` has to say about a fix, in addition to `check`, which no longer has the
// finding.
type promise string

const (
	same     promise = "nothing changes"
	changes  promise = "a conf changes"
	decides  promise = "no decision changes"
	opens    promise = "an inbound opens"
	closes   promise = "an inbound closes"
	noAnswer promise = "no conf and no filter is concerned"
)

const (
	identityOfAll = "---\n{type: MeshIdentity, name: mesh, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire}}}\n"
	clientOfAll   = "---\n{type: MeshTrafficPermission, name: all, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}\n"
	dataplaneWeb  = "---\n{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], outbound: [{port: 9000, tags: {kuma.io/service: db}}]}}\n"
)

// fixes are the changes that findings advise. TestFixesOfFindings makes each of them.
var fixes = map[diag.Code]fix{
	diag.ClosedInbound:           {promise: opens, more: clientOfAll},
	diag.OpenInbound:             {promise: closes, more: identityOfAll},
	diag.NoSPIFFEID:              {promise: noAnswer, edits: []string{"name: web\n", "name: web\nlabels: {ns: shop}\n"}},
	diag.NotServedOverTLS:        {promise: noAnswer, more: identityOfAll},
	diag.EvadableEntry:           {promise: opens, edits: []string{"{headers: [{name: x-debug, type: Present}]}", `{spiffeId: {type: Exact, value: "spiffe://prod.example/debug"}}`, "---\ntype: MeshTraffic", identityOfAll + "---\ntype: MeshTraffic"}},
	diag.BroaderOnTCP:            {promise: noAnswer, edits: []string{"{port: 80,", "{port: 80, protocol: http,"}},
	diag.ForgeableLog:            {promise: changes, edits: []string{`{type: Plain, plain: "%REQ(USER-AGENT)% %RESPONSE_CODE%"}`, `{type: Json, json: [{key: agent, value: "%REQ(USER-AGENT)%"}]}`}, more: dataplaneWeb},
	diag.ProxyDiffers:            {promise: noAnswer, edits: []string{"onRateLimit: {status: 200}", "onRateLimit: {status: 429}"}},
	diag.LikelyMistake:           {promise: changes, edits: []string{"send: pong", "send: cG9uZw=="}, more: dataplaneWeb},
	diag.MorePages:               {promise: noAnswer, edits: []string{`"total": 2, "next": "http://cp:5681/meshes?offset=1", `, ""}},
	diag.WeakensOnPurpose:        {promise: noAnswer, edits: []string{"operation: Remove\n          match: {origin: inbound}", "operation: Remove\n          match: {origin: outbound}"}},
	diag.UnusableListener:        {promise: noAnswer, edits: []string{"web.example", "10.0.0.1"}},
	diag.UncoveredParameters:     {promise: noAnswer, edits: []string{"content: {a: 1}}", "content: {a: 1}}\n  - {constraints: {notConstraints: {constraint: {key: env, value: prod}}}, content: {a: 2}}"}},
	diag.UnverifiedCollector:     {promise: changes, edits: []string{"https://collector.example:4318", "collector.example:4317"}},
	diag.NoEndpoints:             {promise: noAnswer, edits: []string{", verification: {caCert: {secret: payments-ca}}", ", verification: {mode: SkipAll}"}},
	diag.BadIgnore:               {promise: noAnswer, edits: []string{"# meshmatch:ignore MM2001\n", "# meshmatch:ignore MM1001 its permission comes next week\n"}},
	diag.UnknownNode:             {promise: noAnswer, edits: []string{"endpoint: {port: 4317}", "endpoint: {address: otel.observability, port: 4317}"}},
	diag.NotApplied:              {promise: noAnswer, edits: []string{""}, more: dataplaneWeb},
	diag.FieldNotKnown:           {promise: noAnswer, edits: []string{", jitter: 5s", ""}},
	diag.ScalarOfYAML11:          {promise: changes, edits: []string{"010", "8"}, more: dataplaneWeb},
	diag.EmptyPolicy:             {promise: changes, edits: []string{"spec: {targetRef: {kind: Mesh}}", "spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3}}}]}"}, more: dataplaneWeb},
	diag.DerivedIdentity:         {promise: noAnswer, edits: []string{"'ns/", "'/ns/"}},
	diag.PrefixOfText:            {promise: closes, edits: []string{"{type: Prefix, value: 'spiffe://td/ns/orders'}", "{type: Exact, value: 'spiffe://td/ns/orders'}"}},
	diag.SharedListener:          {promise: noAnswer, edits: []string{"{port: 80, protocol: tcp,", "{port: 81, protocol: tcp,"}},
	diag.SelectsNothing:          {promise: changes, edits: []string{"name: absent}", "name: web}", "{kuma.io/service: web}}]", "{kuma.io/service: web}}]\n  outbound: [{port: 9000, tags: {kuma.io/service: db}}]"}},
	diag.NoDataplanes:            {promise: noAnswer, more: dataplaneWeb},
	diag.FieldNotUsed:            {promise: same, edits: []string{"routing: {zoneEgress: true}\n", ""}},
	diag.SetsNothing:             {promise: same, edits: []string{"---\ntype: MeshTimeout\nname: a\nspec:\n  to:\n    - targetRef: {kind: MeshService, name: absent}\n      default: {idleTimeout: 1h}\n", ""}},
	diag.HTTPOnTCP:               {promise: noAnswer, edits: []string{"{port: 5432,", "{port: 5432, protocol: http,"}},
	diag.AbsentClient:            {promise: opens, edits: []string{"kind: MeshSubset, tags: {version: v9}", "kind: Mesh"}},
	diag.UnresolvedReference:     {promise: same, edits: []string{"---\ntype: MeshTimeout\nname: a\nspec:\n  to:\n    - targetRef: {kind: MeshService, labels: {app: absent}}\n      default: {idleTimeout: 1h}\n", ""}},
	diag.MissedPort:              {promise: changes, edits: []string{", sectionName: sql", ""}},
	diag.MissingReference:        {promise: noAnswer, edits: []string{""}, more: dataplaneWeb},
	diag.PlacesNothing:           {promise: noAnswer, edits: []string{"spec: {}\n", "spec: {clusterSelector: {}}\nstatus: {decisions: [{clusterName: a, clusterNamespace: a}]}\n"}},
	diag.OverrideNoEffect:        {promise: noAnswer, edits: []string{"bindingOverrides: {remediationAction: enforce}\n", ""}},
	diag.FromIgnored:             {promise: same, edits: []string{"  from: [{default: {idleTimeout: 1h}}]", "  to: [{default: {idleTimeout: 1h}}]"}},
	diag.EmptySection:            {promise: noAnswer, edits: []string{"rules: []", "rules: [{default: {idleTimeout: 1h}}]"}},
	diag.NoEffectWithProtocol:    {promise: changes, edits: []string{"tcp: {maxConnectAttempt: 2}", "http: {numRetries: 2}"}},
	diag.NoEffectOnRoute:         {promise: changes, edits: []string{"{kind: MeshHTTPRoute, name: r}", "{kind: MeshService, name: db}"}},
	diag.NoEffectHere:            {promise: changes, edits: []string{"{outlierDetection: {interval: 5s,", "{outlierDetection: {interval: 5s, splitExternalAndLocalErrors: true,"}},
	diag.NeverMatches:            {promise: changes, edits: []string{", {path: {type: Exact, value: /a}}", ""}},
	diag.UnseenEntry:             {promise: opens, edits: []string{"{port: 80,", "{port: 80, protocol: http,"}},
	diag.PatchNotApplied:         {promise: changes, edits: []string{"{op: remove, path: /absent}", "{op: replace, path: /connectTimeout, value: 7s}"}},
	diag.IgnoredMetadata:         {promise: noAnswer, edits: []string{"label: {", "labels: {"}},
	diag.UnsatisfiableConstraint: {promise: noAnswer, edits: []string{"{andConstraints: {constraints: [{constraint: {key: env, value: prod}}, {constraint: {key: env, value: test}}]}}", "{constraint: {key: env, exists: {}}}"}},
	diag.AbsentDependency:        {promise: noAnswer, more: identityOfAll},
	diag.UnusedIgnore:            {promise: same, edits: []string{"# meshmatch:ignore MM2001 the service comes next week\n", ""}},
	diag.UnknownIdentity:         {promise: noAnswer, edits: []string{"  provider: {type: Spire}", "  spiffeID: {path: /ns/shop/sa/typo}\n  provider: {type: Spire}"}},
	diag.NeverDecides:            {promise: decides, edits: []string{`{spiffeId: {type: Exact, value: "spiffe://prod.example/legacy/app"}}, `, ""}},
	diag.NeverNeeded:             {promise: decides, edits: []string{"          - {spiffeId: {type: Exact, value: \"spiffe://prod.example/ns/shop/sa/web\"}}\n", ""}},
	diag.EqualsOverridden:        {promise: same, edits: []string{"---\ntype: MeshTimeout\nname: a\nspec:\n  to:\n    - targetRef: {kind: MeshService, name: db}\n      default: {idleTimeout: 1h}\n", ""}},
	diag.OverriddenEverywhere:    {promise: same, edits: []string{"---\ntype: MeshTrace\nname: a\nspec: {default: {tags: [{name: x, literal: \"1\"}]}}\n", ""}},
	diag.TrustDomainConflict:     {promise: noAnswer, edits: []string{"mesh: b\nspec:\n  selector: {dataplane: {matchLabels: {}}}\n  spiffeID: {trustDomain: prod.example}", "mesh: b\nspec:\n  selector: {dataplane: {matchLabels: {}}}\n  spiffeID: {trustDomain: test.example}"}},
	diag.ContradictingValues:     {promise: changes, edits: []string{"baseInterval: 10s", "baseInterval: 1s"}},
	diag.InboundsDiffer:          {promise: opens, edits: []string{"{kind: Dataplane, name: web}", "{kind: Mesh}"}},
	diag.PartlyShadowed:          {promise: noAnswer, edits: []string{"[{method: POST}]", "[{method: POST, path: {type: Prefix, value: /pay}}]"}},
	diag.KindNotRead:             {promise: noAnswer, edits: []string{""}, more: dataplaneWeb + clientOfAll},
	diag.FromNotRead:             {promise: opens, edits: []string{"from: [{default: {action: Allow}}]", `rules: [{default: {allow: [{spiffeId: {type: Prefix, value: "spiffe://default.mesh.local"}}]}}]`}},
}

// withoutFix are the findings with an example that advise no change of the input.
var withoutFix = map[diag.Code]string{
	diag.ExceptedByDeny:       "usual and correct",
	diag.DefaultPolicyMissing: "the mesh has the policies, and the files do not",
}

// A finding that advises a change is tested by making the change (SPEC 13.5): `check` no longer has
// the finding, and `diff` says what the finding promised. A new finding needs a fix, or a reason
// why it has none. Findings without documents as an example, and errors, after which nothing is
// loaded, are tested where they are found.
func TestFixesOfFindings(t *testing.T) {
	if testing.Short() {
		t.Skip("each command has one small document")
	}
	for _, d := range diag.Definitions() {
		if d.Example == "" || d.Class == diag.ClassError {
			continue
		}
		fix, known := fixes[d.Code]
		if _, none := withoutFix[d.Code]; known == none {
			t.Errorf("%s (%s) needs an element of fixes, or of withoutFix: %s", d.Code, d.Title, d.Mend)
		}
		if known {
			t.Run(d.Code.String(), func(t *testing.T) { fix.test(t, d) })
		}
	}
}

func (f fix) test(t *testing.T, d *diag.Definition) {
	before, after := d.Example+f.more, d.Example+f.more
	if f.promise != changes && f.promise != same { // only these need what is appended on both sides
		before = d.Example
	}
	if len(f.edits) == 1 {
		after = f.more
	}
	for i := 0; i+1 < len(f.edits); i += 2 {
		if !strings.Contains(after, f.edits[i]) {
			t.Fatalf("the example has no %q", f.edits[i])
		}
		after = strings.Replace(after, f.edits[i], f.edits[i+1], 1)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"before.yaml": before, "after.yaml": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flags := strings.Fields(strings.TrimPrefix(exampleCommand(d), "meshmatch check -f example.yaml"))
	if answer := f.run(t, append([]string{"check", "-f", filepath.Join(dir, "before.yaml"), "-o", "json"}, flags...)); !strings.Contains(answer, `"`+d.Code.String()+`"`) {
		t.Fatalf("before the change there is no finding: %s", answer)
	}
	if answer := f.run(t, append([]string{"check", "-f", filepath.Join(dir, "after.yaml"), "-o", "json"}, flags...)); strings.Contains(answer, `"`+d.Code.String()+`"`) {
		t.Fatalf("after the change there is the finding still: %s", answer)
	}
	if f.promise == noAnswer {
		return
	}
	args := []string{"diff", "-f", filepath.Join(dir, "before.yaml"), "--with", filepath.Join(dir, "after.yaml"), "-o", "json"}
	if d.Semantics != "" {
		args = append(args, "--semantics", d.Semantics)
	}
	text := f.run(t, args)
	var answer struct {
		Opens, Closes, Groups, Access, Destinations []json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	changed := len(answer.Opens)+len(answer.Closes)+len(answer.Groups)+len(answer.Access)+len(answer.Destinations) > 0
	holds := map[promise]bool{same: !changed, changes: changed, decides: len(answer.Opens)+len(answer.Closes)+len(answer.Access) == 0, opens: len(answer.Opens) > 0, closes: len(answer.Closes) > 0}[f.promise]
	if !holds {
		t.Errorf("diff does not say that %s: %s", f.promise, text)
	}
}

// run returns what a command prints. An error on standard error fails the test.
func (f fix) run(t *testing.T, args []string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := (Program{}).run(t.Context(), args, nil, &stdout, &stderr); code != exitDone && code != exitNo || !json.Valid(stdout.Bytes()) {
		t.Fatalf("%v: exit status %d: %s%s", args, code, stdout.String(), stderr.String())
	}
	return stdout.String()
}
