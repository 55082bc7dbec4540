// Package kubetest runs a Kubernetes cluster of one API server and one etcd for tests:
// no nodes, no controllers. The environment variable KUBERNETES is the directory of
// kube-apiserver and kubectl, and ETCD is the file of etcd; `make e2e-stores` builds them
// from their Go modules.
package kubetest
