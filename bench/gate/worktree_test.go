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

// newRepository makes a branch topic (HEAD, with one more slice) from the fork
// point of main. After that point, main has a commit with more work.
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
	r.commit("later on main")
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

// wantClean checks that neither git nor the temporary directory contains a
// checkout.
func (r repository) wantClean(temp string) {
	r.t.Helper()
	if list := r.git("worktree", "list"); strings.Count(list, "\n") != 0 {
		r.t.Errorf("worktrees are left over:\n%s", list)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		r.t.Errorf("%s is left over in the temporary directory", left[0].Name())
	}
}

// TestRunAgainstRevision compares with the merge base: the later commit of main
// is not attributed to the head.
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
	comparison, err := Run(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	checkVerdicts(t, comparison, map[string]Verdict{"B/op": Worse, "allocs/op": Worse})
	if want := r.git("rev-parse", "--short=12", "main~1"); !strings.HasPrefix(comparison.Base, want) {
		t.Errorf("the base is %s, want %s", comparison.Base, want)
	}
	r.wantClean(temp)
}

// TestRelativeReplacements: the base is built with the module beside the repository that its
// go.mod names, in a module of the repository too. What is inside stays as it is.
func TestRelativeReplacements(t *testing.T) {
	r := newRepository(t)
	module := "module example.com/m\n\ngo 1.24\n\nreplace example.com/beside => ../beside\n\nreplace example.com/own v1.0.0 => ./own\n\nreplace example.com/other => example.com/fork v1.0.0\n"
	inner := "module example.com/m/inner\n\ngo 1.24\n\nreplace example.com/beside v1.2.3 => ../../beside\n\nreplace example.com/m => ../\n"
	if err := os.Mkdir(filepath.Join(r.dir, "inner"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(r.dir, "go.mod"), module, 0o644)
	writeFile(t, filepath.Join(r.dir, "inner", "go.mod"), inner, 0o644)
	r.commit("replacements")
	w, err := addWorktree(t.Context(), r.dir, "HEAD", filepath.Join(t.TempDir(), "worktree"), false)
	defer func() {
		if err := w.remove(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(top), "beside")
	for file, want := range map[string]string{
		"go.mod":       strings.Replace(module, "../beside", beside, 1),
		"inner/go.mod": strings.Replace(inner, "../../beside", beside, 1),
	} {
		got, err := os.ReadFile(filepath.Join(w.root, file))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", file, err, got, want)
		}
	}
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
	// A hook of the repository does not run: this hook would fail the checkout.
	writeFile(t, filepath.Join(r.dir, ".git", "hooks", "post-checkout"), "#!/bin/sh\nexit 1\n", 0o755)
	r.git("remote", "add", "origin", "https://example.com/repository.git")
	for _, test := range []struct {
		name, dir, rev string
		want           string // of the error
		exists         bool   // the directory, in the checkout
	}{
		{"a branch", ".", "main", "", true},
		{"a relative revision", ".", "HEAD~1", "", true},
		{"a directory that is younger", "young", "main", "", false},
		{"no such revision", ".", "mian", `"mian" is neither a directory, a test binary nor a commit of the repository at DIR; check its spelling, or fetch it: git fetch --all`, false},
		{"a branch that is not fetched", ".", "origin/release/1", "; fetch it: git fetch origin release/1:refs/remotes/origin/release/1 (in GitHub Actions: fetch-depth: 0)", false},
		{"an option", ".", "--all", `"--all" is neither`, false},
		{"a branch without a common commit", ".", "alone", "alone and HEAD have no common commit; if the clone is shallow, fetch its history: git fetch --unshallow", false},
		{"HEAD itself", ".", "HEAD", "the base HEAD is HEAD itself or younger, and no file is changed, so a build would be compared with itself; give an older revision, such as HEAD~1", false},
		{"a directory outside git", "/", "main", `"main" is neither a directory nor a test binary, and git finds no repository at DIR to look up a revision`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp, dir := t.TempDir(), filepath.Join(r.dir, test.dir)
			if test.dir == "/" {
				dir = t.TempDir()
			}
			test.want = strings.ReplaceAll(test.want, "DIR", dir)
			tree, err := addWorktree(ctx, dir, test.rev, filepath.Join(temp, "worktree"), true)
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

// With changed files, HEAD is a base like any other.
func TestAddWorktreeOfHEAD(t *testing.T) {
	r := newRepository(t)
	r.replace("steps      = 2000", "steps = 1")
	temp := t.TempDir()
	tree, err := addWorktree(context.Background(), r.dir, "HEAD", filepath.Join(temp, "worktree"), true)
	if err != nil || tree.commit != r.git("rev-parse", "HEAD") {
		t.Errorf("got %+v and error %v", tree, err)
	}
	if err := tree.remove(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	r := newRepository(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(context.Background())
	config := DefaultConfig("main")
	config.Head = r.dir
	// This step begins once the base is checked out.
	config.Progress = func(step string) {
		if strings.HasPrefix(step, "build base") {
			cancel()
		}
	}
	if _, err := Run(ctx, config); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	r.wantClean(temp)
}
