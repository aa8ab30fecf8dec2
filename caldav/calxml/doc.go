// Package calxml reads the XML elements of RFC 4791 in requests: filters (filter.go), time ranges (timerange.go) and
// the shape of the requested calendar data (calendardata.go). It checks them and converts them to the types of
// calendar/filter and calendar/render. It knows neither users nor requests.
package calxml
