// Package weakcache contains a cache that keeps nothing alive.
//
// It does not depend on what the keys and values are.
package weakcache
