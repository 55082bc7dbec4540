// Package regular reads regular files of a limited size, without waiting: whoever chose the path
// could name a FIFO without a writer, or a device without an end, and a file may have been replaced
// since it was listed.
package regular
