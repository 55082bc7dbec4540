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

func TestNearNames(t *testing.T) {
	names := []string{"web-1", "web-2", "api-1", "api-2", "db-0", "db-1", "gateway", "web-1"}
	for in, want := range map[string]string{
		"web-3":     `did you mean "web-1"?`,
		"gatekeper": `the nearest of 7 are "gateway", "api-1", "api-2", "web-1", "web-2"`,
		"zzzzzzzz":  `the nearest of 7 are "api-1", "api-2", "db-0", "db-1", "gateway"`,
	} {
		if got := diag.NearNames(in, names); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	if got, want := diag.NearNames("zzz", names[:3]), `one of "web-1", "web-2", "api-1"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
