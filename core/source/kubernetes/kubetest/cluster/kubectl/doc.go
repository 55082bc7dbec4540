// Command kubectl is the command line of Kubernetes, built from its module.
package main
