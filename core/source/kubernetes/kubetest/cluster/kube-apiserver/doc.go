// Command kube-apiserver is the API server of Kubernetes, built from its module.
package main
