//go:build !unix

package main

// syncDisks does nothing: this system has no such call.
func syncDisks() {}
