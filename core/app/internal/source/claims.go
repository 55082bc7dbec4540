package source

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// claims are which objects have a resource of an identity. Usually it is one. An object whose key
// no resource can have never takes the identity of another object, regardless of its document. Of
// several objects with one identity, the order in which they came does not decide: replicas
// agree, and so does a server that starts.
type claims struct {
	first map[resource.ID]string   // the key of an object
	more  map[resource.ID][]string // the keys of the others
}

func (c *claims) add(id resource.ID, key string) {
	if _, taken := c.first[id]; taken {
		c.more[id] = append(c.more[id], key)
		return
	}
	c.first[id] = key
}

func (c *claims) remove(id resource.ID, key string) {
	more := c.more[id]
	switch {
	case c.first[id] != key:
		more = slices.DeleteFunc(more, func(k string) bool { return k == key })
	case len(more) > 0:
		c.first[id], more = more[0], more[1:]
	default:
		delete(c.first, id)
	}
	if c.more[id] = more; len(more) == 0 {
		delete(c.more, id)
	}
}

// winner returns the object that has an identity, nil if there is none: one whose key fits
// before one whose key does not, and then the one with the first key.
func (c *claims) winner(id resource.ID, byKey map[string]*object) (best *object) {
	key, taken := c.first[id]
	if !taken {
		return nil
	}
	best = byKey[key]
	for _, other := range c.more[id] {
		if o := byKey[other]; best.misfit && !o.misfit || best.misfit == o.misfit && other < key {
			best, key = o, other
		}
	}
	return best
}
