// Package usage measures the memory and the processor time of this process, and names the
// machine, for benchmarks.
package usage
