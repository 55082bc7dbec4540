// Package etcdtest runs real etcd servers for tests: it kills, pauses and cuts them off,
// and puts an older copy of their data back. A [Model] is a model of such a cluster in memory.
package etcdtest
