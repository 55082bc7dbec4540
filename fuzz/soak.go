package fuzz

import (
	"os"
	"strconv"
	"testing"
)

// Soak returns the number in the environment variable SOAK, by which tests of
// seeded scenarios multiply how many of them they run; 1 if it is not set.
func Soak(t testing.TB) int {
	t.Helper()
	text := os.Getenv("SOAK")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SOAK must be a number of 1 or more, not %q", text)
	}
	return n
}
