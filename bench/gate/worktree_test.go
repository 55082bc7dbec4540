package gate

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A repository is a git repository of the fixture.
type repository struct {
	t   *testing.T
	dir string
}

// newRepository makes: main ── fork point ── topic (HEAD, a slice more), and
// main has gone on with slower work since.
func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	r := repository{t, writeFixture(t, "steps", "steps")}
	r.git("init", "--quiet", "--initial-branch=main")
	r.commit("fork point")
	r.git("checkout", "--quiet", "-b", "topic")
	r.replace("slices     = 1", "slices = 2")
	r.commit("topic")
	r.git("checkout", "--quiet", "main")
	r.replace("candidates = 19", "candidates = 90")
	r.commit("main goes on")
	r.git("checkout", "--quiet", "topic")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) commit(message string) {
	r.t.Helper()
	r.git("add", "--all")
	r.git("commit", "--quiet", "--message", message)
}

func (r repository) replace(from, to string) {
	r.t.Helper()
	path := filepath.Join(r.dir, "cost.go")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), from) {
		r.t.Fatalf("no %q in cost.go: %v", from, err)
	}
	writeFile(r.t, path, strings.Replace(string(text), from, to, 1), 0o644)
}

// wantClean checks that neither git nor the temporary directory knows of a
// checkout any more.
func (r repository) wantClean(temp string) {
	r.t.Helper()
	if list := r.git("worktree", "list"); strings.Count(list, "\n") != 0 {
		r.t.Errorf("worktrees are left over:\n%s", list)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		r.t.Errorf("%s is left over in the temporary directory", left[0].Name())
	}
}

// TestRunAgainstRevision compares with the merge base: that main has become
// different since is not the head's doing.
func TestRunAgainstRevision(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs test binaries")
	}
	r := newRepository(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	config := DefaultConfig("main")
	config.Head = r.dir
	config.BenchTime = "10x"
	config.Filter = "-.unit:sec/op"
	comparison, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	checkVerdicts(t, comparison, map[string]Verdict{"allocs/op": Worse, "candidates/op": Same})
	if want := r.git("rev-parse", "--short=12", "main~1"); !strings.HasPrefix(comparison.Base, want) {
		t.Errorf("the base is %s, want %s", comparison.Base, want)
	}
	r.wantClean(temp)
}

func TestAddWorktree(t *testing.T) {
	r := newRepository(t)
	ctx := context.Background()
	r.git("checkout", "--quiet", "--orphan", "alone")
	r.commit("no parent")
	r.git("checkout", "--quiet", "topic")
	if err := os.Mkdir(filepath.Join(r.dir, "young"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A developer's hook does not run, or nothing could be checked out.
	writeFile(t, filepath.Join(r.dir, ".git", "hooks", "post-checkout"), "#!/bin/sh\nexit 1\n", 0o755)
	for _, test := range []struct {
		name, dir, rev string
		want           string // of the error
		exists         bool   // the directory, in the checkout
	}{
		{"a branch", ".", "main", "", true},
		{"a relative revision", ".", "HEAD~1", "", true},
		{"a directory that is younger", "young", "main", "", false},
		{"no such revision", ".", "mian", `"mian" is neither a directory, a test binary nor a commit`, false},
		{"an option", ".", "--all", `"--all" is neither`, false},
		{"a branch without a common commit", ".", "alone", "alone and HEAD have no common commit; is the clone shallow?", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp := t.TempDir()
			tree, err := addWorktree(ctx, filepath.Join(r.dir, test.dir), test.rev, filepath.Join(temp, "worktree"))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			if tree.dir != "" && isDir(tree.dir) != test.exists {
				t.Errorf("%s exists: %t", tree.dir, !test.exists)
			}
			if err := tree.remove(ctx); err != nil {
				t.Error(err)
			}
			r.wantClean(temp)
		})
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	r := newRepository(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(context.Background())
	config := DefaultConfig("main")
	config.Head = r.dir
	// The progress line tells when the base is checked out and is being built.
	config.Progress = NewProgress(writerFunc(func(text string) {
		if strings.Contains(text, "build base") {
			cancel()
		}
	}))
	if _, err := Run(ctx, config); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	r.wantClean(temp)
}

// A writerFunc gets what is written.
type writerFunc func(text string)

func (f writerFunc) Write(text []byte) (int, error) {
	f(string(text))
	return len(text), nil
}
