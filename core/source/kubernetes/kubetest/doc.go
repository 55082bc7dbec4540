// Package kubetest runs a Kubernetes cluster of one API server and one etcd for tests:
// no nodes, no controllers. The programs are in the directory of the environment
// variable KUBERNETES; `make e2e-stores` builds them from their Go modules.
package kubetest
