// Package choices turns bytes into decisions, for tests that make their input from the
// bytes of Go's fuzzing engine.
package choices
