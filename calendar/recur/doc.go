// Package recur expands calendar components into their instances. It applies rules, dates, exceptions and overrides,
// and the zones that turn wall-clock time into instants. It depends on no user, store or service.
package recur
