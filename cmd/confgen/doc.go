// Command confgen generates the code that merges and compares confs, and tests for
// the laws of merging. Package gen documents the rules.
package main
