"""Tests of RFID validations over HTTP."""
