package server_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestHarness plays the scenarios of another project's conformance tests; see
// testdata/harness/README.
func TestHarness(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			for _, s := range eachType(readScripts(t, "testdata/harness/"+protocol.name+".txt")) {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						if err := play(t, s, newMeshmatch(t), protocol.wire()); err != nil {
							t.Error(err)
						}
					})
				})
			}
		})
	}
}

// TestHarnessOfGoControlPlane plays the same scenarios against go-control-plane.
// testdata/harness/go-control-plane.txt has those that do not hold there.
func TestHarnessOfGoControlPlane(t *testing.T) {
	differences := readDifferences(t, "testdata/harness/go-control-plane.txt")
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			playPeer(t, protocol.name, eachType(readScripts(t, "testdata/harness/"+protocol.name+".txt")), protocol.wire, differences)
		})
	}
}

// eachType returns a script for each of the types that are in brackets after the name.
func eachType(scripts []script) []script {
	var all []script
	for _, s := range scripts {
		name, types, ok := strings.Cut(strings.TrimSuffix(s.name, "]"), " [")
		if !ok {
			all = append(all, s)
			continue
		}
		for _, typ := range strings.Fields(types) {
			one := script{name: name + " " + typ}
			for _, line := range s.lines {
				one.lines = append(one.lines, strings.ReplaceAll(line, "TYPE", typ))
			}
			all = append(all, one)
		}
	}
	return all
}
