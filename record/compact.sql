-- Makes a result file of `inorder bench` small enough for git:
--
--   sqlite3 record/DATE-NAME/result.db < record/compact.sql
--
-- Claims, tables and the curves of a report stay the same. What is left out:
-- the curves of single files and phases (their last value stays), the fill of each page, experiments of which no trial
-- ran, and folders of the machine.

DELETE FROM experiment WHERE name NOT IN (
  SELECT cell.experiment FROM cell JOIN trial ON trial.cell = cell.id WHERE trial.status <> 'planned');
DELETE FROM cell WHERE experiment NOT IN (SELECT name FROM experiment);
DELETE FROM trial WHERE cell NOT IN (SELECT id FROM cell);

DELETE FROM sample WHERE probe = 'page_fill_share';

DELETE FROM sample WHERE (trial, position) IN (
  SELECT trial, position FROM (
    SELECT trial, position, part, probe, row_number() OVER (PARTITION BY trial, probe, part ORDER BY position DESC) AS from_last
    FROM sample)
  WHERE from_last > 1 AND NOT (part = '' AND probe IN ('engine_written_bytes', 'cpu_s')) AND probe <> 'reference_cpu_s');

-- The folder of results is no part of an experiment.
UPDATE meta SET value = (
  SELECT json_group_array(word) FROM (
    SELECT word FROM (
      SELECT key, value AS word, lag(value) OVER (ORDER BY key) AS before FROM json_each(meta.value))
    WHERE word <> '--dir' AND before IS NOT '--dir' ORDER BY key))
WHERE name = 'command';

VACUUM;
