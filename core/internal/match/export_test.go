package match

// Number returns the class's number, for tests of how numbers are reused.
func (c *Class[S]) Number() uint32 { return c.number }
