package diag_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

func TestDidYouMean(t *testing.T) {
	words := []string{"MeshTimeout", "MeshRetry", "MeshTrace"}
	for in, want := range map[string]string{
		"MeshTimeouts": `did you mean "MeshTimeout"?`,
		"meshretry":    `did you mean "MeshRetry"?`,
		"Timeout":      `did you mean "MeshTimeout"?`,
		"Mesh":         `did you mean "MeshTimeout"?`,
		"esh":          `one of "MeshTimeout", "MeshRetry", "MeshTrace"`,
		"":             `one of "MeshTimeout", "MeshRetry", "MeshTrace"`,
		"MeshTrac":     `did you mean "MeshTrace"?`,
		"Bicycle":      `one of "MeshTimeout", "MeshRetry", "MeshTrace"`,
	} {
		if got := diag.DidYouMean(in, words); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
