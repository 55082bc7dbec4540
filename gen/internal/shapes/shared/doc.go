// Package shared contains types of another package that the confs of package shapes
// use.
package shared
