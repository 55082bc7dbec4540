package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"shopmesh": main})
}

// TestScripts runs the command on the examples of the proposals, and on wrong input.
// UPDATE=1 writes the actual output into the scripts.
func TestScripts(t *testing.T) {
	seeds, err := filepath.Abs("../../../seeds")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SEEDS", seeds)
			env.Setenv("COLUMNS", "80") // as a terminal of this width prints
			return nil
		},
	})
}
