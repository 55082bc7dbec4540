package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is the part of a workflow of GitHub that a machine without GitHub can run.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct{ Name, Uses, Run, If string }
	}
}

// allowsGET is the policies before a change: an inbound that allows one method.
const allowsGET = `type: Dataplane
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}
---
type: MeshTrafficPermission
name: web
spec: {rules: [{default: {allow: [{method: GET}]}}]}
`

// readWorkflow returns the workflow that core/AUTHORS.md shows.
func readWorkflow(t *testing.T) workflow {
	t.Helper()
	for _, block := range readMarkdown(t, "../../../../"+authorsPage).blocks("yaml") {
		if !strings.HasPrefix(block.lines[0], "# .github/workflows/") {
			continue
		}
		var w workflow
		if err := yaml.Unmarshal([]byte(strings.Join(block.lines, "\n")), &w); err != nil {
			t.Fatal(err)
		}
		return w
	}
	t.Fatal("core/AUTHORS.md has no workflow")
	return workflow{}
}

// ciRun is what the steps of the workflow did.
type ciRun struct {
	failed  []string // the names of the steps that failed
	output  string   // of all steps
	summary string
	sarif   string
}

// runWorkflow runs the steps of the workflow as GitHub does in a pull request from base to
// head: those with a command, in a repository with both. The steps that use an action are
// left out, as is the installation of this program.
func runWorkflow(t *testing.T, w workflow, base, head string) (run ciRun) {
	t.Helper()
	r := newPullRequest(t, base, head)
	for _, job := range w.Jobs {
		failed := false
		for _, step := range job.Steps {
			if (step.Uses == "") == (step.Run == "") {
				t.Errorf("the step %q must have a command or an action", step.Name+step.Uses)
			}
			if step.Run == "" || strings.HasPrefix(step.Run, "go install ") || failed && step.If != "always()" {
				continue
			}
			out, err := r.shell(t, step.Run)
			run.output += out
			if err != nil {
				failed = true
				run.failed = append(run.failed, step.Name)
			}
		}
	}
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(data)
	}
	run.summary, run.sarif = read(filepath.Join(r.dir, "summary.md")), read(filepath.Join(r.repository, "findings.sarif"))
	return run
}

// readWorkflowFile returns a workflow of the CI folder.
func readWorkflowFile(t *testing.T, name string) (w workflow) {
	t.Helper()
	data, err := os.ReadFile("../../../../.ci/github/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// The workflows of the CI folder, with a file for the cluster and for what GitHub keeps: the
// unchanged files of git pass, though they lack the labels of the control plane, and a change
// that opens an inbound fails at its line.
func TestWorkflowsBesideKuma(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the commands of workflows in processes of their own")
	}
	const stored = `type: MeshIdentity
mesh: default
name: id
labels: {kuma.io/origin: zone, kuma.io/zone: east}
spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: "/{{ label \"app\" }}"}, provider: {type: Spire}}
---
type: Dataplane
mesh: default
name: web
labels: {app: web, kuma.io/origin: zone, kuma.io/zone: east}
networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}
---
type: MeshTrafficPermission
mesh: default
name: web
labels: {kuma.io/origin: zone, kuma.io/zone: east, kuma.io/display-name: web}
spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://td/a"}}]}}]}
`
	const written = `type: MeshTrafficPermission
mesh: default
name: web
spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://td/a"}}]}}]}
`
	export, pullRequest := readWorkflowFile(t, "export.yaml"), readWorkflowFile(t, "pull-request.yaml")
	prepare := func(script string) string {
		switch {
		case strings.HasPrefix(script, "meshmatch export -f k8s:// "):
			return "mkdir -p export\ncat > cluster.yaml <<'END'\n" + stored + "END\n" + strings.ReplaceAll(script, "k8s://", "cluster.yaml") + "\nmv mesh.yaml export/"
		case strings.HasPrefix(script, "run=$(gh "):
			return "test -s export/mesh.yaml"
		}
		return script
	}
	w := pullRequest
	for name, job := range pullRequest.Jobs {
		job.Steps = append(export.Jobs["export"].Steps, job.Steps...)
		for i := range job.Steps {
			job.Steps[i].Run = prepare(job.Steps[i].Run)
		}
		w.Jobs[name] = job
	}
	for name, c := range map[string]struct{ head, failed, output, summary string }{
		"unchanged":         {"# a comment\n" + written, "", "", "No findings."},
		"an inbound opens":  {strings.Replace(written, "]}}]}", `, {spiffeID: {type: Exact, value: "spiffe://td/b"}}]}}]}`, 1), "Compare with the mesh", "::warning file=policies/mesh.yaml,line=4,", "MM7001"},
		"an inbound closes": {strings.Replace(written, "td/a", "td/c", 1), "Compare with the mesh", "MM7002", "MM7002"},
		"the same again":    {strings.Replace(written, "name: web", "name: zz", 1), "", "title=MM3002", "MM3001"},
	} {
		run := runWorkflow(t, w, written, c.head)
		if got := strings.Join(run.failed, ", "); got != c.failed {
			t.Errorf("%s: failed %q, want %q: %s", name, got, c.failed, run.output)
		}
		if !strings.Contains(run.output, c.output) || !strings.Contains(run.summary, c.summary) {
			t.Errorf("%s: output %s\nsummary %s", name, run.output, run.summary)
		}
	}
}

func TestWorkflow(t *testing.T) {
	w := readWorkflow(t)
	for name, c := range map[string]struct{ head, failed, output, summary, sarif string }{
		"a harmless change": {"# a comment\n" + allowsGET, "", "", "No findings.", `"results": []`},
		"a warning":         {allowsGET + "---\n{type: MeshTimeout, name: a, spec: {targetRef: {kind: MeshService, name: b}, to: [{default: {idleTimeout: 1h}}]}}\n", "", "::warning file=policies/mesh.yaml,line=9,", "MM2001", `"ruleId": "MM2001"`},
		"an inbound opens":  {strings.Replace(allowsGET, "{method: GET}", "{method: GET}, {method: POST}", 1), "Compare with the base", "", "MM7001", `"results": []`},
		"an error":          {strings.Replace(allowsGET, "method", "methud", 1), "Annotate findings, Write findings", "::error file=policies/mesh.yaml,line=7,", "", `"ruleId": "MM0102"`},
	} {
		run := runWorkflow(t, w, allowsGET, c.head)
		if got := strings.Join(run.failed, ", "); got != c.failed {
			t.Errorf("%s: failed %q, want %q: %s", name, got, c.failed, run.output)
		}
		if !strings.Contains(run.output, c.output) || !strings.Contains(run.summary, c.summary) || !strings.Contains(run.sarif, c.sarif) {
			t.Errorf("%s: output %s\nsummary %s\nsarif %s", name, run.output, run.summary, run.sarif)
		}
	}
}
