"""Tests of the rules of RFID."""
