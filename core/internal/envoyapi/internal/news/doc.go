// News prints what differs between two versions of the module of Envoy's API: make versions-news.
package main
