package fuzz

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/kinds"
)

// Every built-in kind keeps the laws.
func TestBuiltInKinds(t *testing.T) {
	for _, kind := range kinds.BuiltIn() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			CheckKind(t, kind, WithRounds(300))
		})
	}
}
