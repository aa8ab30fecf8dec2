// Package trace records the parts of requests and background tasks and their durations, as OpenTelemetry spans. Package
// otlp sends them to a collector.
//
// Spans contain only the program's own words: methods, routes, report kinds, tool names, tables and task kinds. They
// contain no user content and no names. Without a collector there is no tracer: a nil tracer and a nil span accept
// every call and do nothing.
package trace
