// Package memo keeps what translators make of inputs that many dataplanes share.
package memo
