// Command generate writes the descriptors of Envoy's API to the file of its first
// argument.
package main
