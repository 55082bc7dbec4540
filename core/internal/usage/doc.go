// Package usage measures the memory and the processor time of this process, for benchmarks.
package usage
