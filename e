gradcli: error[unreadable-file]: cannot read `t.ndjson`: no such file or directory
