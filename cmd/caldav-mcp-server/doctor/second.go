package doctor

import (
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
)

// secondChecks are the checks of a read replica, if the doctor has its settings.
func (x *Examination) secondChecks() []check {
	if x.config.SecondURL == "" {
		return nil
	}
	try := func(x *Examination, ctx context.Context) (string, error) { return TrySecond(ctx, x.config) }
	return []check{{itself, "its second node follows", try}}
}

// TrySecond reports how far the read replica is behind the primary.
func TrySecond(ctx context.Context, c settings.Config) (detail string, err error) {
	url, err := c.Database()
	if err != nil {
		return "", err
	}
	s, err := store.Open(ctx, url, store.Options{Replica: c.SecondURL, MaxConns: 1})
	if err != nil {
		return "", withMend(err, "DATABASE_READ_URL must name a replica of the Postgres at DATABASE_URL")
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	bytes, err := s.ReplicaLag(ctx)
	if err != nil {
		return "", withMend(err,
			"the server works without it; DATABASE_READ_URL must name a replica of the Postgres at DATABASE_URL")
	}
	return fmt.Sprintf("%d bytes behind the primary", bytes), nil
}
