package resource

import "testing"

// A load without limits of its own has those of SECURITY.md.
func TestDefaultLimits(t *testing.T) {
	l := &Loader{}
	if limits := l.limits(); limits.Bytes != 256<<20 || limits.Depth != 100 || limits.Nodes != 2_000_000 || l.maxBytes() != 1<<30 {
		t.Errorf("the limits are %+v, and %d bytes of all files", limits, l.maxBytes())
	}
}
