package caldav

import (
	"cmp"

	"caldav-mcp-server/calendar"
)

// quota is what the caller has and may have, asked for once for each request.
type quota struct {
	used calendar.Usage
	may  calendar.Quota
}

// quotaHere returns the quota that holds at the home and in the caller's own calendars. What an owner has used is told to
// nobody else.
func (r *resource) quotaHere() (*quota, error) {
	if r.at.kind() == atCalendar && r.calendar.Access != calendar.OwnerAccess {
		return nil, errAbsent
	}
	if r.x.quota == nil {
		used, may, err := r.x.Service.Usage(r.x.r.Context(), r.x.caller)
		if err != nil {
			if calendar.ReasonOf(err) == calendar.Forbidden {
				err = errAbsent
			}
			return nil, err
		}
		r.x.quota = &quota{used, may}
	}
	return r.x.quota, nil
}

func (r *resource) quotaUsed(m *markup) error {
	q, err := r.quotaHere()
	if err != nil {
		return err
	}
	return m.number(q.used.Bytes)
}

// quotaAvailable is absent where there is no bound: RFC 4331 §3 has it so.
func (r *resource) quotaAvailable(m *markup) error {
	q, err := r.quotaHere()
	if err := cmp.Or(err, q.unbounded()); err != nil {
		return err
	}
	return m.number(max(q.may.Bytes-q.used.Bytes, 0))
}

func (q *quota) unbounded() error {
	if q == nil || q.may.Bytes == 0 {
		return errAbsent
	}
	return nil
}
