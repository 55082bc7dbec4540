package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write the actual output into the scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"confgen": func() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			// The go command keeps its caches, which are expensive to fill.
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
				if value := goEnv(name); value != "" {
					env.Setenv(name, value)
				}
			}
			return nil
		},
	})
}
