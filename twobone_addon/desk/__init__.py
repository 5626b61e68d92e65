"""The desk: all doors (window, scripts, command line) bring their requests here, and get the same answers."""
