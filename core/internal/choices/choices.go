package choices

// Choices reads decisions from bytes, one byte each. After the last byte every decision is
// the first alternative, so that every construction terminates.
type Choices struct{ data []byte }

// New returns the choices of some bytes.
func New(data []byte) *Choices { return &Choices{data} }

// Below returns a number from 0 to n-1. n is at most 256.
func (c *Choices) Below(n int) int {
	if len(c.data) == 0 || n <= 1 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % n
}

// Rarely returns true for one of n decisions.
func (c *Choices) Rarely(n int) bool { return c.Below(n) == n-1 }

// More reports whether bytes are left.
func (c *Choices) More() bool { return len(c.data) > 0 }

// Pick returns one element of a list.
func Pick[T any](c *Choices, list ...T) T { return list[c.Below(len(list))] }
