// Package descriptors reads the descriptors of protocol buffer files from the Go code
// that protoc-gen-go generated for them, without compiling it.
//
// It reads text and bytes only, of any files.
package descriptors
