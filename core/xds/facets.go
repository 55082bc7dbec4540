package xds

import (
	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A facet is a property of the client's dataplane that the content of a shared part
// may depend on. Few parts depend on one, so facets are not in the key of each part:
// a part is built, and the facets that the build asked for become a part of its key.
type facet uint8

const (
	zoneFacet facet = 1 << iota
	serviceFacet
	dataplaneFacet
)

// facets are the values of the facets in a mask, and zero values for the others.
type facets struct {
	mask      facet
	zone      string
	service   string
	dataplane *resource.Dataplane
}

// client gives the draft of a part the properties of the dataplane that it is built
// for, and notes which of them were asked for.
type client struct {
	dataplane *resource.Dataplane
	used      facet
}

// Zone returns the zone of the client's dataplane, "" if it has none (SPEC 11.3).
func (c *client) Zone() string {
	c.used |= zoneFacet
	return enforce.ZoneOf(c.dataplane)
}

// Service returns the first service of the client's dataplane in the order of its
// inbounds, "" if it has none.
func (c *client) Service() string {
	c.used |= serviceFacet
	return serviceOf(c.dataplane)
}

// Dataplane returns the client's dataplane. A part that asks for it is built for
// each dataplane.
func (c *client) Dataplane() *resource.Dataplane {
	c.used |= dataplaneFacet
	return c.dataplane
}

// facetsOf returns the values of facets for a dataplane.
func facetsOf(d *resource.Dataplane, mask facet) facets {
	f := facets{mask: mask}
	if mask&zoneFacet != 0 {
		f.zone = enforce.ZoneOf(d)
	}
	if mask&serviceFacet != 0 {
		f.service = serviceOf(d)
	}
	if mask&dataplaneFacet != 0 {
		f.dataplane = d
	}
	return f
}

// serviceOf returns the first service of a dataplane.
func serviceOf(d *resource.Dataplane) string {
	for i := range d.Inbounds {
		if service := d.Inbounds[i].Tags.Value(resource.ServiceTag); service != "" {
			return service
		}
	}
	if d.Gateway != nil {
		return d.Gateway.Tags.Value(resource.ServiceTag)
	}
	return ""
}
