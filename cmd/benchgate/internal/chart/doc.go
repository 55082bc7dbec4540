// Package chart draws the results of benchmarks as SVG, for pull requests and reports.
// [Ratios] compares two sides of each benchmark. [Growth] shows cost against size.
//
// Both have logarithmic axes, so twice and half are equally far from the same. Shapes
// distinguish what colours distinguish. The same input gives the same bytes.
package chart
