package store

import (
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// listenParameter of the URL names the Postgres behind a pooler of transactions, as HOST:PORT: through such a one nothing is heard.
const listenParameter = "listen"

// direct is a Postgres beside the one that the URL names; nil is none.
type direct struct {
	host string
	port uint16
}

// listenAt takes the listenParameter out of the URL.
func listenAt(where string) (rest string, to *direct, err error) {
	u, err := url.Parse(where)
	if err != nil || !u.Query().Has(listenParameter) {
		return where, nil, nil //nolint:nilerr // what is wrong with the URL is said where it is read
	}
	q := u.Query()
	host, digits, err := net.SplitHostPort(q.Get(listenParameter))
	port, wrong := strconv.ParseUint(digits, 10, 16)
	if err != nil || wrong != nil || host == "" {
		return "", nil, fmt.Errorf("the database's URL: %s=%s is not HOST:PORT of the Postgres behind a pooler", listenParameter, q.Get(listenParameter))
	}
	q.Del(listenParameter)
	u.RawQuery = q.Encode()
	return u.String(), &direct{host, uint16(port)}, nil
}

// of is how to connect there, as the same user to the same database.
func (d *direct) of(config *pgx.ConnConfig) *pgx.ConnConfig {
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
