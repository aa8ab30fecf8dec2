-- Set while no listing of the source has included an object that was created here. If the object is deleted there
-- meanwhile, the source need not list that: its last listing did not have the object.
ALTER TABLE mirror_objects ADD COLUMN unseen BOOLEAN NOT NULL DEFAULT FALSE;

CREATE INDEX mirror_objects_unseen ON mirror_objects (calendar_id) WHERE unseen;
