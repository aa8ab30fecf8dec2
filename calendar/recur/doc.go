// Package recur expands calendar components into their instances: rules, dates
// and exceptions, overrides, and the zones that turn the wall clock into time.
// It knows no user, no store and no service.
package recur
