package describe_test

import (
	"testing"

	"caldav-mcp-server/calendar/describe"
)

func TestProgram(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"":                 "",
		"command line":     "command line",
		"Claude on laptop": "Claude on laptop",
		"Work/Home":        "Work/Home", // a token
		"Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Thunderbird/153.7": "Thunderbird 153.7",
		"Mozilla/5.0 (X11; Linux x86_64; rv:153.0)":                                  "Mozilla 5.0",
		"iOS/18.1 (22B83) dataaccessd/1.0":                                           "Calendar on iOS 18.1",
		"iOS/18.1 (22B83) remindd/1.0":                                               "Reminders on iOS 18.1",
		"macOS/15.1 (24B83) CalendarAgent/1012.3":                                    "Calendar on macOS 15.1",
		"Mac+OS+X/10.11 (15A284) CalendarAgent/361":                                  "Calendar on macOS 10.11",
		"DAVx5/4.4.5-ose (dav4jvm; okhttp/4.12.0) Android/14":                        "DAVx5 4.4.5-ose",
		"Evolution/3.46.4":                                                           "Evolution 3.46.4",
		"vdirsyncer/0.19.2":                                                          "vdirsyncer 0.19.2",
	} {
		if got := describe.Program(agent); got != want {
			t.Errorf("%q: got %q, want %q", agent, got, want)
		}
	}
}
