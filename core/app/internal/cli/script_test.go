package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

func TestMain(m *testing.M) {
	if _, given := os.LookupEnv("COLUMNS"); !given {
		os.Setenv("COLUMNS", "80") // pages show what a terminal of this width prints
	}
	testscript.Main(m, map[string]func(){
		"meshmatch": Program{}.Main, "kubectl-meshmatch": Program{}.Main, "resources": printResources, "synced-name": printSyncedName,
		"outbounds": printOutbounds,
	})
}

// TestScripts runs the command line as a user does. The demo mesh is at
// $DEMO; set UPDATE=1 to write what is printed into the scripts' files.
//
// With -short, as under the race detector, only the scripts of commands that start goroutines
// of their own run. The others start hundreds of processes, whose work the tests of other
// packages do in their own process.
func TestScripts(t *testing.T) {
	demo, err := filepath.Abs("../../../../testdata/demo")
	if err != nil {
		t.Fatal(err)
	}
	store := "" // an etcd for the scripts, if there is one
	if os.Getenv("ETCD") != "" {
		store = etcdtest.Start(t).URL("mesh")
	}
	testscript.Run(t, testscript.Params{
		Condition: func(name string) (bool, error) {
			if name != "etcd" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return store != "", nil
		},
		Files:               scripts(t),
		UpdateScripts:       os.Getenv("UPDATE") != "",
		RequireExplicitExec: true,
		Cmds:                serveCommands(envoytest.Limit(t)),
		Setup: func(env *testscript.Env) error {
			env.Values[scriptServerKey{}] = new(*scriptServer)
			env.Setenv("DEMO", demo)
			env.Setenv("STORE", store)
			env.Setenv("COLUMNS", os.Getenv("COLUMNS"))
			return os.Symlink(demo, filepath.Join(env.WorkDir, "demo"))
		},
	})
}

// concurrent matches a command that starts goroutines of its own, or that a signal ends.
var concurrent = regexp.MustCompile(`(?m)^(?:serve |.*meshmatch (?:apply|bench|relay|replay|rollout|serve|test) )|&$`)

// scripts returns the files of the scripts to run.
func scripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		paths = slices.DeleteFunc(paths, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && !concurrent.Match(text)
		})
	}
	if len(paths) == 0 {
		t.Fatal("there is no script")
	}
	return paths
}
