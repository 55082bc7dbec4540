// Package regular reads regular files of a limited size, without waiting. The author of a path
// could name a FIFO without a writer, or a device without an end. A file may also have been
// replaced since it was listed.
package regular
