package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	const demo = "../../../../testdata/demo"
	variants := filepath.Join(t.TempDir(), "variants.yaml")
	const one = `{type: ResourceVariants, name: r, variants: [{constraints: {constraint: {key: env, value: prod}}}]}`
	if err := os.WriteFile(variants, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{
		"":                                       exitDone,
		"--help":                                 exitDone,
		"check -f " + demo:                       exitDone,
		"diff -f " + demo + " --with " + demo:    exitDone,
		"check":                                  exitUsage,
		"check -f " + demo + " extra":            exitUsage,
		"check --unknown":                        exitUsage,
		"check -o xml":                           exitUsage,
		"nonsense":                               exitUsage,
		"inspect dataplane -f " + demo:           exitUsage,
		"inspect nonsense":                       exitUsage,
		"inspect policy Nonsense web -f " + demo: exitUsage,
		"conf web-1 --kind MeshTimeout -f " + demo:                 exitUsage,
		"inspect dataplane absent -f " + demo:                      exitNo,
		"check -f nowhere":                                         exitNo,
		"check -f " + demo + " --fail-on warning":                  exitNo,
		"check -f " + demo + " --fail-on nothing":                  exitUsage,
		"diff -f nowhere --with " + demo:                           exitUsage,
		"access web-1 --inbound http -f nowhere":                   exitUsage,
		"access web-1 --inbound nothing -f " + demo:                exitUsage,
		"access web-1 --inbound http -f " + demo:                   exitNo,
		"diff -f " + demo + " --with " + demo + "/dataplanes.yaml": exitNo,
		"variants choose --param env=prod -f " + variants:          exitDone,
		"variants choose --param env=test -f " + variants:          exitNo,
		"test -f nowhere":                                          exitUsage,
		"test -f " + demo:                                          exitUsage,
		"variants choose -f nowhere":                               exitUsage,
		"variants choose -f " + demo:                               exitUsage,
		"variants check -f nowhere":                                exitNo,
		"variants policies --kind mt -f " + demo:                   exitUsage,
	} {
		if got := new(Program).run(t.Context(), strings.Fields(args), strings.NewReader(""), io.Discard, io.Discard); got != want {
			t.Errorf("meshmatch %s: exit code %d, want %d", args, got, want)
		}
	}
}
