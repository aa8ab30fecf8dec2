package pgtest

import "os"

// EnvURL names the environment variable with the postgres:// URL of a server for tests.
const EnvURL = "TEST_DATABASE_URL"

// Required reports whether tests must fail without Postgres. That is so on build machines, which set CI: otherwise no
// run would include the skipped tests.
func Required() bool {
	switch os.Getenv("CI") {
	case "", "0", "false":
		return false
	}
	return true
}
