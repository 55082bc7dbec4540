// Command benchworld measures an engine with a world of dataplanes and policies: loading,
// the first build, reads, and each kind of change. See benchworld --help.
package main
