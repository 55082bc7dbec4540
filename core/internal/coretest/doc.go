// Package coretest makes the views of tests.
package coretest
