"""Linear recurrences whose memory is exact: modes, Jordan blocks, scans."""
