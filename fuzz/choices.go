package fuzz

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// choices reads decisions from bytes, one byte each. After the last byte each decision
// is 0. Callers use 0 for the alternative that adds the least to a scenario, so that
// few bytes give a small scenario and every construction terminates.
type choices struct{ data []byte }

// intn returns a number from 0 to n-1. n is at most 256.
func (c *choices) intn(n int) int {
	if len(c.data) == 0 || n <= 1 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// rarely returns true for one of n decisions.
func (c *choices) rarely(n int) bool { return c.intn(n) == n-1 }

// pick returns one element of a list.
func pick[T any](c *choices, list ...T) T { return list[c.intn(len(list))] }

// some returns up to max elements of a list. An element may occur repeatedly.
func some[T any](c *choices, max int, list ...T) []T {
	chosen := []T{}
	for range c.intn(max + 1) {
		chosen = append(chosen, pick(c, list...))
	}
	return chosen
}

// SeededBytes returns the bytes of a seeded scenario, 40 to 399. Few bytes give a small
// mesh, in which no third policy hides the difference of two others.
func SeededBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	return RandomBytes(random, 40+random.IntN(360))
}

// RandomBytes returns n bytes, such as the decisions for a [Generator].
func RandomBytes(random *rand.Rand, n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// Soak returns the number in the environment variable SOAK, or 1 if it is not set.
// Tests with seeded scenarios multiply the number of scenarios by it.
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
