"""Mutation tests of the stock code: removing a condition or a statement must fail some test."""
