package ical_test

import (
	"fmt"

	"caldav-mcp-server/ical"
)

// An edit touches its own line: the odd spelling around it stays.
func Example() {
	sent := "begin:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nSUMMARY;LANGUAGE=en:Lunch, with\n  Bob\nX-Odd;a=\"b\": " +
		"kept\nEND:VEVENT\nEND:VCALENDAR\n"
	doc, err := ical.Parse([]byte(sent), ical.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	for calendar := range doc.Components() {
		for _, event := range calendar.AllComponents("VEVENT") {
			fmt.Println(event.Property("SUMMARY").Text())
			event.SetText("SUMMARY", "Dinner, with Bob")
		}
	}
	fmt.Print(doc)
	// Output:
	// Lunch, with Bob
	// begin:VCALENDAR
	// VERSION:2.0
	// BEGIN:VEVENT
	// SUMMARY;LANGUAGE=en:Dinner\, with Bob
	// X-Odd;a="b": kept
	// END:VEVENT
	// END:VCALENDAR
}
