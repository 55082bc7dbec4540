// Package etcdtest runs real etcd servers for tests: it kills, pauses and cuts them off,
// and puts an older copy of their data back.
package etcdtest
