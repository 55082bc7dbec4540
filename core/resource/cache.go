package resource

import "crypto/sha256"

// Cache keeps what a load decoded, so that the next load decodes only the files
// whose content changed. The resources of the other files are the same pointers in
// both sets. The zero Cache is empty. It serves one load at a time, of one
// [Loader]: another loader may decode the same content differently.
type Cache struct {
	files map[string]*decoded // by name
}

// decoded is an input with its parts, which do not change once the load that
// decodes them has ended.
type decoded struct {
	sum   [sha256.Size]byte
	parts []*part // nil: not decoded yet
}

// lookup returns an input with the parts that the previous load decoded, if it had
// the same content. The cache may be nil.
func (c *Cache) lookup(in Input) *decoded {
	if c == nil {
		return new(decoded)
	}
	sum := sha256.Sum256(in.Data)
	if known := c.files[in.Name]; known != nil && known.sum == sum {
		return known
	}
	return &decoded{sum: sum}
}

// replace makes the inputs of a load that has ended the content of the cache,
// which may be nil.
func (c *Cache) replace(inputs map[string]*decoded) {
	if c != nil {
		c.files = inputs
	}
}
