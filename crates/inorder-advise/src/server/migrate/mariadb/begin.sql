SET NAMES utf8mb4;
SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO';
SET SESSION foreign_key_checks = 1;
SET SESSION unique_checks = 1;
SET SESSION group_concat_max_len = 1048576;
SET SESSION lock_wait_timeout = 2;
SET SESSION innodb_lock_wait_timeout = 2;
SET SESSION autocommit = 1;
