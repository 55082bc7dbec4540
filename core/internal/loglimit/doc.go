// Package loglimit limits the lines of a log that others can cause at will: clients of a
// server, or its upstream.
//
// A window begins with a line, and lasts [Window]. In it, a message is logged at most
// [LinesOfPeer] times for each peer, so that no peer hides the lines of others. The peer is the
// host of the attribute "peer". A message is logged at most [Lines] times in all, so that many
// peers cannot fill the log. At the end of the window, one line for each message has the number of lines that
// were left out.
package loglimit
