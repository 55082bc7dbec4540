package cli

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestAction runs the steps of cmd/action/action.yml as GitHub does: it installs an archive whose
// sum is right, compares the change with its base, and writes the summary.
func TestAction(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the commands of an action in processes of their own")
	}
	const actions = "../../../../cmd/action"
	var action struct {
		Runs struct {
			Steps []struct {
				Name, Run string
				Env       map[string]string
			}
		}
	}
	data, err := os.ReadFile(actions + "/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &action); err != nil {
		t.Fatal(err)
	}
	opened := strings.Replace(allowsGET, "{method: GET}", "{method: GET}, {method: POST}", 1)
	for name, c := range map[string]struct {
		head, failOn, sum string
		failed            string // the step that fails
		output, summary   string
	}{
		"a harmless change":   {"# a comment\n" + allowsGET, "opens,closes", "", "", "", "No findings."},
		"an inbound opens":    {opened, "opens,closes", "", "Compare", "::warning file=policies/mesh.yaml,line=7,", "MM7001"},
		"closes alone fail":   {opened, "closes", "", "", "::warning file=policies/mesh.yaml,line=7,", "MM7001"},
		"an error":            {strings.Replace(allowsGET, "method", "methud", 1), "opens", "", "Compare", `policies/mesh.yaml:7:36: spec.rules[0].default.allow[0].methud: unknown field`, ""},
		"another archive":     {allowsGET, "opens", strings.Repeat("0", 64), "Install", "does not have the sum", ""},
		"no resources at all": {"", "opens", "", "Compare", "::warning file=policies/mesh.yaml,line=5,col=1,title=MM7004::nothing was compared", "MM7004"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newPullRequest(t, allowsGET, c.head)
			archive, sum := archiveOfProgram(t)
			if c.sum != "" {
				sum = c.sum
			}
			path, err := filepath.Abs(actions)
			if err != nil {
				t.Fatal(err)
			}
			inputs := strings.NewReplacer("${{ inputs.version }}", "v0.1.0", "${{ inputs.sha256 }}", sum, "${{ inputs.url }}", "file://"+archive,
				"${{ inputs.files }}", "policies/", "${{ inputs.base }}", "", "${{ inputs.export }}", "", "${{ inputs.fail-on }}", c.failOn)
			var output, failed string
			for _, step := range action.Runs.Steps {
				if step.Run == "" || step.Name == "Comment" || failed != "" {
					continue
				}
				variables := []string{"GITHUB_ACTION_PATH=" + path, "RUNNER_TEMP=" + r.dir}
				for key, value := range step.Env {
					variables = append(variables, key+"="+inputs.Replace(value))
				}
				out, err := r.shell(t, step.Run, variables...)
				output += out
				if err != nil {
					failed = step.Name
				}
			}
			summary, _ := os.ReadFile(r.dir + "/summary.md") // there may be none
			if failed != c.failed || !strings.Contains(output, c.output) || !strings.Contains(string(summary), c.summary) {
				t.Errorf("%q failed, want %q: %s\nsummary %s", failed, c.failed, output, summary)
			}
		})
	}
}

// archiveOfProgram returns an archive with a program that runs this one, and its sum.
func archiveOfProgram(t *testing.T) (file, sum string) {
	t.Helper()
	program, err := exec.LookPath("meshmatch")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/meshmatch", []byte("#!/bin/sh\nexec '"+program+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	file = dir + "/archive.tar.gz"
	if out, err := exec.CommandContext(t.Context(), "tar", "-czf", file, "-C", dir, "meshmatch").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, fmt.Sprintf("%x", sha256.Sum256(content))
}

// pullRequest is a clone with a change and its base.
type pullRequest struct{ dir, repository string }

func newPullRequest(t *testing.T, base, head string) *pullRequest {
	t.Helper()
	dir := t.TempDir()
	r := &pullRequest{dir, filepath.Join(dir, "repository")}
	write := func(content string) {
		if err := os.MkdirAll(filepath.Join(r.repository, "policies"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.repository, "policies/mesh.yaml"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(base)
	if out, err := r.shell(t, "git init -q -b main . && git add . && git commit -q -m base && git update-ref refs/remotes/origin/main main && git checkout -q -b change"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(head)
	return r
}

// shell runs a script as a step of GitHub does.
func (r *pullRequest) shell(t *testing.T, script string, variables ...string) (string, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
	c.Dir = r.repository
	c.Env = append(os.Environ(), "GITHUB_BASE_REF=main", "GITHUB_STEP_SUMMARY="+filepath.Join(r.dir, "summary.md"),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	c.Env = append(c.Env, variables...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.String(), err
}
