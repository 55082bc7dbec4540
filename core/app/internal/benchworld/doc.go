// Package benchworld is the command benchworld, for the policies of any kind: worlds of package
// world, their measurements as a table, as JSON or as benchmarks, and a limit of their growth.
package benchworld
