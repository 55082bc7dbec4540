// Package words has the texts by which answers identify resources, items and ports.
package words
