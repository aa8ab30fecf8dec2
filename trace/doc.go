// Package trace notes which parts a request had, or what the server did by itself, and how long each of them took: the spans of
// OpenTelemetry. How they get to a collector, others know.
//
// It says what was done, by words of this program: methods, routes, kinds of reports, names of tools, tables, kinds
// of tasks. Nothing of it is what somebody has written, and nobody is named. Without a collector there is no tracer; a nil one, and a
// nil span, take every call and do nothing.
package trace
