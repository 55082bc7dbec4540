package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"benchgate": main})
}

// TestScripts runs the command lines of testdata/*.txtar. If UPDATE is set it
// writes their golden parts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			// Share the build cache, so that nothing is compiled twice; git needs an author.
			cache, err := exec.Command("go", "env", "GOCACHE").Output()
			if err != nil {
				return err
			}
			env.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
			env.Setenv("GOFLAGS", "")
			for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
				env.Setenv(name, "gate@example.com")
			}
			temp := filepath.Join(env.WorkDir, "temp")
			env.Setenv("TMPDIR", temp)
			return os.MkdirAll(temp, 0o755)
		},
	})
}
