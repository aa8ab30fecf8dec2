package calendar

import (
	"encoding/json"
	"fmt"
)

// Settings are a calendar's settings, as the journal stores them. The JSON names are stored and must not change.
type Settings struct {
	Address        Segment       `json:"address"`
	Name           string        `json:"name"`
	Description    *string       `json:"description,omitempty"`
	Color          *string       `json:"color,omitempty"`
	Order          *int64        `json:"order,omitempty"`
	Timezone       string        `json:"timezone"`
	TimezoneData   *string       `json:"timezone_data,omitempty"`
	Kinds          Kinds         `json:"kinds"`
	Transparent    bool          `json:"transparent"`
	Hidden         bool          `json:"hidden,omitempty"`
	DeadProperties []deadSetting `json:"kept,omitempty"`
}

type deadSetting struct {
	Space string `json:"space"`
	Local string `json:"name"`
	Value string `json:"value"`
}

// SettingsOf returns the current settings of a calendar.
func SettingsOf(cal Calendar, kept []DeadProperty) Settings {
	p := cal.Properties
	s := Settings{
		cal.Segment, p.Name, p.Description, p.Color, p.Order, p.Timezone, p.TimezoneData, p.Kinds, p.Transparent,
		p.Hidden, nil,
	}
	for _, k := range kept {
		s.DeadProperties = append(s.DeadProperties, deadSetting{k.Name.Space, k.Name.Local, k.Value})
	}
	return s
}

// Encode encodes the settings for the journal.
func (s Settings) Encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		// Texts, numbers and lists of them: JSON can encode all of them.
		panic(fmt.Sprintf("encoding settings: %v", err))
	}
	return data
}

// DecodeSettings decodes settings from the journal.
func DecodeSettings(data []byte) (Settings, error) {
	var s Settings
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading settings from the journal: %w", err)
	}
	return s, nil
}

// Properties returns the properties that a calendar's owner sets.
func (s Settings) Properties() Properties {
	return Properties{
		s.Name, s.Description, s.Color, s.Order, s.Timezone, s.TimezoneData, s.Kinds, s.Transparent, s.Hidden,
	}
}

// DeadPropertyEdits returns the edits that replace the current dead properties with the ones in the settings.
func (s Settings) DeadPropertyEdits(now []DeadProperty) []DeadProperty {
	var edits []DeadProperty
	for _, k := range now {
		edits = append(edits, DeadProperty{Name: k.Name})
	}
	for _, k := range s.DeadProperties {
		edits = append(edits, DeadProperty{PropertyName{k.Space, k.Local}, k.Value})
	}
	return edits
}
