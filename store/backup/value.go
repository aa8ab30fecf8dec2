package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// binary is a value that is not UTF-8.
type binary struct {
	Base64 []byte `json:"base64"`
}

// pack converts a database driver's value to its JSON form.
func (k Kind) pack(value any) (any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		if k == Text || k == Bytes {
			return packText([]byte(v)), nil
		}
	case []byte:
		if k == Text || k == Bytes {
			return packText(v), nil
		}
	case int64:
		switch k {
		case Integer:
			return v, nil
		case Boolean:
			return v != 0, nil
		case Text, Bytes:
		}
	case bool:
		if k == Boolean {
			return v, nil
		}
	}
	return nil, fmt.Errorf("a %T in a column of %s", value, k)
}

func packText(v []byte) any {
	if utf8.Valid(v) {
		return string(v)
	}
	return binary{v}
}

// unpack converts a JSON value to one that a database driver accepts.
func (k Kind) unpack(raw []byte) (any, error) {
	if bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	switch k {
	case Integer:
		return strconv.ParseInt(string(raw), 10, 64)
	case Boolean:
		return strconv.ParseBool(string(raw))
	case Text, Bytes:
		return k.unpackText(raw)
	}
	return nil, fmt.Errorf("there is no kind of column %q", k)
}

// unpackText returns a string for Text, and bytes for Bytes, which are never nil: that would be NULL.
func (k Kind) unpackText(raw []byte) (any, error) {
	if len(raw) > 0 && raw[0] == '{' {
		b := binary{[]byte{}}
		err := json.Unmarshal(raw, &b)
		if k == Text {
			return string(b.Base64), err
		}
		return b.Base64, err
	}
	var text string
	err := json.Unmarshal(raw, &text)
	if k == Text {
		return text, err
	}
	return []byte(text), err
}
