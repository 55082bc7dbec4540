// Command hello is a gRPC client without a proxy: it resolves its target, such as
// xds:///default/backend, by xDS, asks the health service there, and prints the answer.
// README.md shows it, and the same client in Python.
package main
