// Benchgate fails a change that makes benchmarks worse. See `benchgate --help`
// and package github.com/meshmatch/meshmatch/bench/gate.
package main
