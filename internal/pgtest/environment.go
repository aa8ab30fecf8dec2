package pgtest

import "os"

// EnvURL names the environment variable with the postgres:// URL of a server for tests.
const EnvURL = "TEST_DATABASE_URL"

// Required says whether a test run may not go on without Postgres: on a build machine, which sets CI, a test
// that is skipped for want of it would be a test that nobody runs.
func Required() bool {
	switch os.Getenv("CI") {
	case "", "0", "false":
		return false
	}
	return true
}
