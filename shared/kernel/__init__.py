"""What any service of this kind needs: database, events, spreadsheets, errors, AWS clients."""
