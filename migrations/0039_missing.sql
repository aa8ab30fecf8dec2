-- When a full listing of a linked calendar first lacked most of its objects: they are deleted only if a later listing lacks them, too.

ALTER TABLE mirrors ADD COLUMN doubted BIGINT;
