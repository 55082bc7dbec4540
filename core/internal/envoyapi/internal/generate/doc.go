// Command generate writes the descriptors of Envoy's API to the file of its first argument.
// It writes what each release has in addition to the release before it to the file of its
// second argument; the other arguments are the releases.
package main
