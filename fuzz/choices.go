package fuzz

import "math/rand/v2"

// choices reads decisions from bytes, one byte each. When the bytes are used
// up every decision is 0, so what is built from them ends; 0 is always the
// choice that adds least.
type choices struct{ data []byte }

// of returns a number from 0 to n-1; n is 256 at most.
func (c *choices) of(n int) int {
	if len(c.data) == 0 || n <= 1 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// rarely is true for one of n bytes.
func (c *choices) rarely(n int) bool { return c.of(n) == n-1 }

func pick[T any](c *choices, list ...T) T { return list[c.of(len(list))] }

// some returns up to max elements of a list, each chosen by itself.
func some[T any](c *choices, max int, list ...T) []T {
	chosen := []T{}
	for range c.of(max + 1) {
		chosen = append(chosen, pick(c, list...))
	}
	return chosen
}

// randomBytes returns the bytes of a seeded scenario, short and long ones: in
// the short ones little else is in the way of what meets.
func randomBytes(seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, 40+random.IntN(360))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
