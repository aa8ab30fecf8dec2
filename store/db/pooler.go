package db

import (
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// listenParameter of the URL names the Postgres server itself, as HOST:PORT, if the URL names a transaction
// pooler: LISTEN does not work through one.
const listenParameter = "listen"

// direct is the address of a Postgres server other than the URL's; nil means none.
type direct struct {
	host string
	port uint16
}

// listenAt removes listenParameter from the URL.
func listenAt(where string) (rest string, to *direct, err error) {
	u, err := url.Parse(where)
	if err != nil || !u.Query().Has(listenParameter) {
		return where, nil, nil //nolint:nilerr // the URL's parser reports its errors
	}
	q := u.Query()
	host, digits, err := net.SplitHostPort(q.Get(listenParameter))
	port, wrong := strconv.ParseUint(digits, 10, 16)
	if err != nil || wrong != nil || host == "" {
		return "", nil, fmt.Errorf("the database's URL: %s=%s is not HOST:PORT of the Postgres behind a pooler",
			listenParameter, q.Get(listenParameter))
	}
	q.Del(listenParameter)
	u.RawQuery = q.Encode()
	return u.String(), &direct{host, uint16(port)}, nil
}

// Of returns the configuration for that server, with the same user and database.
func (d *direct) Of(config *pgx.ConnConfig) *pgx.ConnConfig {
	if d == nil {
		return config
	}
	there := config.Copy()
	there.Host, there.Port, there.Fallbacks = d.host, d.port, nil
	if there.TLSConfig != nil {
		there.TLSConfig.ServerName = d.host
	}
	return there
}
