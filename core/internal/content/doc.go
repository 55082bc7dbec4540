// Package content encodes and compares the content of resources. Two sides of a comparison are often
// read from different files, so positions are no content.
package content
