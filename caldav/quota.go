package caldav

import (
	"cmp"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// quota is the caller's usage and limits, read once per request.
type quota struct {
	used calendar.Usage
	may  calendar.Quota
}

// quotaHere returns the quota of the home and of the caller's own calendars. Other users must not learn an owner's
// usage.
func (r *resource) quotaHere() (*quota, error) {
	if r.at.kind() == atCalendar && r.calendar.Access != calendar.OwnerAccess {
		return nil, dav.ErrAbsent
	}
	if r.x.cached.quota == nil {
		used, may, err := r.x.Service.Usage(r.x.R.Context(), r.x.caller)
		if err != nil {
			if calendar.ReasonOf(err) == calendar.Forbidden {
				err = dav.ErrAbsent
			}
			return nil, err
		}
		r.x.cached.quota = &quota{used, may}
	}
	return r.x.cached.quota, nil
}

func writeQuotaUsed(r *resource, m *dav.Markup) error {
	q, err := r.quotaHere()
	if err != nil {
		return err
	}
	return m.Number(q.used.Bytes)
}

// writeQuotaAvailable writes the free bytes. The property is absent without a limit (RFC 4331 §3).
func writeQuotaAvailable(r *resource, m *dav.Markup) error {
	q, err := r.quotaHere()
	if err := cmp.Or(err, q.unbounded()); err != nil {
		return err
	}
	return m.Number(max(q.may.Bytes-q.used.Bytes, 0))
}

func (q *quota) unbounded() error {
	if q == nil || q.may.Bytes == 0 {
		return dav.ErrAbsent
	}
	return nil
}
