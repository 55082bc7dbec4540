package resource

import "crypto/sha256"

// Cache keeps the decoded files of a load, so that the next load decodes only the
// files whose content changed. The resources of the other files are the same
// pointers in both sets. The zero Cache is empty. Use it for one load at a time
// and for one [Loader]: another loader may decode the same content differently.
type Cache struct {
	files map[string]*decoded // by name
}

// decoded is an input with its parts. The parts do not change after the load
// that decodes them.
type decoded struct {
	sum   [sha256.Size]byte
	parts []*part // nil: not decoded yet
}

// lookup returns an input, with the parts from the previous load if the content is
// the same. The cache may be nil.
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
