"""What a person looks at: pictures, tables and pages about a fitted model."""
