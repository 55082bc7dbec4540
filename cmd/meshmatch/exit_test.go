package main

import (
	"io"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	const demo = "../../testdata/demo"
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
		"inspect dataplane nobody -f " + demo:                      exitNo,
		"check -f nowhere":                                         exitNo,
		"diff -f " + demo + " --with " + demo + "/dataplanes.yaml": exitNo,
	} {
		if got := run(t.Context(), strings.Fields(args), strings.NewReader(""), io.Discard, io.Discard); got != want {
			t.Errorf("meshmatch %s: exit code %d, want %d", args, got, want)
		}
	}
}
