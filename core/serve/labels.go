package serve

import "github.com/meshmatch/meshmatch/core/resource"

// labelsOf makes the labels of a dataplane selectable.
type labelsOf resource.Tags

// Has implements labels.Labels.
func (l labelsOf) Has(key string) bool {
	_, present := resource.Tags(l).Get(key)
	return present
}

// Get implements labels.Labels.
func (l labelsOf) Get(key string) string { return resource.Tags(l).Value(key) }

// Lookup implements labels.Labels.
func (l labelsOf) Lookup(key string) (value string, exists bool) { return resource.Tags(l).Get(key) }
